"""Receivers that write the notices of a change in its transaction.

An error of a receiver refuses the change, as an error of the history does: no change is recorded without its notices.
To notify of another kind of event, add it to BY_EVENT. Code of webapp may also call `outbox.notify` in its transaction.
"""

from collections.abc import Callable
from typing import Any

from django.dispatch import receiver

from results.evidence.scrub import faults_found
from results.history import ANNOTATION_REPLIED, EMBARGO_CHANGED, FILE_HIDDEN, FILE_SHOWN, event_recorded
from results.lifecycle.deadlines import Party
from results.lifecycle.submission_states import SubmissionState, with_state
from results.lifecycle.takedowns import NEAR_KIND as TAKEDOWN_NEAR
from results.lifecycle.takedowns import current_takedowns
from results.models import Approval, Event, Organisation, Scrub, Submission
from webapp.accounts.memberships.members import (
    invitation_declined,
    member_joined,
    member_left,
    membership_ended,
    ownership_transferred,
)
from webapp.accounts.models import Invitation, Role, User
from webapp.accounts.organisations import organisation_confirmed, organisation_created
from webapp.accounts.publishers.rules import current_publishers
from webapp.accounts.tokens.rules import machine_tokens
from webapp.notices.kinds import Audience, Kind
from webapp.notices.outbox import members, notify, operators, reviewers
from webapp.webhooks.registration import current_webhooks

WAITING_STATES = {
    SubmissionState.AWAITING_IDENTITY: Kind.AWAITING_IDENTITY,
    SubmissionState.IN_REVIEW: Kind.IN_REVIEW,
}
FOR_MEMBERS = (Audience.MEMBERS,)
FOR_BOTH = (Audience.MEMBERS, Audience.REVIEWERS)
PARTIES = {Party.REVIEWER: Audience.REVIEWERS, Party.SUBMITTER: Audience.MEMBERS}  # of events about deadlines
DETAILS = ("error", "deadline", "question")  # what `sentences` uses of the details of an event
Planned = tuple[Kind, tuple[Audience, ...]]


def _after_reading(submission: Submission) -> list[Planned]:
    """Return the notices after a reading: its result, and that a reviewer must act."""
    waiting = WAITING_STATES.get(_state_of(submission))
    return [(Kind.READ, FOR_MEMBERS)] + ([(waiting, FOR_BOTH)] if waiting else [])


def _after_naming(submission: Submission) -> list[Planned]:
    """Return the notices after a reviewer named the product. The reviewers know of the submission since its reading."""
    return [(Kind.IN_REVIEW, FOR_MEMBERS)] if _state_of(submission) == SubmissionState.IN_REVIEW else []


def _state_of(submission: Submission) -> SubmissionState:
    return SubmissionState(with_state(Submission.objects.filter(pk=submission.pk)).get().state)


def _always(kind: Kind, audiences: tuple[Audience, ...] = FOR_MEMBERS) -> Callable[[Submission], list[Planned]]:
    return lambda _: [(kind, audiences)]


BY_EVENT: dict[str, Callable[[Submission], list[Planned]]] = {
    "submission-received": _always(Kind.RECEIVED),
    "reading-failed": _always(Kind.READING_FAILED),
    "reading-done": _after_reading,
    "identity-named": _after_naming,
    "submission-question-asked": _always(Kind.QUESTION),
    "submission-question-answered": _always(Kind.ANSWERED, FOR_BOTH),
    "submission-deadline-near": _always(Kind.DEADLINE_NEAR, FOR_BOTH),
    "submission-overdue": _always(Kind.DEADLINE_PASSED, FOR_BOTH),
    "submission-declined": _always(Kind.DECLINED),
    "run-embargoed": _always(Kind.EMBARGOED),
    EMBARGO_CHANGED: _always(Kind.EMBARGO_CHANGED),
    "run-published": _always(Kind.PUBLISHED),
    "run-withdrawn": _always(Kind.WITHDRAWN),
    "run-sequestered": _always(Kind.SEQUESTERED),
    "run-released": _always(Kind.RELEASED),
    FILE_HIDDEN: _always(Kind.FILE_HIDDEN, FOR_BOTH),
    FILE_SHOWN: _always(Kind.FILE_SHOWN, FOR_BOTH),
    "run-superseded": _always(Kind.SUPERSEDED),
    "run-unsuperseded": _always(Kind.REINSTATED),
    "run-reinstated": _always(Kind.REINSTATED),
    "run-recalled": _always(Kind.RECALLED, FOR_BOTH),
    "run-annotated": _always(Kind.ANNOTATED),
    ANNOTATION_REPLIED: _always(Kind.ANNOTATION_REPLIED, (Audience.REVIEWERS,)),
}


@receiver(event_recorded, dispatch_uid="write-notices")
def write_notices(event: Event, **_: Any) -> None:
    """Write the notices of an event about a submission or one of its runs. Example runs have none."""
    plan = BY_EVENT.get(event.kind)
    submission = _submission_of(event) if plan else None
    if plan is None or submission is None or submission.demo_run_id:
        return
    details = {name: event.details[name] for name in DETAILS if name in event.details} | {"reason": event.reason}
    if event.subject_type == "run":
        details["run"] = event.subject_id
    if "party" in event.details:
        details["acts"] = PARTIES.get(event.details["party"], "")
    for kind, audiences in plan(submission):
        for audience in audiences:
            subject = ("submission", submission.public_id)
            recipients = _recipients(audience, submission, event.actor_id)
            notify(kind, subject, recipients, audience, event=event, details=details)


