"""Tokens have scopes, a time of last use and the name of their machine; existing ones submit and read as before."""

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models
from django.db.models import Q

SCOPES = [
    ("submit", "send logs, check them, and answer questions about them"),
    ("read-own", "read the drafts, submissions and results of its organisation"),
    ("order", "order, pause and cancel runs and campaigns in the lab, and read it"),
    ("host", "read lab hosts, drives, runs and campaigns"),
    ("review", "review submissions and change the facts of products"),
]


class Migration(migrations.Migration):
    """Add the columns. The scopes of existing tokens are those that every member has."""

    dependencies = [("accounts", "0008_declined_invitations")]

    operations = [
        migrations.AddField(
            "apitoken",
            "kind",
            models.CharField(
                choices=[("personal", "Personal"), ("machine", "Machine")], default="personal", max_length=10
            ),
        ),
        migrations.AddField("apitoken", "last_used_at", models.DateTimeField(null=True)),
        migrations.AddField("apitoken", "machine", models.CharField(blank=True, default="", max_length=100), False),
        migrations.AddField(
            "apitoken",
            "scopes",
            ArrayField(models.CharField(choices=SCOPES, max_length=20), default=["submit", "read-own"]),
            preserve_default=False,
        ),
        migrations.AddConstraint(
            "apitoken", models.CheckConstraint(condition=Q(kind__in=["personal", "machine"]), name="token_has_a_kind")
        ),
        migrations.AddConstraint(
            "apitoken",
            models.CheckConstraint(
                condition=Q(scopes__contained_by=[scope for scope, _ in SCOPES], scopes__len__gt=0),
                name="token_has_scopes",
            ),
        ),
        migrations.AddConstraint(
            "apitoken",
            models.CheckConstraint(
                condition=Q(kind="personal") | ~Q(scopes__contains=["review"]), name="machine_token_reviews_nothing"
            ),
        ),
    ]
