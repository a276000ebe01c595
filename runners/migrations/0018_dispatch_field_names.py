"""Clearer names for some fields of a dispatch, in Python only: each keeps its column."""

from django.db import migrations, models
from django.db.models.functions import Now

DUE = ~models.Q(state__in=["cancelled", "done", "failed", "refused"])
EMPTY = models.Value({}, models.JSONField())
FIELDS = {
    "end_requested_at": models.DateTimeField(null=True, db_column="end_asked_at"),
    "next_poll_at": models.DateTimeField(db_default=Now(), db_column="next_look_at"),
    "collected_at": models.DateTimeField(null=True, db_column="taken_in_at"),
    "outages_count": models.PositiveIntegerField(default=0, db_default=0, db_column="gaps_count"),
    "outages_ms": models.BigIntegerField(default=0, db_default=0, db_column="gaps_ms"),
    "open_outages": models.JSONField(default=dict, db_default=EMPTY, db_column="silences"),
}


def renamed():
    for name, field in FIELDS.items():
        yield migrations.RenameField("dispatch", field.db_column, name)
        yield migrations.AlterField("dispatch", name, field)


class Migration(migrations.Migration):
    dependencies = [("runners", "0017_step_kinds")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveIndex("dispatch", "dispatch_due"),
                *renamed(),
                migrations.AddIndex(
                    "dispatch", models.Index(fields=["next_poll_at"], condition=DUE, name="dispatch_due")
                ),
            ]
        )
    ]
