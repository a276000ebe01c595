"""The profile operational-database, rule version 1, as the certification page states it."""

import hashlib

from django.db import migrations

OPERATIONAL_DATABASE_1 = """\
{
  "name": "operational-database",
  "rule_version": 1,
  "reads_pct": "67",
  "writes_pct": "33",
  "ratio_tolerance_points": "1",
  "object_bytes": 1536,
  "duration_s": 86400,
  "slice_length_s": 3600,
  "limits": [
    {"threshold_us": 1000, "limit_pct": "5"},
    {"threshold_us": 8000, "limit_pct": "1"},
    {"threshold_us": 64000, "limit_pct": "0.1"}
  ]
}
"""


def add_profile(apps, schema_editor):
    # The row survives a step backwards, so a step forward again must find it.
    apps.get_model("results", "Profile").objects.get_or_create(
        name="operational-database",
        rule_version=1,
        defaults={
            "document": OPERATIONAL_DATABASE_1,
            "sha256": hashlib.sha256(OPERATIONAL_DATABASE_1.encode()).hexdigest(),
        },
    )


class Migration(migrations.Migration):
    dependencies = [("results", "0002_append_only")]

    # Backwards the row stays: profiles are immutable, and 0001 drops the table with it.
    operations = [migrations.RunPython(add_profile, migrations.RunPython.noop)]
