"""The history of a dispatch: the database itself refuses to change or delete a step."""

from django.db import migrations

REFUSE = """
CREATE TRIGGER step_append_only BEFORE UPDATE OR DELETE ON runners_step
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
"""

ALLOW = "DROP TRIGGER step_append_only ON runners_step;"


class Migration(migrations.Migration):
    dependencies = [("runners", "0001_lab"), ("results", "0002_append_only")]

    operations = [migrations.RunSQL(REFUSE, ALLOW)]
