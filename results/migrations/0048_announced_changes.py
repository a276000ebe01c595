"""Announce changes of submissions and runs, by their public ids, to the clients that wait for them (webapp/live)."""

from django.db import migrations

ANNOUNCE = """
CREATE FUNCTION announce_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('drivecert_changes', NEW.subject_id);
  RETURN NULL;
END $$;
CREATE TRIGGER event_announced AFTER INSERT ON results_event
  FOR EACH ROW WHEN (NEW.subject_type IN ('run', 'submission')) EXECUTE FUNCTION announce_event();

CREATE FUNCTION announce_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('drivecert_changes', NEW.public_id);
  RETURN NULL;
END $$;
CREATE TRIGGER submission_announced AFTER UPDATE ON results_submission
  FOR EACH ROW EXECUTE FUNCTION announce_row();

CREATE FUNCTION announce_reading() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('drivecert_changes', public_id) FROM results_submission WHERE log_id = NEW.evidence_id;
  RETURN NULL;
END $$;
CREATE TRIGGER reading_announced AFTER INSERT OR UPDATE OF state ON results_reading
  FOR EACH ROW EXECUTE FUNCTION announce_reading();
"""
STOP = """
DROP TRIGGER reading_announced ON results_reading;
DROP FUNCTION announce_reading();
DROP TRIGGER submission_announced ON results_submission;
DROP FUNCTION announce_row();
DROP TRIGGER event_announced ON results_event;
DROP FUNCTION announce_event();
"""


class Migration(migrations.Migration):
    """Triggers that notify the channel drivecert_changes."""

    dependencies = [("results", "0047_takedown_reminders")]

    operations = [migrations.RunSQL(ANNOUNCE, STOP)]
