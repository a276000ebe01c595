"""What the histograms of a run measure: queue and service, or service alone; which was judged, which compares."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from results.access.intervals import is_withheld
from results.models import Histogram, Run, Verdict
from results.rules.act.limits import Limit, exact_share_pct, is_count_within
from webapp.register.runs.page import STATISTIC_WORDS, Figure
from webapp.register.tables.marks import nearness_mark
from webapp.templatetags import units

SHOWN_HISTOGRAMS = 200  # a log of 128 devices has some 260
QUEUE = "queue-and-service"
TIME_WORDS = {QUEUE: "time in queue and service", "service": "service time", "": "not known"}
ROLE_WORDS = {
    "reads": "reads, as the program counts them",
    "writes": "writes, as the program counts them",
    "device-reads": "reads at the devices",
    "device-writes": "writes at the devices",
    "reads-of-device": "reads of one device",
    "writes-of-device": "writes of one device",
    "large-block-reads": "large-block reads",
    "large-block-writes": "large-block writes",
}
QUEUED = "They count from when a request was due, time in the program's queue included, as ACT up to 5.3 judged."
NOT_COMPARED = "None of its histograms compares with other versions."
WITHHELD = "Those of single devices are withheld with the log."


@dataclass(frozen=True)
class HistogramRow:
    """One histogram of the log: what it counts, which time it holds, and what is done with it."""

    name: str
    counts: str
    time: str
    ops: str
    use: str


@dataclass(frozen=True)
class TimesView:
    """What is said of the times in a log; `compared` are the shares of the histogram that comparisons take."""

    judged_sentence: str
    compared_name: str
    compared: list[Figure]
    rows: list[HistogramRow]
    total: int
    withheld_sentence: str

    @property
    def cut_sentence(self) -> str:
        """What the page of a log with very many histograms leaves out."""
        if self.total <= len(self.rows):
            return ""
        return f"The first {units.count(len(self.rows))} of {units.count(self.total)}."


def times_view(run: Run, verdict: Verdict | None, limits: Sequence[Limit]) -> TimesView:
    """Return which histogram of a run was judged, which one compares with other versions, and what each holds.

    Those of single devices bear the names of these, which are withheld with the log.
    """
    every = run.histograms.defer("counts")
    # Early readings told no device of a histogram: its name begins with the device's path.
    histograms = every.filter(device="").exclude(name__contains="/") if is_withheld(run) else every
    document: Mapping[str, Any] = verdict.document if verdict else {}
    compared = document.get("compared")
    return TimesView(
        judged_sentence=judged_sentence(document),
        compared_name=compared["histogram"] if compared else "",
        compared=_figures(compared["shares"], limits) if compared else [],
        rows=[_row(each, run) for each in histograms[:SHOWN_HISTOGRAMS]],
        total=histograms.count(),
        withheld_sentence=WITHHELD if is_withheld(run) and histograms.count() < every.count() else "",
    )


def judged_sentence(document: Mapping[str, Any]) -> str:
    """Say which histogram a verdict is about and which time it holds; nothing of readings that did not tell it."""
    if not document.get("time"):
        return ""
    judged = f"Judged: {document['histogram']}, {TIME_WORDS.get(document['time'], document['time'])}."
    if document["time"] != QUEUE:
        return judged
    compared = document.get("compared")
    then = f"Comparisons with 6.x take {compared['histogram']}, service time." if compared else NOT_COMPARED
    return f"{judged} {QUEUED} {then}"


def _figures(shares: Sequence[Mapping[str, Any]], limits: Sequence[Limit]) -> list[Figure]:
    limit_by_threshold = {limit.threshold_us: limit for limit in limits}
    return [_figure(share, limit_by_threshold.get(share["threshold_us"])) for share in shares]


def _figure(share: Mapping[str, Any], limit: Limit | None) -> Figure:
    statistic, threshold = STATISTIC_WORDS[share["statistic"]], units.threshold(share["threshold_us"])
    printed = units.share(share["share_pct"], share["over_count"])
    if limit is None:
        return Figure(printed, threshold, statistic, "", None)
    is_over = not is_count_within(share["over_count"], share["ops_count"], limit.limit_pct)
    exact = exact_share_pct(share["over_count"], share["ops_count"])
    mark = nearness_mark(exact, limit.limit_pct, is_over=is_over)
    return Figure(printed, threshold, statistic, units.decimal(limit.limit_pct), mark)


def _row(histogram: Histogram, run: Run) -> HistogramRow:
    return HistogramRow(
        name=histogram.name,
        counts=ROLE_WORDS.get(histogram.role, "not known"),
        time=TIME_WORDS.get(histogram.time, histogram.time),
        ops=units.count(histogram.ops_count),
        use=_use(histogram, run),
    )


def _use(histogram: Histogram, run: Run) -> str:
    uses = {"judged": run.facts.get("judged_ordinal"), "compared": run.facts.get("compared_ordinal")}
    said = [word for word, ordinal in uses.items() if ordinal == histogram.ordinal]
    if histogram.is_meaningless:
        said.append("worthless: every write went to one place")
    return ", ".join(said)
