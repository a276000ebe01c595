"""Example runs of the register have a flag, and their submissions a fixed id for the run."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("results", "0024_labels_and_long_subjects"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="is_demo",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("is_demo", False),
                    models.Q(("is_virtual", True), ("product__isnull", True)),
                    _connector="OR",
                ),
                name="example_run_is_of_no_product",
            ),
        ),
        migrations.AddField(
            model_name="submission",
            name="demo_run_id",
            field=models.CharField(blank=True, db_default="", default="", max_length=20),
        ),
        migrations.AlterField(
            model_name="submission",
            name="origin",
            field=models.CharField(
                choices=[("form", "Form"), ("api", "Api"), ("dispatch", "Dispatch"), ("demo", "Demo")], max_length=10
            ),
        ),
    ]
