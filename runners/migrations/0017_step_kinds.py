"""Steps of a history get a kind and details, queued dispatches what they wait for: no code reads reasons any more.

The kinds of existing steps are derived from the texts of earlier releases, here and nowhere else. The reasons stay as
they are. A step that changes no state and has none of these texts gets the kind `other`. Steps are append-only, so the
trigger that refuses changes is off meanwhile.
"""

from django.db import migrations, models

CLASSIFY = """
ALTER TABLE runners_step DISABLE TRIGGER step_append_only;
UPDATE runners_step SET kind = CASE
        WHEN reason LIKE 'a cancel was asked for%' THEN 'cancel-requested'
        WHEN reason LIKE 'no answer from %' THEN 'host-outage'
        WHEN reason LIKE '% gaps, % s in all' THEN 'outage-total'
        WHEN reason LIKE 'telemetry of the drive beside %' THEN 'telemetry-ended'
        WHEN reason LIKE 'nothing of it runs: %' THEN 'declared-ended'
        ELSE 'other'
    END, details = CASE
        WHEN reason LIKE 'a cancel was asked for: %' OR reason LIKE 'nothing of it runs: %'
            THEN jsonb_build_object('reason', substring(reason FROM '^[^:]*: (.*)$'))
        WHEN reason LIKE 'telemetry of the drive beside %'
            THEN jsonb_build_object('stage', substring(reason FROM '^telemetry of the drive beside ([^ ]+) '))
        ELSE '{}'::jsonb
    END
    WHERE from_state = to_state;
ALTER TABLE runners_step ENABLE TRIGGER step_append_only;
"""

CLASSIFY_WAITS = """
UPDATE runners_dispatch SET waits_for = CASE
        WHEN reason LIKE 'drive busy%' THEN 'drive'
        WHEN reason LIKE '% gets no work: %' OR reason LIKE 'host busy%' THEN 'host'
        WHEN reason LIKE '% is paused; %' THEN 'campaign'
        ELSE ''
    END
    WHERE state = 'queued' AND reason <> '';
"""

KINDS = [
    ("transition", "Transition"),
    ("cancel-requested", "Cancel Requested"),
    ("host-outage", "Host Outage"),
    ("outage-total", "Outage Total"),
    ("telemetry-ended", "Telemetry Ended"),
    ("declared-ended", "Declared Ended"),
    ("other", "Other"),
]


class Migration(migrations.Migration):
    dependencies = [("runners", "0016_retired")]

    operations = [
        migrations.AddField(
            "step",
            "kind",
            models.CharField(choices=KINDS, db_default="transition", default="transition", max_length=20),
        ),
        migrations.AddField(
            "step",
            "details",
            models.JSONField(default=dict, db_default=models.Value({}, models.JSONField())),
        ),
        migrations.AddField(
            "dispatch",
            "waits_for",
            models.CharField(
                blank=True,
                choices=[("drive", "Drive"), ("host", "Host"), ("campaign", "Campaign")],
                db_default="",
                default="",
                max_length=10,
            ),
        ),
        migrations.RunSQL(CLASSIFY, migrations.RunSQL.noop),
        migrations.RunSQL(CLASSIFY_WAITS, migrations.RunSQL.noop),
    ]
