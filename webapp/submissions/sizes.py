"""Whether the devices of a log can be the drive that a submission states."""

from collections.abc import Iterable, Sequence
from decimal import Decimal

from results.access.intervals import is_withheld
from results.models import Run, Submission
from webapp.register.limits.virtual_devices import first_names
from webapp.templatetags import units

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
