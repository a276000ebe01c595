"""The distribution of the read times of a product's headline run, from the histogram that verdicts use."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils.safestring import SafeString

from results.access.withholding import is_withheld
from results.models import Histogram, Run
from results.rules.act.limits import Limit, act_share_pct
from webapp.register.runs.slices import ReadLimit, bucket_text, read_limits
from webapp.register.svg.panels import Bar, EdgeLine, distribution_svg
from webapp.templatetags import units

BUCKETS_MIN = 2  # a single bucket is no distribution


@dataclass(frozen=True)
class Distribution:
    """The drawing, whether it has a line for a threshold, and the address of the table that has its values."""

    run_id: str
    address: str
    svg: SafeString
    has_thresholds: bool


def distribution_of(run: Run, limits: Sequence[Limit]) -> Distribution | None:
    """Return the distribution of a run; None without a histogram of several buckets, and for a withheld log."""
    if run.reading_id is None or is_withheld(run):
        return None
    histogram = run.judged_histogram
    used = [bucket for bucket, count in enumerate(histogram.counts) if count] if histogram else []
    if histogram is None or len(used) < BUCKETS_MIN:
        return None
    read = read_limits(histogram, None, limits)
    first, last = used[0], used[-1]
    bars = [_bar(histogram, bucket, read) for bucket in range(first, last + 1)]
    edges = [
        EdgeLine(limit.first_bucket - first, units.threshold(limit.read_at_us))
        for limit in read
        if first < limit.first_bucket <= last
    ]
    name = f"Read times of run {run.public_id}, by bucket of its log, on a logarithmic scale"
    address = reverse("run-detail", args=[run.public_id]) + "#buckets"
    return Distribution(run.public_id, address, distribution_svg(name, bars, edges), bool(edges))


def _bar(histogram: Histogram, bucket: int, limits: Sequence[ReadLimit]) -> Bar:
    count = histogram.counts[bucket]
    share = units.share(str(act_share_pct(count, histogram.ops_count)), count)
    label = f"{bucket_text(histogram, bucket)}: {share} % of reads, {units.count(count)}"
    over = sum(bucket >= limit.first_bucket for limit in limits)
    return Bar(count * 100 / histogram.ops_count, label, over)
