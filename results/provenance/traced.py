"""A published number and where it comes from."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TracedValue:
    """One published number and where it comes from."""

    name: str
    value: str
    origin: str
