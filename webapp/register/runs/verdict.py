"""Verdict of a run with its share figures, and the reader's own limits, as the run page shows them.

Adapter for stored headlines: verdicts are stored with the headline that drivetest printed
(docs/reference/formats.md), the outcome and then the reason. The positions of the shares in it are not stored, so
they are found by their text. Nothing is decided by it.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qsl

from django.http import QueryDict

from results.models import Run, Share, Statistic, Verdict
from results.rules.act.limits import Limit, distinct_excess, distinct_share, exact_share_pct, is_count_within
from webapp.register.http.access import LINK_PARAMETER
from webapp.register.http.query_params import read_parameters
from webapp.register.limits.reader_limits import YourLimits, limits_parameter
from webapp.register.runs.slices import SliceTable, between_counts, cut_sentence, range_text, share_text
from webapp.register.runs.verdict_basis import (
    basis_sentence,
    duration_in_words,
    required_slice_length_s,
    slices_in_words,
)
from webapp.register.tables.columns import SHARE_THRESHOLDS_US, share_of
from webapp.register.tables.evaluation import is_over
from webapp.register.tables.marks import nearness_mark
from webapp.templatetags import units

STORED_SHARE = re.compile(r"(?<=: )[0-9.]+ %(?= > )")  # in a fail: slice 2 (10-20 s), reads over 64 ms: 0.33 % > 0.1 %
WORST = "worst-slice"
Span = tuple[int, int, int, str]  # start and end of a share in the sentence, number of its slice, text to show


@dataclass(frozen=True)
class Part:
    """A piece of the headline; `slice_number` is that of the slice whose share it is, None for other text."""

    text: str
    slice_number: int | None = None


def reason_parts(verdict: Verdict) -> list[Part]:
    """Return the headline in parts, without the word of its outcome."""
    return parts_of(verdict.sentence.removeprefix(verdict.get_outcome_display()), verdict.document)


def reason_text(verdict: Verdict) -> str:
    """Return the headline without the word of its outcome, as text."""
    return "".join(part.text for part in reason_parts(verdict)).removeprefix(": ")


def other_reasons(verdict: Verdict) -> list[str]:
    """Return the reasons of a verdict that its headline does not include."""
    return [reason for reason in verdict.document["reasons"] if reason not in verdict.headline]


def parts_of(sentence: str, document: Mapping[str, Any]) -> list[Part]:
    """Return the sentence in parts. A share that rounding turned into 0.00 % is shown as less than the last digit.

    A fail has its largest violation in the sentence; a pass has the worst slice's share over each threshold, in the
    order of the document's shares (docs/reference/formats.md). A share at any other place stays plain text.
    """
    spans = list(_violation_span(sentence, document) or _worst_spans(sentence, document))
    edges = [0, *(edge for start, end, *_ in spans for edge in (start, end)), len(sentence)]
    parts = {(start, end): Part(shown, number) for start, end, number, shown in spans}
    between = [(start, end) for start, end in pairwise(edges) if start < end]
    return [parts.get(place, Part(sentence[slice(*place)])) for place in between]


def _violation_span(sentence: str, document: Mapping[str, Any]) -> list[Span]:
    found, violations = STORED_SHARE.search(sentence), document["violations"]
    return [(*found.span(), violations[0]["slice"], found[0])] if found and violations else []


def _worst_spans(sentence: str, document: Mapping[str, Any]) -> Iterator[Span]:
    place = 0
    for share in document["shares"]:
        text = f"{share['share_pct']} %"
        start = sentence.find(text, place) if share["statistic"] == WORST else -1
        if start >= 0 and share["slice"] is not None:
            place = start + len(text)
            yield start, place, share["slice"], f"{units.share(share['share_pct'], share['over_count'])} %"


STATISTIC_LABELS = {
    Statistic.STEADY_AS_PUBLISHED: "steady state as published",
    Statistic.WORST_SLICE: "worst slice",
    Statistic.OVERALL: "whole run",
}
STATISTIC_TERMS = {  # of the glossary
    Statistic.STEADY_AS_PUBLISHED: "as published",
    Statistic.WORST_SLICE: "worst slice",
    Statistic.OVERALL: "whole run",
}
SHOWN_VIOLATIONS = 100  # the headline has the first one; a log of very many short slices can have a million


def verdict_view(run: Run, verdict: Verdict, table: SliceTable | None = None) -> dict[str, Any]:
    """Return the verdict with its first word separate, because the page frames a fail.

    `table` has the slices that the sentence of a test that is too short counts.
    `has_other_slices` is true if the run was judged in slices of another length than its profile requires.
    """
    violations = verdict.document["violations"]
    shown = violations[:SHOWN_VIOLATIONS]
    too_short = too_short_sentence(run, verdict, table)
    cut = "The table has the {shown} largest of {total} shares over a limit; the CSV of the slices has every share."
    return {
        "outcome": verdict.outcome,
        "word": verdict.get_outcome_display().capitalize(),
        "rest": [Part(f": {too_short}")] if too_short else reason_parts(verdict),
        "is_too_short": bool(too_short),
        "reasons": reasons_of(verdict, is_too_short=bool(too_short)),
        "violations": [_violation_view(each) for each in shown],
        "cut_sentence": cut_sentence(len(shown), len(violations), cut),
        "short_fail": short_fail_sentence(run, verdict),
        "basis": basis_sentence(run, verdict.profile),
        "in_slices": f" in {slices_in_words(run.slice_length_s)}" if run.slice_length_s else "",
        "has_other_slices": run.slice_length_s not in {None, required_slice_length_s(verdict.profile)},
    }


def too_short_sentence(run: Run, verdict: Verdict, table: SliceTable | None = None) -> str:
    """Return that a test is too short for a verdict, and the outcomes of its slices so far; empty for another verdict.

    If the whole run is over a limit, the headline of the verdict says so instead.
    """
    required_s = json.loads(verdict.profile.document)["duration_s"]
    is_over = any(
        share["statistic"] == Statistic.OVERALL and not share.get("within", True)
        for share in verdict.document["shares"]
    )
    is_undecided = verdict.outcome == Verdict.Outcome.UNDECIDED
    if (
        not is_undecided
        or is_over
        or not verdict.document["reasons"]
        or run.duration_s is None
        or run.duration_s >= required_s
    ):
        return ""
    lasted, needed = duration_in_words(run.duration_s), duration_in_words(required_s)
    so_far = f" {table.so_far_sentence}" if table and table.rows else ""
    return f"the test is too short ({lasted} of {needed}).{so_far}"


def reasons_of(verdict: Verdict, *, is_too_short: bool) -> list[str]:
    """Return the reasons of a verdict that its sentence does not include.

    The only reason of a test that is too short is its duration. Of several reasons, none is known to be that one.
    """
    reasons: list[str] = verdict.document["reasons"]
    if is_too_short:
        return reasons if len(reasons) > 1 else []
    return other_reasons(verdict)


def _violation_view(violation: Mapping[str, Any]) -> dict[str, Any]:
    """Return a violation with digits that differ from its limit, and its ratio with digits that differ from 1."""
    counts = violation["over_count"], violation["ops_count"], Decimal(violation["limit_pct"])
    excess = violation.get("excess_ratio")
    return {
        **violation,
        "share": distinct_share(violation["share_pct"], *counts),
        "excess": distinct_excess(excess, *counts) if excess else "",
    }


def short_fail_sentence(run: Run, verdict: Verdict) -> str:
    """Return why a short run can fail, although a pass needs the duration of the profile; empty for any other run."""
    required = json.loads(verdict.profile.document)
    required_s, slice_s = required["duration_s"], required["slice_length_s"]
    if verdict.outcome != Verdict.Outcome.FAIL or run.duration_s is None or run.duration_s >= required_s:
        return ""
    lasted, needed = duration_in_words(run.duration_s), duration_in_words(required_s)
    if run.slice_length_s != slice_s:
        return (
            f"The test ran {lasted}. In slices of {duration_in_words(slice_s)}, it may not fail; a pass needs {needed}."
        )
    return f"The test ran {lasted}. A short test can fail, but only one of {needed} can pass."


def figures(
    run: Run, limits: Sequence[Limit], document: Mapping[str, Any] | None = None, table: SliceTable | None = None
) -> list[dict[str, Any]]:
    """Return the run's shares with their limits, those of its own statistic first.

    `document` is that of its verdict, and `table` has its slices.
    """
    shares = sorted(run.shares.all(), key=lambda share: (share.statistic != run.statistic, share.threshold_us))
    return [figure_of(share, limits, document, table) for share in shares if share.threshold_us in SHARE_THRESHOLDS_US]


def figure_of(
    share: Share,
    limits: Sequence[Limit],
    document: Mapping[str, Any] | None = None,
    table: SliceTable | None = None,
) -> dict[str, Any]:
    """Return a share with the limit on its threshold, if there is one, and how near it is to it.

    `text` is the most exact share that is known: what a side file counted at the threshold itself, otherwise what the
    log has at its bucket edge. `at_most` is the upper end of the range that the edge allows, and `log_at_most` that of
    the log alone if a side file lowers it. `range_text` is the share with this end. `log_text` is the share of the log
    where a side file has another one, and `edge_us` the edge. All come from the document of the verdict. Only if every
    slice has 0 at the edge, the upper end is the largest of the slices in `table`, and `slice_number` is that slice.
    """
    limit_pct = next((limit.limit_pct for limit in limits if limit.threshold_us == share.threshold_us), None)
    statistic = Statistic(share.statistic)
    figure: dict[str, Any] = {
        "share": share,
        "statistic": STATISTIC_LABELS[statistic],
        "term": STATISTIC_TERMS[statistic],
    }
    figure["limit_pct"] = limit_pct
    figure["text"] = distinct_share(share.printed, share.over_count, share.ops_count, limit_pct)
    figure["slice_number"] = share.slice_number
    figure["is_in_every_slice"] = statistic == Statistic.WORST_SLICE and share.over_count == 0
    found = {key: _same((document or {}).get(key) or (), share) for key in ("shares", "exact")}
    if limit_pct is not None:
        figure["nearness"] = nearness_mark(share.share_pct, limit_pct, is_over=is_over(share, limit_pct))
    if exact := found["exact"]:
        figure |= _exact_figure(exact, figure["text"], found["shares"], limit_pct)
    else:
        figure |= _range(found["shares"], document or {}, limit_pct)
        if figure["is_in_every_slice"] and table is not None:
            figure |= _largest_range(table, share.threshold_us)
    return figure | {"range_text": range_text(figure["text"], figure.get("at_most", ""))}


def _exact_figure(
    exact: Mapping[str, Any], log_text: str, own: Mapping[str, Any] | None, limit_pct: Decimal | None
) -> dict[str, Any]:
    """Return the share that a side file counted, and that of the log if it has other digits."""
    counts = exact["over_count"], exact["ops_count"]
    text = distinct_share(exact["share_pct"], *counts, limit_pct)
    figure: dict[str, Any] = {"text": text}
    if limit_pct is not None:
        is_exact_over = not is_count_within(*counts, limit_pct)
        figure["nearness"] = nearness_mark(exact_share_pct(*counts), limit_pct, is_over=is_exact_over)
    return figure | ({"log_text": log_text, "edge_us": own["read_at_us"]} if own and text != log_text else {})


def _range(own: Mapping[str, Any] | None, document: Mapping[str, Any], limit_pct: Decimal | None) -> dict[str, Any]:
    """Return the upper end of a share and the bucket edge; nothing if the log has an edge at the threshold."""
    if not own or own["read_at_us"] == own["threshold_us"]:
        return {}
    edge = {"edge_us": own["read_at_us"]}
    at_most = own.get("over_at_most_count")
    if at_most is None or (not own["over_count"] and own["statistic"] == WORST):
        return edge  # every slice has 0 at the edge: the upper end of one of them is not that of the worst
    between = between_counts(document).get(own["threshold_us"])
    count = at_most if between is None else min(at_most, own["over_count"] + between)
    if count == own["over_count"]:
        return edge
    found = edge | {"at_most": share_text(count, own["ops_count"], limit_pct)}
    log_at_most = share_text(at_most, own["ops_count"], limit_pct)
    return found if log_at_most == found["at_most"] else found | {"log_at_most": log_at_most}


def _largest_range(table: SliceTable, threshold_us: int) -> dict[str, Any]:
    """Return the largest upper end of a slice and its number; nothing without one, or if the table lacks slices."""
    shares = ((row.slice.number, share) for row in table.rows for share in row.shares)
    found = [(number, share) for number, share in shares if share.threshold_us == threshold_us and share.at_most_text]
    if not found or len(table.rows) < table.total:
        return {}
    number, largest = max(found, key=lambda each: Fraction(each[1].at_most_count, each[1].ops_count))
    return {"at_most": largest.at_most_text, "slice_number": number, "is_in_every_slice": False}


def _same(shares: Iterable[Mapping[str, Any]], share: Share) -> Mapping[str, Any] | None:
    """Return the share of a document with the statistic and the threshold of a stored one."""
    wanted = (share.statistic, share.threshold_us)
    return next((each for each in shares if (each["statistic"], each["threshold_us"]) == wanted), None)


def own_limits(query: QueryDict, profile: Iterable[Limit]) -> YourLimits:
    """Return the limits in the address of a run page, together with the profile's. Raises ParameterError."""
    own: YourLimits = read_parameters(query, (limits_parameter(profile), LINK_PARAMETER))["limits"]
    return own


