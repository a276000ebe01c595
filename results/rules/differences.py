"""Named differences between the conditions of two measurements."""

from dataclasses import dataclass, fields
from typing import Any

WHY = "why"  # key of a field's metadata: what the condition does to the figures


@dataclass(frozen=True)
class Difference:
    """One condition in which two measurements differ, or of which it is not known that they agree (`is_unknown`)."""

    name: str
    first: object
    second: object
    is_unknown: bool
    why: str


def differences(first: Any, second: Any) -> tuple[Difference, ...]:
    """Return where the conditions of two measurements (dataclasses of one kind) differ or are unknown, as declared.

    Empty means comparable. None is unknown, and two unknowns are not known to agree. Values are equal as numbers are:
    7, Decimal("7.0") and Fraction(7) agree. Raises ValueError for conditions of two kinds.
    """
    if type(first) is not type(second):
        raise ValueError(f"conditions: expected two of one kind, got {type(first).__name__}, {type(second).__name__}")
    found = []
    for condition in fields(first):
        mine, other = getattr(first, condition.name), getattr(second, condition.name)
        is_unknown = mine is None or other is None
        if is_unknown or mine != other:
            found.append(Difference(condition.name, mine, other, is_unknown, condition.metadata[WHY]))
    return tuple(found)
