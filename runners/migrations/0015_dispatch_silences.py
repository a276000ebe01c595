from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runners", "0014_host_place")]

    operations = [
        migrations.AddField(
            "dispatch",
            "silences",
            models.JSONField(default=dict, db_default=models.Value({}, models.JSONField())),
        ),
    ]
