from django.db import migrations, models
from django.db.models import F


def confirm(apps, schema_editor):
    """Confirm the organisations of earlier releases: an operator added each of them."""
    apps.get_model("results", "Organisation").objects.update(confirmed_at=F("created_at"))


class Migration(migrations.Migration):
    dependencies = [
        ("results", "0027_claim_exact_status"),
    ]

    operations = [
        migrations.AddField(
            model_name="organisation",
            name="website",
            field=models.URLField(blank=True, default=""),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="organisation",
            name="confirmed_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AlterField(
            model_name="organisation",
            name="kind",
            field=models.CharField(
                choices=[("vendor", "Vendor"), ("lab", "Lab"), ("other", "Other"), ("register", "Register")],
                max_length=10,
            ),
        ),
        migrations.RunPython(confirm, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="organisation",
            name="name",
            field=models.CharField(max_length=200),
        ),
        migrations.AddConstraint(
            model_name="organisation",
            constraint=models.UniqueConstraint(
                condition=models.Q(("confirmed_at__isnull", False)), fields=("name",), name="confirmed_name_unique"
            ),
        ),
    ]
