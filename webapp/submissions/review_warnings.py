"""Warnings that a reviewer must accept, one by one, before a submission is published."""

from collections.abc import Iterable, Sequence
from decimal import Decimal

from django.db.models import Exists, OuterRef, Q, QuerySet

from results.access.redaction import is_withheld
from results.lifecycle.submission_states import StatedSubmission
from results.models import Run, Submission
from webapp.register.limits.virtual_devices import VIRTUAL_DEVICE_REASON, first_names, virtual_devices_sentence
from webapp.templatetags import units

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


GB_BYTES = 10**9
LEAST_PART, MOST_PART = Decimal("0.9"), Decimal("1.1")  # a drive sold as 960 GB holds 960.2; TiB against TB is 1.0995


def size_sentences(submission: Submission, runs: Iterable[Run]) -> list[str]:
    """Return a sentence for each size of the logs' devices that is not the capacity stated; partitions are told too.

    A smaller device may be over-provisioned: what the submission says of that is taken off the capacity. Of a withheld
    log nothing is said: its devices are withheld with it.
    """
    capacity_gb = submission.product.capacity_gb if submission.product else submission.capacity_gb
    if not capacity_gb:
        return []
    most = capacity_gb * GB_BYTES * MOST_PART
    part = 1 - (submission.over_provisioning_pct or Decimal(0)) / 100
    least = capacity_gb * GB_BYTES * LEAST_PART * part
    return [
        f"{_each_holds(names, size_bytes)}; the drive stated holds {units.capacity(capacity_gb)}."
        for size_bytes, names in _names_by_size(runs).items()
        if not least <= size_bytes <= most
    ]


def _names_by_size(runs: Iterable[Run]) -> dict[int, list[str]]:
    """Return the devices of all runs by their size, each once, where it is told."""
    told = [run for run in runs if not is_withheld(run)]
    devices = {(each["name"], each["size_bytes"]) for run in told for each in run.facts.get("devices", [])}
    found: dict[int, list[str]] = {}
    for name, size_bytes in sorted(devices, key=str):
        if size_bytes:
            found.setdefault(size_bytes, []).append(str(name))
    return found


def _each_holds(names: Sequence[str], size_bytes: int) -> str:
    size = units.size(size_bytes)
    return f"{names[0]} holds {size}" if len(names) == 1 else f"{first_names(names)} hold {size} each"
