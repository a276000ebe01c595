"""What speaks so gravely against publishing a submission that a reviewer has to accept it sentence by sentence."""

from collections.abc import Iterable

from django.db.models import Exists, OuterRef, Q, QuerySet

from results.access.intervals import is_withheld
from results.lifecycle.submission_states import StatedSubmission
from results.models import Run, Submission
from webapp.register.limits.virtual_devices import VIRTUAL_DEVICE_REASON, virtual_devices_sentence
from webapp.submissions.sizes import size_sentences

WITHHELD = "The log is withheld for legal reasons: whether its devices are the drive stated cannot be seen here."


def with_virtual_device_flag(submissions: QuerySet[StatedSubmission]) -> QuerySet[StatedSubmission]:
    """Return the submissions with `has_virtual_device`, for a mark beside their state.

    True where the lab, a side file or the name of a device tells of memory or a file; of a withheld log, too: the mark
    names no device.
    """
    runs = Run.objects.filter(submission=OuterRef("pk"))
    told = Q(is_virtual=True) | Exists(runs.filter(Q(is_virtual=True) | Q(is_on_no_drive=True)))
    return submissions.annotate(has_virtual_device=told)


def review_warnings(submission: Submission, runs: Iterable[Run]) -> list[str]:
    """Return why the log may be of no drive, or of another one; none where nothing speaks against it.

    What a side file proves to be no drive is not published at all (results.lifecycle.visibility); a name alone is
    weighed here. Of a
    withheld log no device is named: the sentences stand in the run's history.
    """
    every = list(runs)
    if any(is_withheld(run) for run in every):
        return [WITHHELD]
    words = virtual_devices_sentence(every)
    return ([f"{words}: {VIRTUAL_DEVICE_REASON}."] if words else []) + size_sentences(submission, every)
