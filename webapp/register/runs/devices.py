"""Devices of a run in comparison: the shares of each device's own reads, over the whole run and in its worst slice."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from results.models import Histogram, Run, Verdict
from results.rules.act.limits import Limit, act_share_pct, exact_share_pct, is_count_within, over_count
from webapp.register.runs.slices import ReadLimit, read_limits
from webapp.register.tables.marks import NearnessMark, nearness_mark
from webapp.templatetags import units

ROLE = "reads-of-device"
SHOWN_DEVICES = 128  # a configuration cannot name more
ROWS_MAX = 20_000  # slices times histograms that a page evaluates; the CSV of the histograms has all
WORST_OMITTED = "The log has too many slices to show each device's worst one here; the CSV of the histograms has them."


@dataclass(frozen=True)
class DeviceShare:
    """A share of one device over one threshold; `slice_number` is that of its worst slice, None for the whole run."""

    text: str
    is_over: bool
    nearness: NearnessMark | None
    slice_number: int | None
    threshold_us: int
    over_count: int
    ops_count: int
    exact_pct: Decimal


@dataclass(frozen=True)
class DeviceRow:
    """One device: its shares over the whole run, and in the worst slice for each threshold."""

    name: str
    size: str
    ops: str
    whole: list[DeviceShare | None]
    worst: list[DeviceShare | None]


@dataclass(frozen=True)
class DevicesView:
    """The devices of a run that has several."""

    limits: list[ReadLimit]
    rows: list[DeviceRow]
    has_worst: bool

    @property
    def sentence(self) -> str:
        """Return the note about omitted values."""
        return "" if self.has_worst else WORST_OMITTED


@dataclass(frozen=True)
class _Counted:
    number: int | None
    counts: Sequence[int]
    ops_count: int


def devices_view(run: Run, verdict: Verdict | None, own: Sequence[Limit] = ()) -> DevicesView | None:
    """Return the devices of a run for comparison; None if it has fewer than two."""
    histograms = list(run.histograms.filter(role=ROLE)[:SHOWN_DEVICES])
    if len(histograms) < 2:
        return None
    slices, has_worst = _slices(run, histograms)
    limits = read_limits(histograms[0], verdict, own)
    sizes = {str(each["name"]): units.size(each["size_bytes"]) for each in run.facts.get("devices", [])}
    rows = [_row(each, slices, limits, sizes.get(each.device, "")) for each in histograms]
    return DevicesView(limits, rows, has_worst)


def _slices(run: Run, histograms: Sequence[Histogram]) -> tuple[list[Any], bool]:
    """Return the number and counts of all slices, unless there are too many for a page."""
    if run.slices.count() * max(each.ordinal + 1 for each in histograms) > ROWS_MAX:
        return [], False
    return list(run.slices.values_list("number", "counts")), True


def _row(histogram: Histogram, slices: Sequence[Any], limits: Sequence[ReadLimit], size: str) -> DeviceRow:
    whole = _Counted(None, histogram.counts, histogram.ops_count)
    parts = list(_parts(histogram.ordinal, slices))
    return DeviceRow(
        name=histogram.device or histogram.name,
        size=size,
        ops=units.count(histogram.ops_count),
        whole=[_share([whole], limit) for limit in limits],
        worst=[_share(parts, limit) for limit in limits],
    )


def _parts(ordinal: int, slices: Sequence[Any]) -> Iterable[_Counted]:
    for number, counts in slices:
        own = counts[ordinal] if ordinal < len(counts) else []
        if own and own[0] is not None:
            yield _Counted(number, own, sum(own))


def _share(parts: Iterable[_Counted], limit: ReadLimit) -> DeviceShare | None:
    """Return the largest share of the parts; None if none of them has operations."""
    counted = [(over_count(part.counts, part.ops_count, limit.first_bucket), part) for part in parts if part.ops_count]
    if not counted:
        return None
    over, part = max(counted, key=lambda each: Decimal(each[0]) / each[1].ops_count)
    is_over = not is_count_within(over, part.ops_count, limit.limit.limit_pct)
    exact = exact_share_pct(over, part.ops_count)
    mark = nearness_mark(exact, limit.limit.limit_pct, is_over=is_over)
    text = units.share(str(act_share_pct(over, part.ops_count)), over)
    return DeviceShare(text, is_over, mark, part.number, limit.limit.threshold_us, over, part.ops_count, exact)