def limits_context(own: YourLimits, sentence: str, query: str) -> dict[str, Any]:
    """Return the context of the limits form; empty without a sentence, because limits then have no effect."""
    if not sentence:
        return {}
    return {
        "limits": own,
        "limits_sentence": sentence,
        "other_parameters": parse_qsl(query.removeprefix("?")),
        "profile_address": query or "?",
    }


def slice_limits_sentence(table: SliceTable | None, official: SliceTable | None, own: YourLimits) -> str:
    """Return how many slices are within the limits; empty for a run without slices.

    For a reader's own limits, also return the number under the profile, whose table is `official`.
    """
    if table is None or official is None or not table.rows:
        return ""
    if not own.is_own:
        return table.passing_sentence
    return f"With your limits: {table.passing_sentence} With those of the profile: {official.passing_sentence}"


def published_limits_sentence(run: Run, own: YourLimits) -> str:
    """Return which shares of a published result are over the limits; empty if no limit applies to any of them.

    For a reader's own limits, also return the result under the profile.
    """
    if not any(share_of(run, threshold_us) for threshold_us in own.by_threshold):
        return ""
    yours, profile = _over(run, own.by_threshold), _over(run, own.profile_by_threshold)
    if not own.is_own:
        return f"{_over_text(profile).capitalize()}."
    difference = "the same as under the profile" if yours == profile else f"under the profile {_over_text(profile)}"
    return f"With your limits {_over_text(yours)}; {difference}."


def _over(run: Run, limits: Mapping[int, Decimal]) -> list[int]:
    found = ((threshold_us, share_of(run, threshold_us), limit_pct) for threshold_us, limit_pct in limits.items())
    return [threshold_us for threshold_us, share, limit_pct in found if share and is_over(share, limit_pct)]


def _over_text(over_us: list[int]) -> str:
    if not over_us:
        return "all shares are within the limits"
    thresholds = " and ".join(map(units.threshold, over_us))
    if len(over_us) == 1:
        return f"the share over {thresholds} is too large"
    return f"the shares over {thresholds} are too large"
