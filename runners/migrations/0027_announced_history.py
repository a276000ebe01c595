"""Announce steps, ends of stages, outages, retries and readings of dispatches to the clients that wait (webapp/live).

A campaign that a client waits for lists the ids of its dispatches, so that it is read again as well.
"""

from django.db import migrations

ANNOUNCE = """
CREATE FUNCTION announce_row_of_dispatch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('drivecert_changes', public_id) FROM runners_dispatch WHERE id = NEW.dispatch_id;
  RETURN NULL;
END $$;
CREATE TRIGGER step_announced AFTER INSERT ON runners_step
  FOR EACH ROW EXECUTE FUNCTION announce_row_of_dispatch();
CREATE TRIGGER stage_end_announced AFTER INSERT ON runners_stageend
  FOR EACH ROW EXECUTE FUNCTION announce_row_of_dispatch();
CREATE TRIGGER outage_of_dispatch_announced AFTER INSERT ON runners_hostoutage_dispatches
  FOR EACH ROW EXECUTE FUNCTION announce_row_of_dispatch();

CREATE FUNCTION announce_outage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('drivecert_changes', public_id) FROM runners_dispatch
    WHERE id IN (SELECT dispatch_id FROM runners_hostoutage_dispatches WHERE hostoutage_id = NEW.id);
  RETURN NULL;
END $$;
CREATE TRIGGER outage_announced AFTER UPDATE ON runners_hostoutage
  FOR EACH ROW EXECUTE FUNCTION announce_outage();

CREATE FUNCTION announce_retry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('drivecert_changes', public_id) FROM runners_dispatch WHERE id = NEW.retry_of_id;
  RETURN NULL;
END $$;
CREATE TRIGGER retry_announced AFTER INSERT ON runners_dispatch
  FOR EACH ROW WHEN (NEW.retry_of_id IS NOT NULL) EXECUTE FUNCTION announce_retry();

CREATE FUNCTION announce_reading_of_dispatch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('drivecert_changes', public_id) FROM runners_dispatch
    WHERE submission_id IN (SELECT id FROM results_submission WHERE log_id = NEW.evidence_id);
  RETURN NULL;
END $$;
CREATE TRIGGER reading_of_dispatch_announced AFTER INSERT OR UPDATE OF state ON results_reading
  FOR EACH ROW EXECUTE FUNCTION announce_reading_of_dispatch();
"""
STOP = """
DROP TRIGGER reading_of_dispatch_announced ON results_reading;
DROP FUNCTION announce_reading_of_dispatch();
DROP TRIGGER retry_announced ON runners_dispatch;
DROP FUNCTION announce_retry();
DROP TRIGGER outage_announced ON runners_hostoutage;
DROP FUNCTION announce_outage();
DROP TRIGGER outage_of_dispatch_announced ON runners_hostoutage_dispatches;
DROP TRIGGER stage_end_announced ON runners_stageend;
DROP TRIGGER step_announced ON runners_step;
DROP FUNCTION announce_row_of_dispatch();
"""


class Migration(migrations.Migration):
    """Triggers that notify the channel drivecert_changes."""

    dependencies = [("results", "0062_listing_changes"), ("runners", "0026_order_templates")]

    operations = [migrations.RunSQL(ANNOUNCE, STOP)]
