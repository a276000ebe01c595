"""The audit trail is append-only: the database refuses every change but the removal of an address."""

from django.db import migrations

REFUSE = """
CREATE FUNCTION refuse_change_of_account_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.address IS NULL
       AND to_jsonb(NEW) - 'address' = to_jsonb(OLD) - 'address' THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% is append-only: % refused; only addresses may be removed', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER account_event_append_only BEFORE UPDATE OR DELETE ON accounts_accountevent
    FOR EACH ROW EXECUTE FUNCTION refuse_change_of_account_event();
"""

ALLOW = """
DROP TRIGGER account_event_append_only ON accounts_accountevent;
DROP FUNCTION refuse_change_of_account_event();
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0005_audit_trail_and_invitations")]

    operations = [migrations.RunSQL(REFUSE, ALLOW)]
