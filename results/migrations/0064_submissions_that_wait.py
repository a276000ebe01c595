"""Indexes for lists that otherwise read all rows: of submissions that have not ended, of YCSB, and of products."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Indexes alone. Changes of these tables wait while an index is built; reading does not."""

    dependencies = [("results", "0063_whether_a_submission_has_runs")]

    operations = [
        migrations.AddIndex(
            model_name="submission",
            index=models.Index(
                condition=models.Q(("has_runs", False)), fields=["id"], name="submission_without_runs"
            ),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("visibility", "unreviewed")), fields=["submission"], name="run_unreviewed"
            ),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("visibility", "embargoed")), fields=["submission"], name="run_embargoed"
            ),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("workload", "ycsb")), fields=["product"], name="run_of_ycsb"
            ),
        ),
        migrations.AddIndex(
            model_name="product",
            index=models.Index(fields=["vendor", "model", "capacity_gb", "id"], name="product_by_name"),
        ),
    ]
