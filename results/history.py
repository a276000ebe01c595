"""The append-only history: recording events, reading the history of a run, and the labels of event kinds.

The public part of a history hides that a result was under embargo, and since when.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.dispatch import Signal

from results.models import Event, Run, Submission, Visibility

# Sent with `event` in the transaction of the change. An error of a receiver refuses the change.
event_recorded = Signal()


def displaced_by(run: Run) -> QuerySet[Run]:
    """Return the runs that this one replaced, oldest first, if they have been public."""
    return run.supersedes.filter(visibility__in=["superseded", "withdrawn"]).order_by("pk")


def record_event(
    actor: AbstractBaseUser | None,
    kind: str,
    subject: tuple[str, str],
    reason: str = "",
    details: dict[str, Any] | None = None,
) -> Event:
    """Record one event about a subject, a pair of type and public id. Without an actor, the register itself acts."""
    subject_type, subject_id = subject
    event = Event.objects.create(
        actor_id=actor.pk if actor else None,
        kind=kind,
        subject_type=subject_type,
        subject_id=subject_id,
        reason=reason,
        details=details or {},
    )
    event_recorded.send(sender=Event, event=event)
    return event


def run_subject(run: Run) -> tuple[str, str]:
    """Return a run as the subject of an event."""
    return "run", run.public_id


def history_of(run: Run) -> QuerySet[Event]:
    """Return the events of a run and of its submission, in order."""
    of_run = Q(subject_type="run", subject_id=run.public_id)
    if run.submission is None:
        return Event.objects.filter(of_run)
    return Event.objects.filter(of_run | Q(subject_type="submission", subject_id=run.submission.public_id))


EVENT_LABELS = {
    "run-published": "published",
    "run-embargoed": "reviewed, under embargo",
    "run-recalled": "returned to review",
    "run-approved": "approved",
    "run-approval-retracted": "approval taken back",
    "run-superseded": "superseded by another run",
    "run-unsuperseded": "no longer superseded",
    "run-withdrawn": "withdrawn",
    "run-reinstated": "reinstated",
    "run-retracted": "withdrawn by its sender before publication",
    "run-sequestered": "withheld for legal reasons",
    "run-takedown-confirmed": "takedown confirmed by a second operator",
    "takedown-deadline-near": "limit of the takedown is near",
    "run-released": "no longer withheld",
    "run-restored": "returned to review by its sender",
    "run-annotated": "annotated",
    "annotation-retracted": "annotation retracted",
    "annotation-replied": "annotation replied to",
    "objection-received": "objection received",
    "objection-refused": "objection refused",
    "objection-withdrawn": "objection withdrawn by its filer",
    "objection-admission-overdue": "admission of the objection is overdue",
    "objection-admitted": "objection admitted",
    "objection-replied": "objection replied to",
    "objection-deadline-near": "limit of the objection is near",
    "objection-overdue": "limit of the objection passed",
    "objection-upheld": "objection upheld",
    "objection-rejected": "objection rejected",
    "run-corrected": "corrected",
    "correction-taken-back": "correction reverted",
    "run-changed": "changed with the published catalogue",
    "run-judged-anew": "re-evaluated",
    "submission-slices-changed": "slice length changed",
    "submission-link-renewed": "secret link created",
    "submission-link-revoked": "secret link revoked",
    "submission-file-hidden": "file hidden on request of its sender",
    "submission-file-shown": "file no longer hidden",
    "run-file-hidden": "file hidden on request of its sender",
    "run-file-shown": "file no longer hidden",
    "run-not-found-again": "not found by a newer reader",
    "run-shown-as-example": "shown as an example",
    "run-removed-as-example": "removed as an example",
    "certificate-requested": "certificate requested",
    "product-created": "product created",
    "product-renamed": "renamed",
    "product-facts-changed": "facts changed",
    "product-price-added": "list price entered",
    "product-price-removed": "list price removed",
    "product-merged": "merged into another product",
    "product-joined": "another product was merged into it",
    "product-split": "runs moved to another product",
    "product-received": "runs of another product moved to it",
    "product-move-reverted": "merge or split reverted",
    "product-returned": "runs moved back to the other product",
    "alias-added": "name given to a product",
    "alias-revoked": "name no longer means the product",
    "host-added": "host added",
    "host-pinned-anew": "pinned again",
    "host-join-code-created": "command to join printed",
    "host-agent-joined": "agent joined",
    "host-agent-revoked": "agent revoked",
    "maker-linked": "linked to",
    "maker-unlinked": "no longer linked to",
    "certificate-issued": "issued",
    "certificate-withdrawn": "withdrawn",
    "certificate-reinstated": "reinstated",
    "claims-recomputed": "recomputed",
    "claim-changed": "recomputed with another result",
}


def event_label(kind: str) -> str:
    """Return the label of an event kind; for an unknown kind, its name."""
    return EVENT_LABELS.get(kind, kind.replace("-", " "))


EMBARGO_CHANGED = "submission-embargo-changed"
ACCEPTED_WARNINGS = "in_spite_of"  # the key of these sentences in the details of a publication
LINK_RENEWED, LINK_REVOKED = "submission-link-renewed", "submission-link-revoked"
FILE_HIDDEN, FILE_SHOWN = "submission-file-hidden", "submission-file-shown"
RUN_FILE_HIDDEN, RUN_FILE_SHOWN = "run-file-hidden", "run-file-shown"
APPROVED_KIND, RETRACTED_KIND = "run-approved", "run-approval-retracted"
OBJECTION_REPLIED, ANNOTATION_REPLIED = "objection-replied", "annotation-replied"
BY_SUBMITTER = frozenset({OBJECTION_REPLIED, ANNOTATION_REPLIED})  # of these the submitting organisation is the actor
HIDDEN_KINDS = ("run-embargoed", "run-recalled", LINK_RENEWED, LINK_REVOKED, APPROVED_KIND, RETRACTED_KIND)
OPENED, PUBLISHED = "product-created", "run-published"
PRODUCT_CHANGES = (
    *("product-renamed", "product-facts-changed", "product-price-added", "product-price-removed", "product-merged"),
    *("product-joined", "product-split", "product-received", "product-move-reverted", "product-returned"),
)
WAS_PUBLIC = "was_public"  # the key in the details of these events: whether everyone could see what changed


def for_everyone(events: QuerySet[Event]) -> QuerySet[Event]:
    """Return the events without those before publication, which would reveal how long a result waited.

    Earlier corrections are in the columns of the run, earlier annotations on its page.
    """
    visible = events.exclude(kind__in=HIDDEN_KINDS).alias(entered_for=KeyTextTransform("from", "details"))
    # Products that were entered for a submission that is or was under embargo.
    changed = Event.objects.filter(subject_type="submission", subject_id=OuterRef("public_id"), kind=EMBARGO_CHANGED)
    senders = Submission.objects.filter(public_id=OuterRef("entered_for"))
    embargoed = senders.filter(Q(embargo_until__isnull=False) | Exists(changed))
    visible = visible.exclude(Q(kind=OPENED) & Exists(embargoed))
    # A change of a product before its first public run, or a move of unpublished runs, would reveal them.
    visible = visible.exclude(Q(kind__in=PRODUCT_CHANGES) & Q(details__was_public=False))
    published_later = Run.objects.filter(public_id=OuterRef("subject_id"), published_at__gt=OuterRef("at"))
    return visible.exclude(~Q(kind=PUBLISHED) & Q(subject_type="run") & Exists(published_later))


def details_for_everyone(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return the details of an event without the state "embargoed": it becomes "unreviewed"."""
    visible = dict(details)
    if visible.get("before") == Visibility.EMBARGOED:
        visible["before"] = Visibility.UNREVIEWED.value
    return visible


def is_by_submitter(event: Event) -> bool:
    """Return whether a member of the organisation that submitted the run did it."""
    return event.kind in BY_SUBMITTER


def is_by_reviewer(event: Event) -> bool:
    """Return whether a reviewer decided it; what the register discloses, a reviewer had let through before."""
    if is_by_submitter(event):
        return False
    return event.actor_id is not None or event.details.get("before") == Visibility.EMBARGOED


def accepted_warnings(events: Iterable[Event]) -> list[str]:
    """Return the warnings that a reviewer accepted for a run, from the newest event of an approval."""
    let_through = [event for event in events if event.kind in {"run-embargoed", "run-published"}]
    return list(let_through[-1].details.get(ACCEPTED_WARNINGS, [])) if let_through else []
