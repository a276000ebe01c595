"""Input and output of the certificate rules: facts of runs, and requirements that are shown or missing."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from results.rules.act.loads import Rate, nx_load

# For `reset_at_s`: a record shows that the drive was not formatted or trimmed since its preparation began, or ever.
NEVER_RESET_S = 0


@dataclass(frozen=True)
class DriveState:
    """The state of one drive before or after a run; None means not recorded.

    `reset_at_s` is the last format or trim, in seconds since 1970.
    """

    firmware: str | None = None
    over_provisioning_pct: Decimal | None = None
    reset_at_s: int | None = None


@dataclass(frozen=True)
class Preparation:
    """One preparation of one drive (zeroed, then salted); times in seconds since 1970, evidence by its id."""

    id: str
    started_at_s: int | None = None
    finished_at_s: int | None = None
    evidence_id: str | None = None


@dataclass(frozen=True)
class DriveInRun:
    """One physical drive in one run, with what is known of it there."""

    key: str
    preparation: Preparation | None = None
    before: DriveState | None = None
    after: DriveState | None = None


@dataclass(frozen=True)
class CandidateRun:
    """The facts of a run that a certificate needs. None means unknown, and an unknown fact meets no requirement.

    `outcome` is the verdict under the profile. `departures` are its sentences on differences from the profile (ratio,
    object size, duration, slices, the reached rate; not limits). Rates are the requested ones, of all devices
    together. `drive_count` counts distinct physical drives: two partitions of one drive count once. `drives` is None
    if the log's devices cannot be identified. `started_at_s` is in seconds since 1970. `coalesce_us` is the longest
    time within which the generator submitted due requests together.
    """

    id: str
    outcome: str
    stop_kind: str | None
    reads_per_s: Rate | None
    writes_per_s: Rate | None
    device_count: int | None
    duration_s: int | None
    is_virtual: bool | None
    started_at_s: int | None = None
    drive_count: int | None = None
    drives: tuple[DriveInRun, ...] | None = None
    departures: tuple[str, ...] = ()
    coalesce_us: int = 0

    @cached_property
    def nx_load(self) -> Fraction | None:
        """Return N of the requested load, exact; None if a rate or the number of devices is unknown."""
        return nx_load(self.reads_per_s, self.writes_per_s, self.device_count)


@dataclass(frozen=True)
class Shortcoming:
    """The reason why a run is no stress test. `departures` are verdict sentences, which may quote a withheld file."""

    run_id: str
    sentence: str
    departures: tuple[str, ...] = ()


@dataclass(frozen=True)
class Requirement:
    """One thing that a certificate needs, shown or not, in a sentence; `device_count` identifies the stage.

    `shortcomings` complete the sentence of a missing stress test.
    """

    id: str
    device_count: int
    is_shown: bool
    sentence: str
    shortcomings: tuple[Shortcoming, ...] = ()


@dataclass(frozen=True)
class Certificate:
    """The result of the rules for a set of runs and a number of devices.

    `nx_load` is the highest N with all requirements shown, or None. If it is None, `present` and `missing` describe
    the best attempt, at `attempted_nx`.
    """

    device_count: int
    nx_load: Fraction | None
    attempted_nx: Fraction | None
    run_ids: tuple[str, ...] = ()
    firmware: str | None = None
    present: tuple[Requirement, ...] = ()
    missing: tuple[Requirement, ...] = ()
    reasons: tuple[str, ...] = ()

    @property
    def is_certified(self) -> bool:
        """Return whether every requirement is shown."""
        return self.nx_load is not None
