"""What a publication's figures were measured as: told by the version of ACT, and by what a table of drives is of."""

from typing import Any

from results.models import Run, Statistic
from results.models.categories import OF_DRIVES

SERVICE, WITH_QUEUE = "service", "queue-and-service"  # the words of `time` in verdicts
LAST_WITH_QUEUE = 5  # up to 5.3 `reads` holds the time in the queue; from 6.0 on there is no queue


def time_of_version(version: str) -> str | None:
    """Return which time the published shares hold; None where the version is not stated.

    A publication prints the shares of `reads`. Source: aerospike/act, histograms of act_storage up to 5.3 and from 6.0.

    >>> [time_of_version(version) for version in ("5.3", "6.0", "3", "", "x")]
    ['queue-and-service', 'service', 'queue-and-service', None, None]
    """
    major = version.partition(".")[0]
    if not (major.isascii() and major.isdigit()):
        return None
    return WITH_QUEUE if int(major) <= LAST_WITH_QUEUE else SERVICE


def as_one_drive(run: Run) -> dict[str, Any]:
    """Return the number of devices where a table of drives, not of instances or networks, leaves it unsaid: one."""
    return {"device_count": 1} if is_taken_as_one(run) else {}


def is_taken_as_one(run: Run) -> bool:
    """Tell whether a run's number of devices is taken from what its publication is a table of."""
    is_of_drives = run.product is not None and run.product.category in OF_DRIVES
    return run.device_count is None and run.statistic == Statistic.STEADY_AS_PUBLISHED and is_of_drives


def taken_note(name: str, run: Run) -> str:
    """Return what is said to a number of devices that nobody stated."""
    return " (one drive taken: not stated)" if name == "device_count" and is_taken_as_one(run) else ""
