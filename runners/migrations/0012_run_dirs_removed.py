from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runners", "0011_what_is_known")]

    operations = [
        migrations.AddField("dispatch", "taken_in_at", models.DateTimeField(null=True)),
        migrations.AddField("dispatch", "run_dirs_removed_at", models.DateTimeField(null=True)),
    ]
