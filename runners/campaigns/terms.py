"""What a campaign is told: how high, how long, how far apart; kept as JSON with it, and editable while it runs."""

from dataclasses import asdict, dataclass, fields, replace
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Any

DAY_S = 86_400
STRESS_FACTOR = 2  # aerospike/act README.md, test 2: a certificate at N asks for a stress test at twice N


@dataclass(frozen=True)
class Terms:
    """The limits of a campaign. No run of it, the stress test included, loads the drive with more than `max_nx`.

    Loads are whole multiples of `resolution_nx`; the search ends when the highest load that passes and the lowest that
    fails are one such step or `resolution_pct` of the load apart, whichever is more. A share within `near_pct` of its
    limit is near it, and its run is repeated.
    """

    start_nx: Decimal = Decimal(10)
    max_nx: Decimal = Decimal(1000)
    resolution_nx: Decimal = Decimal(1)
    resolution_pct: Decimal = Decimal(1)
    ladder_factor: Decimal = Decimal("1.5")
    screening_s: int = 1800
    load_s: int = DAY_S
    stress_s: int = DAY_S
    slice_length_s: int = 3600
    rest_s: int = 1800
    overload_rest_s: int = 7200
    near_pct: Decimal = Decimal(5)
    load_near_pct: Decimal = Decimal(0)
    attempts_max: int = 3
    confirmations_max: int = 5
    with_prep: bool = True

    @property
    def cap_units(self) -> int:
        """The highest load that is searched, in steps of the resolution: its stress test is the heaviest run."""
        return int(self.max_nx / STRESS_FACTOR // self.resolution_nx)

    def units(self, nx: Decimal) -> int:
        """Return a load in whole steps of the resolution, rounded down."""
        return int(nx // self.resolution_nx)

    def nx(self, units: int) -> Decimal:
        """Return the load of so many steps."""
        return units * self.resolution_nx

    def gap_units(self, units: int) -> int:
        """Return how far apart two loads may be, the lower one being `units`, for the search to end between them."""
        return max(1, int(units * self.resolution_pct / 100))

    def duration_s(self, purpose: str) -> int | None:
        """Return how long a run for a purpose takes; None for prep, which ends when it has written the whole drive."""
        return {"screening": self.screening_s, "load": self.load_s, "stress": self.stress_s}.get(purpose)

    def as_json(self) -> dict[str, Any]:
        """Return the terms as JSON keeps them: decimals as text, so that no digit is lost."""
        return {name: str(value) if isinstance(value, Decimal) else value for name, value in asdict(self).items()}

    def changed(self, **changes: Any) -> "Terms":
        """Return these terms with some of them changed."""
        return replace(self, **changes)


def terms_of(kept: dict[str, Any]) -> Terms:
    """Return the terms that were kept as JSON; one that a later version has added takes its default."""
    decimals = {each.name for each in fields(Terms) if isinstance(each.default, Decimal)}
    told: dict[str, Any] = {name: Decimal(value) if name in decimals else value for name, value in kept.items()}
    return Terms(**told)


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
