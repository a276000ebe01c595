"""Indexes for lists that otherwise read all rows: of submissions that have not ended, of YCSB, and of products."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """A column of submissions, and indexes. Migration 0064 fills the column of stored submissions."""

    dependencies = [("results", "0062_listing_changes")]

    operations = [
        migrations.AddField(
            model_name="submission",
            name="has_runs",
            field=models.BooleanField(db_default=False, default=False),
        ),
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
