"""Mark the submissions that have runs."""

from django.db import migrations

MARK = """
UPDATE results_submission SET has_runs = true
WHERE NOT has_runs AND EXISTS (SELECT FROM results_run WHERE submission_id = results_submission.id);
"""


class Migration(migrations.Migration):
    """False is never wrong: a process of the earlier release does not set the column."""

    dependencies = [("results", "0063_submissions_that_wait")]

    operations = [migrations.RunSQL(MARK, migrations.RunSQL.noop)]
