"""Devices of a run in comparison: the shares of each device's own reads, over the whole run and in its worst slice."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from results.models import Histogram, Run, Verdict
from results.rules.act.limits import Limit, over_count
from webapp.register.runs.slices import ReadLimit, SliceShare, read_limits, share_over
from webapp.templatetags import units

ROLE = "reads-of-device"
SHOWN_DEVICES = 128  # a configuration cannot name more
ROWS_MAX = 20_000  # slices times histograms that a page evaluates; the CSV of the histograms has all
WORST_OMITTED = "The log has too many slices to show each device's worst one here; the CSV of the histograms has them."


def devices_view(run: Run, verdict: Verdict | None, own: Sequence[Limit] = ()) -> dict[str, Any] | None:
    """Return the devices of a run for comparison; None if it has fewer than two."""
    histograms = list(run.histograms.filter(role=ROLE)[:SHOWN_DEVICES])
    if len(histograms) < 2:
        return None
    has_worst = run.slices.count() * max(each.ordinal + 1 for each in histograms) <= ROWS_MAX
    slices = list(run.slices.values_list("counts", flat=True)) if has_worst else []
    limits = read_limits(histograms[0], verdict, own)
    sizes = {str(each["name"]): units.size(each["size_bytes"]) for each in run.facts.get("devices", [])}
    rows = [_row(each, slices, limits, sizes.get(each.device, "")) for each in histograms]
    return {"limits": limits, "rows": rows, "has_worst": has_worst, "sentence": "" if has_worst else WORST_OMITTED}


def _row(histogram: Histogram, slices: Sequence[Any], limits: Sequence[ReadLimit], size: str) -> dict[str, Any]:
    """Return one device: its shares over the whole run, and in its worst slice for each threshold."""
    own = [counts[histogram.ordinal] for counts in slices if histogram.ordinal < len(counts)]
    parts = [(counts, sum(counts)) for counts in own if counts and counts[0] is not None]
    return {
        "name": histogram.device or histogram.name,
        "size": size,
        "ops": histogram.ops_count,
        "whole": [_largest_share([(histogram.counts, histogram.ops_count)], limit) for limit in limits],
        "worst": [_largest_share(parts, limit) for limit in limits],
    }


def _largest_share(parts: Sequence[tuple[Sequence[int], int]], limit: ReadLimit) -> SliceShare | None:
    """Return the largest share of parts, given their counts and operations; None if none of them has operations."""
    counted = [part for part in parts if part[1]]
    if not counted:
        return None
    counts, ops_count = max(
        counted, key=lambda part: Decimal(over_count(part[0], part[1], limit.first_bucket)) / part[1]
    )
    return share_over(counts, ops_count, limit)
