"""Warnings that a reviewer must accept, one by one, before a submission is published."""

from collections.abc import Iterable
from decimal import Decimal

from django.db.models import Exists, OuterRef, Q, QuerySet

from results.access.withholding import Cause, cause_of_log, files_of, has_withheld_file, is_withheld
from results.lifecycle.submission_states import StatedSubmission
from results.models import Run, Submission
from webapp.register.limits.virtual_devices import VIRTUAL_DEVICE_REASON, first_names, virtual_devices_sentence
from webapp.templatetags import units

WITHHELD = "The log is withheld for legal reasons, so its devices cannot be compared with the stated drive."

HIDDEN_LOG = (
    "The log is hidden on request of its organisation, so no reviewer can check it. The submission cannot be approved."
)
HIDDEN_FILE = "A file that came with the log is hidden on request of its organisation, so the evidence is incomplete."


def with_virtual_device_flag(submissions: QuerySet[StatedSubmission]) -> QuerySet[StatedSubmission]:
    """Return the submissions with `has_virtual_device`, for a mark next to their state.

    True if the lab, a side file or a device name shows memory or a file; also for a withheld log, because the mark
    names no device.
    """
    runs = Run.objects.filter(submission=OuterRef("pk"))
    is_virtual = Q(is_virtual=True) | Exists(runs.filter(Q(is_virtual=True) | Q(is_on_no_drive=True)))
    return submissions.annotate(has_virtual_device=is_virtual)


def review_warnings(submission: Submission, runs: Iterable[Run]) -> list[str]:
    """Return why the log may be of a virtual device or of another drive; empty without warnings.

    A virtual device that a side file proves is never published (results.lifecycle.visibility); here only names count.
    For a withheld log, no device is named, because the history of the run shows the sentences. A hidden file is a
    warning of its own.
    """
    every = list(runs)
    withheld = next((run for run in every if is_withheld(run)), None)
    if withheld is not None:
        return [WITHHELD if cause_of_log(withheld) == Cause.LEGAL else HIDDEN_LOG]
    words = virtual_devices_sentence(every)
    found = ([f"{words}: {VIRTUAL_DEVICE_REASON}."] if words else []) + size_sentences(submission, every)
    is_incomplete = any(map(has_withheld_file, every)) and any(file.hidden for file in files_of(submission))
    return [*found, HIDDEN_FILE] if is_incomplete else found


GB_BYTES = 10**9
LEAST_PART, MOST_PART = Decimal("0.9"), Decimal("1.1")  # a drive sold as 960 GB holds 960.2; TiB against TB is 1.0995


def size_sentences(submission: Submission, runs: Iterable[Run]) -> list[str]:
    """Return a sentence for each device size that differs from the stated capacity, also for partitions.

    A smaller device may be over-provisioned: the stated percentage is subtracted from the capacity. A withheld log
    gives no sentence: its devices are withheld too.
    """
    capacity_gb = submission.product.capacity_gb if submission.product else submission.capacity_gb
    if not capacity_gb:
        return []
    part = 1 - (submission.over_provisioning_pct or Decimal(0)) / 100
    sentences = []
    for size_bytes, names in _names_by_size(runs).items():
        if not is_near(size_bytes, capacity_gb, part):
            size = units.size(size_bytes)
            devices = f"{names[0]} has {size}" if len(names) == 1 else f"{first_names(names)} have {size} each"
            sentences.append(f"{devices}; the stated drive has {units.capacity(capacity_gb)}.")
    return sentences


def is_near(size_bytes: int, capacity_gb: int, part: Decimal = Decimal(1)) -> bool:
    """Return whether a device may be a drive of a capacity, of which `part` is left after over-provisioning."""
    capacity_bytes = capacity_gb * GB_BYTES
    return capacity_bytes * LEAST_PART * part <= size_bytes <= capacity_bytes * MOST_PART


def _names_by_size(runs: Iterable[Run]) -> dict[int, list[str]]:
    """Return the devices of all runs by size, each once, if the size is known."""
    visible = [run for run in runs if not is_withheld(run)]
    devices = {(each["name"], each["size_bytes"]) for run in visible for each in run.facts.get("devices", [])}
    found: dict[int, list[str]] = {}
    for name, size_bytes in sorted(devices, key=str):
        if size_bytes:
            found.setdefault(size_bytes, []).append(str(name))
    return found
