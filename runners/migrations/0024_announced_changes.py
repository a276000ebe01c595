"""Announce changes of dispatches and campaigns, by their public ids, to the clients that wait for them (webapp/live)."""

from django.db import migrations

# Every poll writes these columns, and no response shows them.
ANNOUNCE = """
CREATE FUNCTION announce_dispatch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('drivecert_changes', NEW.public_id);
  PERFORM pg_notify('drivecert_changes', public_id) FROM runners_campaign WHERE id = NEW.campaign_id;
  RETURN NULL;
END $$;
CREATE TRIGGER dispatch_announced_on_insert AFTER INSERT ON runners_dispatch
  FOR EACH ROW EXECUTE FUNCTION announce_dispatch();
CREATE TRIGGER dispatch_announced AFTER UPDATE ON runners_dispatch FOR EACH ROW
  WHEN ((to_jsonb(OLD) - 'heartbeat_at' - 'next_look_at') IS DISTINCT FROM
        (to_jsonb(NEW) - 'heartbeat_at' - 'next_look_at'))
  EXECUTE FUNCTION announce_dispatch();

CREATE TRIGGER campaign_announced AFTER UPDATE ON runners_campaign
  FOR EACH ROW EXECUTE FUNCTION announce_row();

CREATE FUNCTION announce_campaign_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('drivecert_changes', public_id) FROM runners_campaign WHERE id = NEW.campaign_id;
  RETURN NULL;
END $$;
CREATE TRIGGER campaign_entry_announced AFTER INSERT ON runners_campaignentry
  FOR EACH ROW EXECUTE FUNCTION announce_campaign_entry();
"""
STOP = """
DROP TRIGGER campaign_entry_announced ON runners_campaignentry;
DROP FUNCTION announce_campaign_entry();
DROP TRIGGER campaign_announced ON runners_campaign;
DROP TRIGGER dispatch_announced ON runners_dispatch;
DROP TRIGGER dispatch_announced_on_insert ON runners_dispatch;
DROP FUNCTION announce_dispatch();
"""


class Migration(migrations.Migration):
    """Triggers that notify the channel drivecert_changes; `announce_row` is of results."""

    dependencies = [("results", "0048_announced_changes"), ("runners", "0023_maintenance_windows")]

    operations = [migrations.RunSQL(ANNOUNCE, STOP)]
