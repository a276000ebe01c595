"""Shares that are compared by their counts instead of by their two printed places."""

from django.db import migrations


# Rounded up at the ninth place, as results/rules/act/limits.py does: at most a limit exactly where the counts are.
EXACT = """
UPDATE results_share
SET share_pct = (div(over_count * 100000000000::numeric, ops_count)
                 + (mod(over_count * 100000000000::numeric, ops_count) > 0)::int) / 1000000000
WHERE over_count IS NOT NULL AND ops_count > 0
"""
PRINTED = "UPDATE results_share SET share_pct = printed::numeric WHERE over_count IS NOT NULL AND ops_count > 0"


class Migration(migrations.Migration):

    dependencies = [
        ('results', '0012_ycsb_runs'),
    ]

    operations = [
        migrations.RunSQL(EXACT, PRINTED),
    ]
