"""Whether the devices of a log can be the drive that a submission states."""

from collections.abc import Iterable
from decimal import Decimal

from results.models import Run, Submission
from webapp.templatetags import units

GB_BYTES = 10**9
LEAST_PART, MOST_PART = Decimal("0.9"), Decimal("1.1")  # a drive sold as 960 GB holds 960.2; TiB against TB is 1.0995


def size_sentences(submission: Submission, runs: Iterable[Run]) -> list[str]:
    """Return a sentence for each device of the logs that is no drive of the capacity stated; partitions are told too.

    A smaller device may be over-provisioned: what the submission says of that is taken off the capacity.
    """
    capacity_gb = submission.product.capacity_gb if submission.product else submission.capacity_gb
    if not capacity_gb:
        return []
    most = capacity_gb * GB_BYTES * MOST_PART
    part = 1 - (submission.over_provisioning_pct or Decimal(0)) / 100
    least = capacity_gb * GB_BYTES * LEAST_PART * part
    sizes = {(each["name"], each["size_bytes"]) for run in runs for each in run.facts.get("devices", [])}
    return [
        f"{name} holds {units.size(size_bytes)}; the drive stated holds {units.capacity(capacity_gb)}."
        for name, size_bytes in sorted(sizes, key=str)
        if size_bytes and not least <= size_bytes <= most
    ]
