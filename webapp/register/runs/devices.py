"""Each device of a run beside the others: the shares of its own reads, over the whole run and in its worst slice."""

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
SHOWN_DEVICES = 128  # as many as a configuration may name
ROWS_MAX = 20_000  # slices times histograms that a page looks through; the histograms' CSV has all
NOT_LOOKED_AT = (
    "The log has too many slices to look for each device's worst one here; the CSV of the histograms has them."
)


@dataclass(frozen=True)
class DeviceShare:
    """A share of one device over one threshold; `slice_number` is that of its worst slice, None of the whole run."""

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
        """What is left out."""
        return "" if self.has_worst else NOT_LOOKED_AT


@dataclass(frozen=True)
class _Counted:
    number: int | None
    counts: Sequence[int]
    ops_count: int


def devices_view(run: Run, verdict: Verdict | None, own: Sequence[Limit] = ()) -> DevicesView | None:
    """Return the devices of a run side by side; None where there is nothing to compare."""
    histograms = list(run.histograms.filter(role=ROLE)[:SHOWN_DEVICES])
    if len(histograms) < 2:
        return None
    slices, has_worst = _slices(run, histograms)
    limits = read_limits(histograms[0], verdict, own)
    sizes = {str(each["name"]): units.size(each["size_bytes"]) for each in run.facts.get("devices", [])}
    rows = [_row(each, slices, limits, sizes.get(each.device, "")) for each in histograms]
    return DevicesView(limits, rows, has_worst)


def _slices(run: Run, histograms: Sequence[Histogram]) -> tuple[list[Any], bool]:
    """Return number and counts of all slices, where these are not too many for a page."""
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
    """Return the largest share of some parts; None where none of them holds an operation."""
    counted = [(over_count(part.counts, part.ops_count, limit.first_bucket), part) for part in parts if part.ops_count]
    if not counted:
        return None
    over, part = max(counted, key=lambda each: Decimal(each[0]) / each[1].ops_count)
    is_over = not is_count_within(over, part.ops_count, limit.limit.limit_pct)
    exact = exact_share_pct(over, part.ops_count)
    mark = nearness_mark(exact, limit.limit.limit_pct, is_over=is_over)
    told = part.number, limit.limit.threshold_us, over, part.ops_count, exact
    text = units.share(str(act_share_pct(over, part.ops_count)), over)
    return DeviceShare(text, is_over, mark, *told)
