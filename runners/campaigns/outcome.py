"""What a step of a campaign came to, as the planner sees it."""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction


class Purpose(StrEnum):
    """What a dispatch of a campaign is for."""

    PREP = "prep"
    SCREENING = "screening"
    LOAD = "load"
    STRESS = "stress"


class Result(StrEnum):
    """`open`: no answer yet. `overloaded`: the drive could not keep up. `unusable`: nothing was learnt of the drive."""

    OPEN = "open"
    PASSED = "passed"
    FAILED = "failed"
    OVERLOADED = "overloaded"
    UNUSABLE = "unusable"
    REFUSED = "refused"
    CANCELLED = "cancelled"


LEARNT = frozenset({Result.PASSED, Result.FAILED, Result.OVERLOADED})


@dataclass(frozen=True)
class Outcome:
    """One dispatch of a campaign. `nx` is the run's own load, None for prep; `ended_s` counts from the epoch.

    `margin` is what is left of the nearest limit as a part of it, below 0 where a limit is broken; None where no share
    decides. An outcome is excused when somebody let the campaign go on after it: it no longer counts as an attempt.
    `has_run` is False where no program was started for certain. `host_doubts` are the findings of its run by which not
    the drive but the host may be slow.
    """

    id: str
    purpose: Purpose
    nx: Decimal | None
    result: Result
    duration_s: int | None = None
    ended_s: int | None = None
    margin: Fraction | None = None
    is_excused: bool = False
    reason: str = ""
    has_run: bool = True
    host_doubts: tuple[str, ...] = ()
