"""Files that their organisation sent by mistake: an owner has one hidden, and an operator ends that.

Only operators see a hidden file, its name and its hash. Its bytes stay, and the workers still read them. The log of a
public result is not hidden: its sender withdraws the result first. A result whose log is hidden does not become public
(results/lifecycle/visibility.py). The same file in several submissions of the organisation is hidden in all of them.
"""

from collections.abc import Iterable

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from results.access.withholding import files_of
from results.errors import ReviewRefusedError
from results.history import FILE_HIDDEN, FILE_SHOWN, RUN_FILE_HIDDEN, RUN_FILE_SHOWN, record_event, run_subject
from results.lifecycle import visibility
from results.models import Evidence, HiddenFile, Run, Submission, Visibility

SHOWN_TO_EVERYONE = frozenset({Visibility.PUBLIC, Visibility.SUPERSEDED, Visibility.WITHDRAWN})
LISTED = SHOWN_TO_EVERYONE - {Visibility.WITHDRAWN}


def hide_file(
    submission: Submission, evidence_id: int, owner: AbstractBaseUser, reason: HiddenFile.Reason, note: str = ""
) -> HiddenFile:
    """Hide one file of a submission at once. The caller checks that the user is an owner of its organisation.

    Raises ReviewRefusedError for a file of another submission, for one that is hidden, and for the log of a result that
    is public or returns to the public after a takedown.
    """
    with transaction.atomic():
        submissions = _locked_submissions(evidence_id)
        evidence = next((each for each in files_of(submission) if each.pk == evidence_id), None)
        if evidence is None:
            raise ReviewRefusedError("The submission has no such file. Load its page again.")
        if any(each.demo_run_id for each in submissions):
            raise ReviewRefusedError("The submission is an example of the register. Its files stay public.")
        for run in Run.objects.filter(submission__log=evidence).order_by("pk"):
            visibility.lock_run(run)
        public_run = run_with_public_log(evidence)
        if public_run is not None:
            raise ReviewRefusedError(public_log_sentence(public_run))
        if current_hidings().filter(evidence=evidence).exists():
            raise ReviewRefusedError("The file is hidden already. Load the page of the submission again.")
        hidden = HiddenFile.objects.create(
            evidence=evidence,
            submission=submission,
            reason=reason,
            note=note.strip(),
            requested_by_id=owner.pk,
            requested_at=timezone.now(),
        )
        Evidence.objects.filter(pk=evidence.pk).update(hidden=True)
        _record(owner, (FILE_HIDDEN, RUN_FILE_HIDDEN), hidden, submissions, reason.label, {"ground": reason.value})
    return hidden


def end_hiding(hidden: HiddenFile, operator: AbstractBaseUser, reason: str) -> None:
    """Show a hidden file again, with the reason in the history. Raises ReviewRefusedError if it is not hidden."""
    if not reason.strip():
        raise ReviewRefusedError("Enter a reason. The history of the submission shows it.")
    with transaction.atomic():
        submissions = _locked_submissions(hidden.evidence_id)
        if not current_hidings().filter(pk=hidden.pk).exists():
            raise ReviewRefusedError("The file is no longer hidden.")
        ended = {"ended_by": operator.pk, "ended_at": timezone.now(), "end_reason": reason.strip()}
        HiddenFile.objects.filter(pk=hidden.pk).update(**ended)
        Evidence.objects.filter(pk=hidden.evidence_id).update(hidden=False)
        _record(operator, (FILE_SHOWN, RUN_FILE_SHOWN), hidden, submissions, reason.strip(), {})


def current_hidings() -> QuerySet[HiddenFile]:
    """Return the hidings that have not ended."""
    return HiddenFile.objects.filter(ended_at__isnull=True).select_related("submission__organisation", "evidence")


def hidings_of(files: Iterable[Evidence]) -> dict[int, HiddenFile]:
    """Return the current hidings of files by the key of the file; without a query if none of them is hidden."""
    keys = [each.pk for each in files if each.hidden]
    return {each.evidence_id: each for each in current_hidings().filter(evidence__in=keys)} if keys else {}


def run_with_public_log(evidence: Evidence) -> Run | None:
    """Return a run of the file that is public, or returns to the public after a takedown; None without one."""
    after_takedown = Q(
        visibility=Visibility.SEQUESTERED, takedowns__ended_at__isnull=True, takedowns__before__in=LISTED
    )
    of_log = Run.objects.filter(submission__log=evidence)
    return of_log.filter(Q(visibility__in=LISTED) | after_takedown).order_by("pk").first()


def public_log_sentence(run: Run) -> str:
    """Return why the log of a run cannot be hidden now, and what to do."""
    if run.visibility == Visibility.SEQUESTERED:
        return (
            f"The log of run {run.public_id} cannot be hidden during its takedown: the result may return to the "
            "public. Only operators see its files now. If the takedown ends, withdraw the result, then hide the log."
        )
    return (
        f"The log of run {run.public_id} cannot be hidden while the result is public. Withdraw the result first, then "
        "hide the log."
    )


def _locked_submissions(evidence_id: int) -> list[Submission]:
    """Lock the submissions with a file, in the order of their keys, and return them."""
    having = Q(log=evidence_id) | Q(side_file=evidence_id) | Q(companions__evidence=evidence_id)
    keys = Submission.objects.filter(having).values("pk")
    return list(Submission.objects.select_for_update().filter(pk__in=keys).order_by("pk"))


def _record(
    actor: AbstractBaseUser,
    kinds: tuple[str, str],
    hidden: HiddenFile,
    submissions: Iterable[Submission],
    reason: str,
    details: dict[str, str],
) -> None:
    """Record the change in each submission with the file, and in each run of them that was public."""
    for_submission, for_run = kinds
    for submission in submissions:
        part = "log" if submission.log_id == hidden.evidence_id else "attachment"
        stated = details | {"file": part}
        record_event(actor, for_submission, ("submission", submission.public_id), reason, dict(stated))
        shown = SHOWN_TO_EVERYONE | {Visibility.SEQUESTERED}
        for run in submission.runs.filter(visibility__in=shown).order_by("pk"):
            record_event(actor, for_run, run_subject(run), reason, dict(stated))
