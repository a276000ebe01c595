"""One column of a table: its code, which is the anchor of its meaning, its head, and what stands in it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Meaning:
    """What a column says; `code` is part of addresses and never changes."""

    code: str
    head: str
    text: str
