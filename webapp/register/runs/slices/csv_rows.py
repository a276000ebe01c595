"""The slices of a run as a CSV has them: all, with counts and shares by edge, without what a page draws beside."""

from collections.abc import Iterator, Sequence

from results.access.histogram_slices import HistogramSlice, each_slice
from results.models import Run, Verdict
from results.rules.act.limits import act_share_pct, over_count
from webapp.register.http.files import Value
from webapp.register.runs.slices.shares import ReadLimit, read_limits

PLACE = ["histogram", "slice", "start_s", "end_s", "first_line", "last_line", "ops_count"]


def slice_lines(run: Run, verdict: Verdict | None) -> tuple[list[str], Iterator[list[Value]]] | None:
    """Return header and lines, read as they are taken; None of a run without the histogram that verdicts are about."""
    histogram = run.histograms.judged().first()
    if histogram is None:
        return None
    limits = read_limits(histogram, verdict)
    header = PLACE + [f"{kind}_at_{limit.read_at_us}us" for limit in limits for kind in ("over_count", "over_pct")]
    slices = each_slice(run.slices.of_histogram(histogram.ordinal))
    return header, (_line(histogram.name, each, limits) for each in slices)


def _line(name: str, each: HistogramSlice, limits: Sequence[ReadLimit]) -> list[Value]:
    line: list[Value] = [name, each.number, each.start_s, each.end_s, each.first_line, each.last_line, each.ops_count]
    for limit in limits:
        over = over_count(each.counts, each.ops_count, limit.first_bucket)
        share_pct = act_share_pct(over, each.ops_count)
        line += [over, None if share_pct is None else str(share_pct)]
    return line
