"""Queueing of deliveries: one for each webhook with the topic of an event, in its transaction; and trials."""

import json
from datetime import datetime
from typing import Any

from django.conf import settings
from django.dispatch import receiver
from django.urls import reverse
from django.utils import timezone

from results.history import event_recorded
from results.models import Certificate, Event, Objection, Organisation, Submission
from webapp.webhooks.models import UNFINISHED, Delivery, Topic, Webhook

TRIAL = "webhook.trial"
BY_EVENT: dict[str, Topic] = {
    "submission-received": Topic.RECEIVED,
    "reading-done": Topic.READ,
    "reading-failed": Topic.FAILED,
    "submission-question-asked": Topic.QUESTION,
    "submission-declined": Topic.DECLINED,
    "submission-deadline-near": Topic.DEADLINE,
    "submission-overdue": Topic.DEADLINE,
    "run-embargoed": Topic.EMBARGOED,
    "run-published": Topic.PUBLISHED,
    "run-withdrawn": Topic.WITHDRAWN,
    "run-superseded": Topic.SUPERSEDED,
    "certificate-issued": Topic.CERTIFIED,
    "objection-admitted": Topic.OBJECTION,
}


@receiver(event_recorded, dispatch_uid="queue-webhooks")
def queue_deliveries(event: Event, **_: Any) -> None:
    """Queue the deliveries of an event. Example runs have none."""
    topic = BY_EVENT.get(event.kind)
    if topic is None or not Webhook.objects.filter(ended_at__isnull=True, topics__contains=[topic]).exists():
        return
    for submission, names in _subjects(event):
        if not submission.demo_run_id:
            _queue(topic, event, submission, names)


def queue_trial(webhook: Webhook) -> bool:
    """Queue a message that reports no change, so that an owner can try a webhook; False if another one waits."""
    if webhook.deliveries.filter(topic=TRIAL, state__in=UNFINISHED).exists():
        return False
    body = _body(TRIAL, timezone.now(), webhook.organisation, {})
    Delivery.objects.create(webhook=webhook, topic=TRIAL, subject=webhook.public_id, body=body)
    return True


def _queue(topic: Topic, event: Event, submission: Submission, names: dict[str, str]) -> None:
    webhooks = Webhook.objects.filter(
        organisation=submission.organisation_id, ended_at__isnull=True, topics__contains=[topic]
    )
    body = _body(topic, event.at, submission.organisation, _facts(submission, names))
    rows = [
        Delivery(webhook=webhook, event=event, topic=topic, subject=submission.public_id, body=body)
        for webhook in webhooks
    ]
    Delivery.objects.bulk_create(rows, ignore_conflicts=True)


def _subjects(event: Event) -> list[tuple[Submission, dict[str, str]]]:
    """Return the submissions that an event is about, each with the further ids of its message."""
    found = Submission.objects.select_related("organisation")
    if event.subject_type == "submission":
        return [(each, {}) for each in found.filter(public_id=event.subject_id)]
    if event.subject_type == "run":
        return [(each, {"run": event.subject_id}) for each in found.filter(runs__public_id=event.subject_id)]
    if event.subject_type == "certificate":
        certified = Certificate.objects.filter(public_id=event.subject_id)
        return [
            (each, {"certificate": event.subject_id})
            for each in found.filter(runs__certificates__in=certified).distinct().order_by("pk")
        ]
    if event.subject_type == "objection":
        objection = Objection.objects.filter(public_id=event.subject_id).select_related("run").first()
        run = objection.run if objection else None
        names = {"objection": event.subject_id, "run": run.public_id if run else ""}
        return [(each, names) for each in found.filter(runs=run)] if run else []
    return []


def _facts(submission: Submission, names: dict[str, str]) -> dict[str, str | None]:
    return {
        "submission": submission.public_id,
        "url": settings.PUBLIC_URL + reverse("submission-detail", args=[submission.public_id]),
        **names,
    }


def _body(topic: str, at: datetime, organisation: Organisation, facts: dict[str, str | None]) -> str:
    return json.dumps({"topic": topic, "at": at.isoformat(), "organisation": organisation.slug, **facts})
