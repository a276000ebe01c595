"""Rows that are history: the database itself refuses to change or delete them."""

from django.db import migrations

REFUSE = """
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % refused; add a new row instead', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER event_append_only BEFORE UPDATE OR DELETE ON results_event
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER profile_immutable BEFORE UPDATE OR DELETE ON results_profile
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
"""

ALLOW = """
DROP TRIGGER profile_immutable ON results_profile;
DROP TRIGGER event_append_only ON results_event;
DROP FUNCTION refuse_change();
"""


class Migration(migrations.Migration):
    dependencies = [("results", "0001_register")]

    operations = [migrations.RunSQL(REFUSE, ALLOW)]
