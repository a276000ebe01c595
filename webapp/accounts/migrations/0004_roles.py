import django.utils.timezone
from django.db import migrations, models
from django.db.models import F


def grant_roles(apps, schema_editor):
    """Make staff users of earlier releases reviewers and operators."""
    apps.get_model("accounts", "User").objects.update(is_reviewer=F("is_staff"), is_operator=F("is_staff"))


def make_staff(apps, schema_editor):
    """Make reviewers and operators staff users again."""
    users = apps.get_model("accounts", "User").objects
    users.filter(models.Q(is_reviewer=True) | models.Q(is_operator=True)).update(is_staff=True)


class Migration(migrations.Migration):
    """Roles of the register instead of `is_staff`, and roles of members, who all become owners."""

    dependencies = [
        ("accounts", "0003_end_sessions_with_plain_keys"),
    ]

    operations = [
        migrations.AlterModelManagers(name="user", managers=[]),
        migrations.AddField(
            model_name="user",
            name="is_reviewer",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="user",
            name="is_operator",
            field=models.BooleanField(default=False),
        ),
        migrations.RunPython(grant_roles, make_staff),
        migrations.RemoveField(model_name="user", name="is_staff"),
        migrations.AddField(
            model_name="membership",
            name="role",
            field=models.CharField(
                choices=[("owner", "Owner"), ("submitter", "Submitter"), ("viewer", "Viewer")],
                default="owner",
                max_length=10,
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="membership",
            name="joined_at",
            field=models.DateTimeField(auto_now_add=True, default=django.utils.timezone.now),
            preserve_default=False,
        ),
        migrations.AddConstraint(
            model_name="membership",
            constraint=models.CheckConstraint(
                condition=models.Q(("role__in", ["owner", "submitter", "viewer"])), name="membership_has_a_role"
            ),
        ),
    ]
