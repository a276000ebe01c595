"""Adapter for stored headlines: the only module that parses a verdict's sentence.

Verdicts are stored with the headline that drivetest printed (docs/reference/formats.md). Its first word is the outcome.
The positions of the shares in it are not stored, so they are found by their text.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from results.models import Verdict
from webapp.templatetags import units

OUTCOME_WORDS = {
    Verdict.Outcome.PASS: "passes",
    Verdict.Outcome.FAIL: "fails",
    Verdict.Outcome.UNDECIDED: "undecided",
    Verdict.Outcome.VOID: "void",
}
OVER = re.compile(r"(?<=: )[0-9.]+ %(?= > )")  # in a fail: slice 2 (10-20 s), reads over 64 ms: 0.33 % > 0.1 %
WORST = "worst-slice"
Span = tuple[int, int, int, str]  # start and end of a share in the sentence, number of its slice, text to show


@dataclass(frozen=True)
class Part:
    """A piece of the headline; `slice_number` is that of the slice whose share it is, None for other text."""

    text: str
    slice_number: int | None = None


def split_headline(verdict: Verdict) -> tuple[str, str]:
    """Return the word of the outcome and the rest of the headline."""
    word = OUTCOME_WORDS[Verdict.Outcome(verdict.outcome)]
    return word, verdict.headline.removeprefix(word)


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


def plain_text(sentence: str, document: Mapping[str, Any]) -> str:
    """Return the sentence as text. A share that rounding turned into 0.00 % is shown as less than the last digit."""
    return "".join(part.text for part in parts_of(sentence, document))


def _violation_span(sentence: str, document: Mapping[str, Any]) -> list[Span]:
    found, violations = OVER.search(sentence), document["violations"]
    return [(*found.span(), violations[0]["slice"], found[0])] if found and violations else []


def _worst_spans(sentence: str, document: Mapping[str, Any]) -> Iterator[Span]:
    place = 0
    for share in document["shares"]:
        text = f"{share['share_pct']} %"
        start = sentence.find(text, place) if share["statistic"] == WORST else -1
        if start >= 0 and share["slice"] is not None:
            place = start + len(text)
            yield start, place, share["slice"], f"{units.share(share['share_pct'], share['over_count'])} %"
