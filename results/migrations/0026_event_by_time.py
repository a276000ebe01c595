"""An index for the newest events, which the pages and the feed of news list."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("results", "0025_example_runs"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="event",
            index=models.Index(fields=["-at", "-id"], name="event_by_time"),
        ),
    ]
