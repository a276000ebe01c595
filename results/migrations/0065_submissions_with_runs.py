"""Mark the submissions that have runs."""

from django.db import migrations, models

AT_ONCE = 1_000  # rows
MARK = """
UPDATE results_submission SET has_runs = true
WHERE id BETWEEN %s AND %s AND NOT has_runs
AND EXISTS (SELECT FROM results_run WHERE submission_id = results_submission.id)
"""


def mark(apps, schema_editor):
    last = apps.get_model("results", "Submission").objects.aggregate(last=models.Max("pk"))["last"] or 0
    with schema_editor.connection.cursor() as cursor:
        for first in range(1, last + 1, AT_ONCE):
            cursor.execute(MARK, [first, first + AT_ONCE - 1])


class Migration(migrations.Migration):
    """False means unknown: a process of the previous release does not set the column.

    Each statement is a transaction of its own, which locks at most AT_ONCE rows.
    """

    atomic = False
    dependencies = [("results", "0064_submissions_that_wait")]

    operations = [migrations.RunPython(mark, migrations.RunPython.noop)]
