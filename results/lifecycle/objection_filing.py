"""The filing of objections: who may object to which result, how often, and the attachments.

Everyone with an account may object, also without an organisation, but not to a result of an own organisation. Quotas
count the objections of the last day in the database: by account, and by each organisation of the filer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from results.errors import ReviewRefusedError
from results.evidence.store import ByteStream, Stored, store
from results.history import record_event
from results.lifecycle import approvals
from results.lifecycle.objections import limit_of, objection_subject, refuse_withheld_run
from results.models import Objection, ObjectionFile, ObjectionState, Organisation, Run, Visibility
from results.models.objection import FINAL_STATES

RECEIVED_KIND = "objection-received"
PERIOD = timedelta(days=1)
FILES_MAX = 5
TEXT_CHARS_MAX = 10_000
FILENAME_CHARS = 255
OPEN_TO_OBJECTIONS = frozenset({Visibility.PUBLIC, Visibility.SUPERSEDED})


class ObjectionQuotaError(ReviewRefusedError):
    """Too many objections in a day; the next one is possible at `free_at`."""

    def __init__(self, sentence: str, free_at: datetime) -> None:
        super().__init__(sentence)
        self.free_at = free_at


@dataclass(frozen=True)
class ObjectionUsage:
    """How many objections were filed in the last day, how many may be, and when the next one is possible."""

    used: int
    most: int
    free_at: datetime | None


@dataclass(frozen=True)
class Attachment:
    """A file of the form, before it is stored."""

    filename: str
    stream: ByteStream


def file_objection(
    run: Run,
    user: AbstractBaseUser,
    text: str,
    organisation: Organisation | None = None,
    attachments: Sequence[Attachment] = (),
) -> Objection:
    """Store an objection with its attachments. It waits for a reviewer, and is not public.

    Raises ObjectionQuotaError beyond a quota, and ReviewRefusedError if the user may not object to this result. The
    bytes are stored before the rows, as for every other evidence; a refusal before that stores nothing.
    """
    organisations = approvals.organisations_of(user, timezone.now())
    _refuse_unfileable(run, user, text, organisation, organisations, attachments)
    _refuse_beyond_quotas(user, organisations)
    stored = [(each.filename, store(each.stream)) for each in attachments]
    with transaction.atomic():
        # Of two requests at once, the second one waits, and then counts the first.
        get_user_model().objects.select_for_update(no_key=True).get(pk=user.pk)
        list(Organisation.objects.select_for_update(no_key=True).filter(pk__in=organisations).order_by("pk"))
        locked = Run.objects.select_for_update(of=("self",)).select_related("submission").get(pk=run.pk)
        _refuse_unfileable(locked, user, text, organisation, organisations, attachments)
        _refuse_beyond_quotas(user, organisations)
        objection = Objection.objects.create(
            run=locked,
            filed_by_id=user.pk,
            filed_at=timezone.now(),
            organisation=organisation,
            organisations=sorted(organisations),
            text=text.strip(),
            state=ObjectionState.RECEIVED,
            **limit_of(ObjectionState.RECEIVED),
        )
        ObjectionFile.objects.bulk_create(_rows(objection, stored))
        details = {"objection": objection.public_id, "state": str(objection.state)}
        if objection.deadline:
            details["deadline"] = objection.deadline.isoformat()
        record_event(user, RECEIVED_KIND, objection_subject(objection), "", details)
    return objection


def open_objection_of(run: Run, user: AbstractBaseUser) -> Objection | None:
    """Return the objection of a user to a run that is not final, or None."""
    return Objection.objects.filter(run=run, filed_by=user.pk).exclude(state__in=FINAL_STATES).first()


def is_open_to_objections(run: Run) -> bool:
    """Return whether anyone may object to a run: it is public, and neither withdrawn nor an example."""
    return (
        run.visibility in OPEN_TO_OBJECTIONS and not run.is_demo and not run.is_virtual and run.product_id is not None
    )


def usage_of_account(user: AbstractBaseUser) -> ObjectionUsage:
    """Return the quota of an account, and what is used of it."""
    return _usage(Objection.objects.filter(filed_by=user.pk), settings.OBJECTIONS_PER_ACCOUNT)


def usage_of_organisation(organisation_id: int) -> ObjectionUsage:
    """Return the quota that the members of an organisation share, and what is used of it."""
    own = Objection.objects.filter(organisations__contains=[organisation_id])
    return _usage(own, settings.OBJECTIONS_PER_ORGANISATION)


def _usage(objections: QuerySet[Objection], most: int) -> ObjectionUsage:
    recent = objections.filter(filed_at__gt=timezone.now() - PERIOD).order_by("filed_at", "pk")
    filed = list(recent.values_list("filed_at", flat=True))
    excess = len(filed) - most
    return ObjectionUsage(len(filed), most, filed[excess] + PERIOD if excess >= 0 and filed else None)


def _refuse_beyond_quotas(user: AbstractBaseUser, organisations: frozenset[int]) -> None:
    usage = usage_of_account(user)
    if usage.free_at is not None:
        raise ObjectionQuotaError(_quota_message("You have filed", usage), usage.free_at)
    for organisation in Organisation.objects.filter(pk__in=organisations).order_by("pk"):
        usage = usage_of_organisation(organisation.pk)
        if usage.free_at is not None:
            raise ObjectionQuotaError(_quota_message(f"Members of {organisation} have filed", usage), usage.free_at)


def _quota_message(who: str, usage: ObjectionUsage) -> str:
    return (
        f"Nothing was stored. {who} {usage.used} objections in the last 24 hours; {usage.most} are allowed. The next "
        f"one is possible at {usage.free_at:%Y-%m-%d %H:%M} UTC."
    )


def _refuse_unfileable(
    run: Run,
    user: AbstractBaseUser,
    text: str,
    organisation: Organisation | None,
    organisations: frozenset[int],
    attachments: Sequence[Attachment],
) -> None:
    refuse_withheld_run(run)
    if not is_open_to_objections(run):
        raise ReviewRefusedError(
            f"Run {run.public_id} is {run.visibility}. Objections are possible only to a result that is public and not "
            "withdrawn."
        )
    if run.submission is not None and run.submission.organisation_id in organisations:
        raise ReviewRefusedError(
            f"Your organisation submitted run {run.public_id}. Withdraw the result, or answer questions of reviewers, "
            "on the page of its submission instead."
        )
    if organisation is not None and organisation.pk not in organisations:
        raise ReviewRefusedError(f"You are no member of {organisation}. Choose one of your own organisations.")
    if not text.strip():
        raise ReviewRefusedError("Enter what is wrong with the result, and what shows it.")
    if len(text) > TEXT_CHARS_MAX:
        raise ReviewRefusedError(f"Expected at most {TEXT_CHARS_MAX:,} characters of text, got {len(text):,}.")
    if len(attachments) > FILES_MAX:
        raise ReviewRefusedError(
            f"Expected at most {FILES_MAX} files, got {len(attachments)}. Put them into one tar or zip."
        )
    if other := open_objection_of(run, user):
        raise ReviewRefusedError(
            f"Your objection {other.public_id} to this result is not decided yet. A user has one open objection to a "
            "result."
        )


def _rows(objection: Objection, files: Sequence[tuple[str, Stored]]) -> list[ObjectionFile]:
    """Return the rows of attachments; the same bytes only once."""
    first = {stored.sha256: (name, stored) for name, stored in reversed(files)}
    return [
        ObjectionFile(
            objection=objection, filename=name[-FILENAME_CHARS:], sha256=stored.sha256, size_bytes=stored.size_bytes
        )
        for name, stored in reversed(first.values())
    ]
