"""A verdict's sentence in parts, so that each share in it leads to the slice that it is of."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from webapp.templatetags import units

OVER = re.compile(r"(?<=: )[0-9.]+ %(?= > )")  # of a fail: slice 2 (10-20 s), reads over 64 ms: 0.33 % > 0.1 %
WORST = "worst-slice"
Span = tuple[int, int, int, str]  # where a share begins and ends in the sentence, its slice's number, what is shown


@dataclass(frozen=True)
class Part:
    """A piece of the sentence; `slice_number` is that of the slice whose share it says, None where it says none."""

    text: str
    slice_number: int | None = None


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
