"""What a run's page says of the intervals that are kept with it, and where they are."""

from dataclasses import dataclass

from django.urls import reverse

from results.access.intervals import is_withheld
from results.access.mirrors import is_mirrored
from results.ingest.act import YCSB
from results.models import Run
from webapp.templatetags import units

WITHHELD = "withheld with the log, for legal reasons"
NOT_IN_DUMPS = "not here: dumps hold none"
NOT_STORED = "not stored: the log was read before they were kept, or holds no report"


@dataclass(frozen=True)
class Minutes:
    """A sentence about a run's minutes; the address of its seconds where it is too short to have minutes."""

    sentence: str
    has_any: bool = False
    seconds_address: str = ""


def minutes_of(run: Run, query: str) -> Minutes:
    """Say how a run's intervals are kept; nothing for a run of YCSB, which has status lines."""
    if run.workload == YCSB:
        return Minutes("")
    if is_withheld(run):
        return Minutes(WITHHELD)
    if is_mirrored(run):
        return Minutes(NOT_IN_DUMPS)
    if not hasattr(run, "series"):
        return Minutes(NOT_STORED)
    series = run.series
    if series.intervals_count:
        counted = units.counted(series.intervals_count, "interval")
        return Minutes(f"{counted} of {units.duration(series.interval_s)}", has_any=True)
    seconds = reverse("api-run-intervals", args=[run.public_id]) + (f"{query}&" if query else "?") + "every_s=1"
    held, minute = units.duration(run.duration_s), units.duration(series.interval_s)
    return Minutes(f"none: the log holds {held}, an interval is {minute};", seconds_address=seconds)
