"""A verdict's sentence in parts, so that each share in it leads to the slice that it is of."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from results.models import Run, Statistic, Verdict
from results.rules.act.limits import Limit
from webapp.register.tables.columns import SHARE_THRESHOLDS_US
from webapp.register.tables.evaluation import is_over
from webapp.register.tables.marks import NearnessMark, nearness_mark
from webapp.templatetags import units

OUTCOME_WORDS = {
    Verdict.Outcome.PASS: "passes",
    Verdict.Outcome.FAIL: "fails",
    Verdict.Outcome.UNDECIDED: "undecided",
    Verdict.Outcome.VOID: "void",
}
STATISTIC_WORDS = {
    Statistic.STEADY_AS_PUBLISHED: "steady state as published",
    Statistic.WORST_SLICE: "worst slice",
    Statistic.OVERALL: "whole run",
}
SHOWN_VIOLATIONS = 100  # the first is in the headline; a log of very many short slices can have a million
OVER = re.compile(r"(?<=: )[0-9.]+ %(?= > )")  # of a fail: slice 2 (10-20 s), reads over 64 ms: 0.33 % > 0.1 %
WORST = "worst-slice"
Span = tuple[int, int, int, str]  # where a share begins and ends in the sentence, its slice's number, what is shown


@dataclass(frozen=True)
class Part:
    """A piece of the sentence; `slice_number` is that of the slice whose share it says, None where it says none."""

    text: str
    slice_number: int | None = None


@dataclass(frozen=True)
class VerdictView:
    """A verdict as a sentence, with everything it rests on."""

    outcome: str
    word: str
    rest: list[Part]
    reasons: list[str]
    violations: list["Violation"]
    violations_count: int

    @property
    def cut_sentence(self) -> str:
        """What a page of very many violations leaves out."""
        if self.violations_count <= len(self.violations):
            return ""
        shown, every = units.count(len(self.violations)), units.count(self.violations_count)
        return f"The {shown} largest of {every}; the CSV of the slices has every share."


@dataclass(frozen=True)
class Violation:
    """One slice over one limit."""

    slice_number: int
    threshold: str
    share: str
    limit: str
    counts: str
    excess: str


@dataclass(frozen=True)
class Figure:
    """One share of the run, beside its limit; `slice_number` is that of the slice it is of, if it is one's."""

    text: str
    threshold: str
    statistic: str
    limit: str
    nearness: NearnessMark | None
    slice_number: int | None = None


def verdict_view(verdict: Verdict) -> VerdictView:
    """Return the verdict's sentence, its first word apart: it is framed where it is a fail."""
    word = OUTCOME_WORDS[Verdict.Outcome(verdict.outcome)]
    rest = verdict.headline.removeprefix(word)
    violations = verdict.document["violations"]
    reasons = [reason for reason in verdict.document["reasons"] if reason not in rest]
    shown = [_violation(each) for each in violations[:SHOWN_VIOLATIONS]]
    parts = parts_of(rest, verdict.document)
    return VerdictView(verdict.outcome, word.capitalize(), parts, reasons, shown, len(violations))


def _violation(each: dict[str, Any]) -> Violation:
    return Violation(
        slice_number=each["slice"],
        threshold=units.threshold(each["threshold_us"]),
        share=units.share(each["share_pct"], each["over_count"]),
        limit=each["limit_pct"],
        counts=f"{units.count(each['over_count'])} of {units.count(each['ops_count'])}",
        excess=f"{each['excess_ratio']}x" if each["excess_ratio"] else "",  # no multiple of a limit of 0
    )


def figures(run: Run, limits: Sequence[Limit]) -> list[Figure]:
    """Return the run's shares, its own statistic first, each beside its limit."""
    limit_by_threshold = {limit.threshold_us: limit for limit in limits}
    shares = sorted(run.shares.all(), key=lambda share: (share.statistic != run.statistic, share.threshold_us))
    return [
        Figure(
            text=units.share(share.printed, share.over_count),
            threshold=units.threshold(share.threshold_us),
            statistic=STATISTIC_WORDS[Statistic(share.statistic)],
            limit=units.decimal(limit.limit_pct) if limit else "",
            nearness=nearness_mark(share.share_pct, limit.limit_pct, is_over=is_over(share, limit.limit_pct))
            if limit
            else None,
            slice_number=share.slice_number,
        )
        for share in shares
        for limit in [limit_by_threshold.get(share.threshold_us)]
        if share.threshold_us in SHARE_THRESHOLDS_US
    ]


def parts_of(sentence: str, document: Mapping[str, Any]) -> list[Part]:
    """Return the sentence in parts that join to it again, but for a share that only rounding makes 0.00 %.

    A fail names its largest violation; a pass the worst slice's share over each threshold, in the order of the
    document's shares (docs/formats.md). A share that is not where these say stays text.
    """
    spans = list(_over(sentence, document) or _worst(sentence, document))
    edges = [0, *(edge for start, end, *_ in spans for edge in (start, end)), len(sentence)]
    parts = {(start, end): Part(shown, number) for start, end, number, shown in spans}
    between = [(start, end) for start, end in pairwise(edges) if start < end]
    return [parts.get(place, Part(sentence[slice(*place)])) for place in between]


def plain_sentence(sentence: str, document: Mapping[str, Any]) -> str:
    """Return the sentence as text, with what rounding left nothing of as less than the last digit."""
    return "".join(part.text for part in parts_of(sentence, document))


def _over(sentence: str, document: Mapping[str, Any]) -> list[Span]:
    found, violations = OVER.search(sentence), document["violations"]
    return [(*found.span(), violations[0]["slice"], found[0])] if found and violations else []


def _worst(sentence: str, document: Mapping[str, Any]) -> Iterator[Span]:
    place = 0
    for share in document["shares"]:
        text = f"{share['share_pct']} %"
        start = sentence.find(text, place) if share["statistic"] == WORST else -1
        if start >= 0 and share["slice"] is not None:
            place = start + len(text)
            yield start, place, share["slice"], f"{units.share(share['share_pct'], share['over_count'])} %"
