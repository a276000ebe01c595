"""Terms and outcomes of a campaign: the data that the planner decides from.

The terms are stored as JSON with the campaign and can be edited while it runs.
"""

from dataclasses import asdict, dataclass, fields, replace
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Any

DAY_S = 86_400
STRESS_FACTOR = 2  # aerospike/act README.md, test 2: a certificate at N requires a stress test at twice N


@dataclass(frozen=True)
class Terms:
    """The limits of a campaign. No run of it, including the stress test, loads the drive with more than `max_nx`.

    Loads are whole multiples of `resolution_nx`. The search ends when the highest passing and the lowest failing load
    differ by one such step or by `resolution_pct` of the load, the larger of the two. A share within `near_pct` of its
    limit is near it, and its run is repeated. `alone_on_host`: each load waits until nothing else runs on the host.
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
    alone_on_host: bool = False

    @property
    def cap_units(self) -> int:
        """The highest load to search, in steps of the resolution: its stress test is the heaviest run."""
        return int(self.max_nx / STRESS_FACTOR // self.resolution_nx)

    def units(self, nx: Decimal) -> int:
        """Return a load in whole steps of the resolution, rounded down."""
        return int(nx // self.resolution_nx)

    def nx(self, units: int) -> Decimal:
        """Return the load of this many steps."""
        return units * self.resolution_nx

    def gap_units(self, units: int) -> int:
        """Return the largest distance of two loads, the lower one being `units`, at which the search ends."""
        return max(1, int(units * self.resolution_pct / 100))

    def duration_s(self, purpose: str) -> int | None:
        """Return the duration of a run for a purpose; None for prep, which ends when the whole drive is written."""
        return {"screening": self.screening_s, "load": self.load_s, "stress": self.stress_s}.get(purpose)

    def as_json(self) -> dict[str, Any]:
        """Return the terms for JSON: decimals as text, so that no digit is lost."""
        return {name: str(value) if isinstance(value, Decimal) else value for name, value in asdict(self).items()}

    def changed(self, **changes: Any) -> "Terms":
        """Return these terms with some of them changed."""
        return replace(self, **changes)


def parse_terms(document: dict[str, Any]) -> Terms:
    """Return terms from their JSON. A term that a later version added gets its default."""
    decimals = {each.name for each in fields(Terms) if isinstance(each.default, Decimal)}
    values: dict[str, Any] = {name: Decimal(value) if name in decimals else value for name, value in document.items()}
    return Terms(**values)


class Purpose(StrEnum):
    """The purpose of a dispatch in a campaign."""

    PREP = "prep"
    SCREENING = "screening"
    LOAD = "load"
    STRESS = "stress"


class Result(StrEnum):
    """The result of a step. `open`: not known yet. `overloaded`: the drive could not sustain the load.

    `unusable`: the run gives no result for the drive.
    """

    OPEN = "open"
    PASSED = "passed"
    FAILED = "failed"
    OVERLOADED = "overloaded"
    UNUSABLE = "unusable"
    REFUSED = "refused"
    CANCELLED = "cancelled"


CONCLUSIVE = frozenset({Result.PASSED, Result.FAILED, Result.OVERLOADED})


@dataclass(frozen=True)
class Outcome:
    """One dispatch of a campaign. `nx` is the run's own load, None for prep; `ended_s` counts from the epoch.

    `margin` is the distance to the nearest limit as a part of it, below 0 if the limit is exceeded, None if no share
    decides. An outcome is excused if a person resumed the campaign after it: it no longer counts as an attempt.
    `has_run` is False if certainly no program was started. `host_causes` are the findings that say the host, not the
    drive, may have caused a failure; empty if the reads mainly waited for a free slot of the drive.
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
    host_causes: tuple[str, ...] = ()
