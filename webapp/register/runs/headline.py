"""Adapter for stored headlines: the only module that reads the text of a verdict, to show its parts.

Verdicts are stored with the headline that drivetest printed (docs/reference/formats.md): the outcome, then the reason.
The positions of the shares in it are not stored, so they are found by their text. Nothing is decided by it.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from results.models import Verdict
from webapp.templatetags import units

OVER = re.compile(r"(?<=: )[0-9.]+ %(?= > )")  # in a fail: slice 2 (10-20 s), reads over 64 ms: 0.33 % > 0.1 %
WORST = "worst-slice"
Span = tuple[int, int, int, str]  # start and end of a share in the sentence, number of its slice, text to show


@dataclass(frozen=True)
class Part:
    """A piece of the headline; `slice_number` is that of the slice whose share it is, None for other text."""

    text: str
    slice_number: int | None = None


def reason_parts(verdict: Verdict) -> list[Part]:
    """Return the headline in parts, without the word of its outcome."""
    return parts_of(verdict.headline.removeprefix(verdict.get_outcome_display()), verdict.document)


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
