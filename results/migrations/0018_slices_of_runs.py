"""A slice is one row of its run, with the counts of all histograms, instead of one row for each histogram."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

# Deferred checks that wait would keep the tables from being renamed and dropped.
AT_ONCE = "SET CONSTRAINTS ALL IMMEDIATE"

TOGETHER = """
WITH piece AS (
    SELECT h.run_id, s.number, min(s.start_s) AS start_s, max(s.end_s) AS end_s, min(s.first_line) AS first_line,
           max(s.last_line) AS last_line, greatest(1, max(cardinality(s.counts))) AS length
    FROM results_slice s JOIN results_histogram h ON h.id = s.histogram_id
    GROUP BY h.run_id, s.number
), size AS (SELECT run_id, max(ordinal) AS last FROM results_histogram GROUP BY run_id)
INSERT INTO results_runslice (run_id, number, start_s, end_s, first_line, last_line, counts)
SELECT p.run_id, p.number, p.start_s, p.end_s, p.first_line, p.last_line,
       array_agg(CASE WHEN s.id IS NULL THEN array_fill(NULL::bigint, ARRAY[p.length])
                 ELSE s.counts || array_fill(0::bigint, ARRAY[p.length - cardinality(s.counts)]) END ORDER BY place)
FROM piece p JOIN size USING (run_id) CROSS JOIN LATERAL generate_series(0, size.last) AS place
LEFT JOIN results_histogram h ON h.run_id = p.run_id AND h.ordinal = place
LEFT JOIN results_slice s ON s.histogram_id = h.id AND s.number = p.number
GROUP BY p.run_id, p.number, p.start_s, p.end_s, p.first_line, p.last_line
"""

APART = """
INSERT INTO results_slice (histogram_id, number, start_s, end_s, first_line, last_line, ops_count, counts)
SELECT h.id, s.number, s.start_s, s.end_s, s.first_line, s.last_line, own.ops_count, own.counts
FROM results_runslice s JOIN results_histogram h USING (run_id)
CROSS JOIN LATERAL (
    SELECT sum(count) AS ops_count,
           coalesce(array_agg(count ORDER BY bucket) FILTER (WHERE bucket <= filled), '{}') AS counts
    FROM (SELECT count, bucket, max(bucket) FILTER (WHERE count > 0) OVER () AS filled
          FROM unnest(s.counts[h.ordinal + 1:h.ordinal + 1]) WITH ORDINALITY AS of_bucket (count, bucket)) each
) own
WHERE own.ops_count IS NOT NULL
"""


class Migration(migrations.Migration):

    dependencies = [
        ('results', '0017_earlier_results'),
    ]

    operations = [
        migrations.CreateModel(
            name='RunSlice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('start_s', models.PositiveIntegerField()),
                ('end_s', models.PositiveIntegerField()),
                ('first_line', models.PositiveBigIntegerField()),
                ('last_line', models.PositiveBigIntegerField()),
                ('counts', django.contrib.postgres.fields.ArrayField(base_field=django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(null=True), size=None), size=None)),
                ('run', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='slices', to='results.run')),
            ],
            options={
                'ordering': ['number'],
                'constraints': [models.UniqueConstraint(fields=('run', 'number'), name='slice_unique_in_run')],
            },
        ),
        migrations.RunSQL([AT_ONCE, TOGETHER], [AT_ONCE, APART]),
        migrations.DeleteModel(name='Slice'),
        migrations.RenameModel(old_name='RunSlice', new_name='Slice'),
    ]
