"""Rules that leave out of a record what may differ between two commits: sentences, clocks, versions and random ids."""

import re
from typing import Any

# Sentences may be rewritten; only their presence and type are compared.
SENTENCE_FIELDS = frozenset(
    [
        "headline",
        "sentence",
        "remedy",
        "reason",
        "reasons",
        "error",
        "detail",
        "title",
        "help",
        "message",
        "expected",
        "got",
        "read_at",
    ]
)
TEXT = "<text>"
DATE_TIME = re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")


def mask_sentences(value: Any, field: str = "") -> Any:
    """Replace every sentence in a JSON value by a mark of its presence; keep codes, numbers and structure."""
    if isinstance(value, dict):
        return {name: mask_sentences(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [mask_sentences(inner, field) for inner in value]
    if isinstance(value, str) and value and field in SENTENCE_FIELDS:
        return TEXT
    return value


def mask_date_times(value: Any) -> Any:
    """Replace every date with a time of day: the register's clock wrote it."""
    if isinstance(value, dict):
        return {name: mask_date_times(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [mask_date_times(inner) for inner in value]
    if isinstance(value, str):
        return DATE_TIME.sub("<date-time>", value)
    return value


class Aliases:
    """Names for random values by the order in which they were first seen, the same in every run."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}

    def name(self, kind: str, value: str) -> str:
        """Return the alias of a value, for example <run-3>; a new value gets the next number of its kind."""
        if (kind, value) not in self._names:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._names[kind, value] = f"<{kind}-{self._counts[kind]}>"
        return self._names[kind, value]
