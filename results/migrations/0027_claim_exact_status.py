"""Claims have the status of their exact value. It stays empty until the next import of the catalogue."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("results", "0026_event_by_time"),
    ]

    operations = [
        migrations.AddField(
            model_name="publishedclaim",
            name="exact_status",
            field=models.CharField(blank=True, db_default="", default="", max_length=60),
        ),
    ]
