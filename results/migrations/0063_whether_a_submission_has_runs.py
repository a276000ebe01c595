"""Add `has_runs` to submissions."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Migration 0065 fills the column of stored submissions."""

    dependencies = [("results", "0062_listing_changes")]

    operations = [
        migrations.AddField(
            model_name="submission",
            name="has_runs",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
