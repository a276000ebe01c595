from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runners", "0012_run_dirs_removed")]

    operations = [
        migrations.AddField("dispatch", "gaps_count", models.PositiveIntegerField(default=0, db_default=0)),
        migrations.AddField("dispatch", "gaps_ms", models.BigIntegerField(default=0, db_default=0)),
    ]
