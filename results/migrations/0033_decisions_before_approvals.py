"""Runs that were public before approvals were counted have a mark; those under embargo get the approval they had."""

from django.db import migrations


def mark_and_approve(apps, schema_editor):
    run, event = apps.get_model("results", "Run"), apps.get_model("results", "Event")
    approval, verdict = apps.get_model("results", "Approval"), apps.get_model("results", "Verdict")
    run.objects.filter(visibility__in=["public", "superseded", "withdrawn"]).update(predates_approvals=True)
    for waiting in run.objects.filter(visibility="embargoed").order_by("pk"):
        decisions = event.objects.filter(
            subject_type="run", subject_id=waiting.public_id, kind="run-embargoed", actor__isnull=False
        )
        decision = decisions.order_by("-at", "-id").first()
        if decision is None:  # no record of the reviewer; the mark lets the run leave its embargo
            run.objects.filter(pk=waiting.pk).update(predates_approvals=True)
            continue
        newest = verdict.objects.filter(run=waiting.pk).order_by("-created_at", "-id").first()
        approval.objects.create(
            run=waiting,
            step="embargo",
            reviewer_id=decision.actor_id,
            reading_id=waiting.reading_id,
            verdict=newest,
            reviews_needed=1,
            note="Approved before the register counted approvals.",
            carried_out_at=decision.at,
        )


class Migration(migrations.Migration):
    dependencies = [("results", "0032_approvals")]

    operations = [migrations.RunPython(mark_and_approve, migrations.RunPython.noop)]
