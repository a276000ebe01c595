"""Receivers that write the notices about an objection: to its filer, the submitter of the result, and reviewers."""

from typing import Any

from django.dispatch import receiver

from results.history import OBJECTION_REPLIED, event_recorded
from results.lifecycle import objections
from results.lifecycle.deadlines import Party
from results.lifecycle.objection_filing import RECEIVED_KIND
from results.lifecycle.objections import RULES, partial_organisations
from results.models import Event, Objection, ObjectionState
from webapp.accounts.models import User
from webapp.notices.kinds import Audience, Kind
from webapp.notices.outbox import members, notify, reviewers

FILER, MEMBERS, REVIEWERS = Audience.FILER, Audience.MEMBERS, Audience.REVIEWERS
Planned = list[tuple[Kind, Audience]]
BY_EVENT: dict[str, Planned] = {
    RECEIVED_KIND: [(Kind.OBJECTION_RECEIVED, REVIEWERS)],
    objections.REFUSED_KIND: [(Kind.OBJECTION_REFUSED, FILER)],
    objections.WITHDRAWN_KIND: [(Kind.OBJECTION_WITHDRAWN, REVIEWERS)],
    objections.ADMITTED_KIND: [(Kind.OBJECTION_ADMITTED, FILER), (Kind.OBJECTION_ADMITTED, MEMBERS)],
    OBJECTION_REPLIED: [(Kind.OBJECTION_REPLIED, FILER)],
    objections.ADMISSION_OVERDUE_KIND: [(Kind.OBJECTION_OVERDUE, FILER), (Kind.OBJECTION_OVERDUE, REVIEWERS)],
    objections.OVERDUE_KIND: [(Kind.OBJECTION_OVERDUE, each) for each in (FILER, MEMBERS, REVIEWERS)],
    objections.UPHELD_KIND: [(Kind.OBJECTION_UPHELD, each) for each in (FILER, MEMBERS, REVIEWERS)],
    objections.REJECTED_KIND: [(Kind.OBJECTION_REJECTED, each) for each in (FILER, MEMBERS, REVIEWERS)],
}
PARTIES = {Party.REVIEWER: REVIEWERS, Party.SUBMITTER: MEMBERS}


@receiver(event_recorded, dispatch_uid="notify-of-objections")
def notify_of_objections(event: Event, **_: Any) -> None:
    """Write the notices of an event about an objection, in its transaction."""
    if event.kind not in BY_EVENT and event.kind != objections.NEAR_KIND:
        return
    objection = Objection.objects.select_related("run__submission").get(public_id=event.details["objection"])
    details = {"run": objection.run.public_id, "reason": event.reason, "acts": _next_actor(objection)}
    if "deadline" in event.details:
        details["deadline"] = event.details["deadline"]
    for kind, audience in _planned(event, objection):
        recipients = _recipients(audience, objection, event.actor_id)
        notify(kind, ("objection", objection.public_id), recipients, audience, event=event, details=details)


def _planned(event: Event, objection: Objection) -> Planned:
    """Return the notices of an event. A reminder is only for those who must act."""
    if event.kind == objections.NEAR_KIND:
        return [(Kind.OBJECTION_NEAR, PARTIES[RULES[ObjectionState(objection.state)].party])]
    planned = BY_EVENT[event.kind]
    is_decision_next = objection.state == ObjectionState.IN_DECISION
    if event.kind in {objections.ADMITTED_KIND, OBJECTION_REPLIED} and is_decision_next:
        return [*planned, (Kind.OBJECTION_WAITS, REVIEWERS)]
    return planned


def _next_actor(objection: Objection) -> str:
    """Return who must act: the party of the state; reviewers once it is upheld; nobody after the other ends."""
    if objection.is_final:
        return REVIEWERS if objection.state == ObjectionState.UPHELD else ""
    return PARTIES[RULES[ObjectionState(objection.state)].party]


def _recipients(audience: Audience, objection: Objection, actor_id: int | None) -> list[User]:
    if audience == FILER:
        filer = User.objects.filter(pk__in=[objection.filed_by_id], is_active=True)
        return [user for user in filer if user.pk != actor_id]
    if audience == MEMBERS:
        submission = objection.run.submission
        return list(members(submission.organisation_id, submission.submitted_by_id, actor_id)) if submission else []
    partial = partial_organisations(objection)
    others = reviewers(actor_id=actor_id).exclude(memberships__organisation__in=partial)
    return list(others.exclude(pk__in=[objection.filed_by_id]))
