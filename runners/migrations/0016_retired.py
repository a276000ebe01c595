from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runners", "0015_dispatch_silences")]

    operations = [
        migrations.AddField("host", "retired_at", models.DateTimeField(null=True)),
        migrations.AddField("device", "retired_at", models.DateTimeField(null=True)),
    ]
