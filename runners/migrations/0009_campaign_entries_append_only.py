"""The history of a campaign: the database itself refuses to change or delete an entry."""

from django.db import migrations

REFUSE = """
CREATE TRIGGER campaign_entry_append_only BEFORE UPDATE OR DELETE ON runners_campaignentry
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
"""

ALLOW = "DROP TRIGGER campaign_entry_append_only ON runners_campaignentry;"


class Migration(migrations.Migration):
    dependencies = [("runners", "0008_campaigns"), ("results", "0002_append_only")]

    operations = [migrations.RunSQL(REFUSE, ALLOW)]