@receiver(event_recorded, dispatch_uid="notify-operators-of-hidden-files")
def notify_of_hidden_files(event: Event, **_: Any) -> None:
    """Notify the operators of a file that is hidden. Only they can end the hiding."""
    if event.kind == FILE_HIDDEN:
        subject, recipients = ("hidden-file", event.subject_id), operators(event.actor_id)
        details = {"reason": event.reason}
        notify(Kind.FILE_HIDDEN, subject, recipients, Audience.OPERATORS, event=event, details=details)


@receiver(event_recorded, dispatch_uid="notify-operators-of-takedowns")
def notify_of_takedowns(event: Event, **_: Any) -> None:
    """Notify the operators who can confirm a takedown: of the request, and once before it lapses."""
    subject = ("takedown", event.subject_id)
    if event.kind == "run-sequestered":
        notify(Kind.TAKEDOWN_WAITS, subject, operators(event.actor_id), Audience.OPERATORS, event=event)
    elif event.kind == TAKEDOWN_NEAR:
        takedown = current_takedowns().get(run__public_id=event.subject_id)
        recipients, details = operators(takedown.requested_by_id), {"deadline": event.details["deadline"]}
        notify(Kind.TAKEDOWN_NEAR, subject, recipients, Audience.OPERATORS, event=event, details=details)


@receiver(faults_found, dispatch_uid="notify-operators-of-scrub-faults")
def notify_of_scrub_faults(scrub: Scrub, faults_count: int, **_: Any) -> None:
    """Notify the operators of stored files that the scrub found damaged."""
    details = {"faults": faults_count}
    notify(Kind.SCRUB_FAULTS, ("scrub", str(scrub.pk)), operators(), Audience.OPERATORS, details=details)


def _submission_of(event: Event) -> Submission | None:
    subject = {"submission": "public_id", "run": "runs__public_id"}.get(event.subject_type)
    if subject is None:
        return None
    return Submission.objects.filter(**{subject: event.subject_id}).first()


def _recipients(audience: Audience, submission: Submission, actor_id: int | None) -> list[User]:
    if audience == Audience.REVIEWERS:
        # Who approved has done their part; a recall makes the approval void, and the reviewer gets mail again.
        approved = Approval.objects.filter(run__submission=submission, voided_at=None, carried_out_at=None)
        return list(reviewers(submission.organisation_id, actor_id).exclude(pk__in=approved.values("reviewer")))
    return list(members(submission.organisation_id, submission.submitted_by_id, actor_id))


@receiver(organisation_created, dispatch_uid="notify-operators")
def notify_operators(organisation: Organisation, owner: User, **_: Any) -> None:
    """Notify the operators of an organisation that waits for them."""
    subject = ("organisation", organisation.slug)
    notify(Kind.ORGANISATION_WAITS, subject, operators(owner.pk), Audience.OPERATORS)


@receiver(organisation_confirmed, dispatch_uid="notify-members")
def notify_members(organisation: Organisation, operator: User | None, **_: Any) -> None:
    """Notify the members of a confirmed organisation."""
    recipients = members(organisation.pk, actor_id=operator.pk if operator else None)
    notify(Kind.ORGANISATION_CONFIRMED, ("organisation", organisation.slug), recipients, Audience.MEMBERS)


@receiver(member_joined, dispatch_uid="notify-owners-of-joining")
def notify_of_new_member(organisation: Organisation, user: User, **_: Any) -> None:
    """Notify the owners of a person who accepted an invitation."""
    _notify_owners(Kind.MEMBER_JOINED, organisation, user)


@receiver(member_left, dispatch_uid="notify-owners-of-leaving")
def notify_of_former_member(organisation: Organisation, user: User, **_: Any) -> None:
    """Notify the owners of a person who left."""
    _notify_owners(Kind.MEMBER_LEFT, organisation, user)


@receiver(membership_ended, dispatch_uid="notify-owners-of-tokens")
def notify_of_tokens(organisation: Organisation, user: User, **_: Any) -> None:
    """Notify the owners of the machine tokens, trusted publishers and webhooks that a former member created."""
    tokens = [token.name for token in machine_tokens(organisation).filter(user=user)]
    publishers = [publisher.name for publisher in current_publishers(organisation).filter(created_by=user)]
    webhooks = [webhook.url for webhook in current_webhooks(organisation).filter(created_by=user)]
    if tokens or publishers or webhooks:
        details = {"member": user.pk, "tokens": tokens, "publishers": publishers, "webhooks": webhooks}
        _notify_owners(Kind.TOKENS_TO_REPLACE, organisation, user, details)


@receiver(invitation_declined, dispatch_uid="notify-owners-of-declining")
def notify_of_declined_invitation(
    organisation: Organisation, invitation: Invitation, user: User | None, **_: Any
) -> None:
    """Notify the owners of a declined invitation. A notice keeps no mail address, so it states the role."""
    _notify_owners(Kind.INVITATION_DECLINED, organisation, user, {"role": invitation.role})


@receiver(ownership_transferred, dispatch_uid="notify-both-owners")
def notify_both_owners(organisation: Organisation, before: User, after: User, **_: Any) -> None:
    """Notify the new owner, and the former one: a thief of their session may have done it."""
    details = {"actor": before.pk, "member": after.pk}
    subject = ("organisation", organisation.slug)
    notify(Kind.OWNERSHIP_TRANSFERRED, subject, [after, before], Audience.MEMBERS, details=details)


def _notify_owners(
    kind: Kind, organisation: Organisation, user: User | None, details: dict[str, Any] | None = None
) -> None:
    owners = members(organisation.pk, actor_id=user.pk if user else None).filter(
        memberships__organisation=organisation, memberships__role=Role.OWNER
    )
    details = details or ({"member": user.pk} if user else {})
    notify(kind, ("organisation", organisation.slug), owners, Audience.MEMBERS, details=details)
