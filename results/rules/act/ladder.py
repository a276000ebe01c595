"""The ladder of a drive: all its runs, load against the share over each threshold, with the limit.

Shares of two statistics are never sorted together: figures that were published as steady state are listed separately,
each with a mark.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from results.rules.act.limits import Limit, is_count_within, is_share_within

WORST_SLICE = "worst-slice"
STEADY_AS_PUBLISHED = "steady-as-published"
MARKS = {WORST_SLICE: "", STEADY_AS_PUBLISHED: "steady state as published"}


@dataclass(frozen=True)
class LadderShare:
    """A share of one run; the counts are None if only printed digits are known."""

    threshold_us: int
    statistic: str
    share_pct: Decimal
    over_count: int | None = None
    ops_count: int | None = None


@dataclass(frozen=True)
class LadderRun:
    """A run as a ladder needs it: load for each device (None: unknown), number of devices, verdict, shares."""

    id: str
    nx_load: Fraction | None
    device_count: int | None
    outcome: str | None
    shares: tuple[LadderShare, ...]


@dataclass(frozen=True)
class Rung:
    """One run on a ladder; `mark` is empty for the worst slice of a log, else it must be shown with the figure."""

    run_id: str
    nx_load: Fraction | None
    device_count: int | None
    outcome: str | None
    share_pct: Decimal
    is_within: bool
    mark: str


@dataclass(frozen=True)
class Ladder:
    """The rungs of one threshold by rising load, and its limit line (None if the profile has no such limit).

    `measured` are worst slices, `as_published` steady-state figures, `without_load` either kind whose N is unknown:
    they have a share and no place on the axis.
    """

    threshold_us: int
    limit_pct: Decimal | None
    measured: tuple[Rung, ...]
    as_published: tuple[Rung, ...]
    without_load: tuple[Rung, ...]


def ladders(runs: Sequence[LadderRun], limits: Iterable[Limit]) -> tuple[Ladder, ...]:
    """Return a ladder for every threshold that a limit or a run has, by rising threshold.

    Raises ValueError for a statistic that no ladder contains, such as the share of a whole run.
    """
    limit_pct = {limit.threshold_us: limit.limit_pct for limit in limits}
    thresholds = limit_pct.keys() | {share.threshold_us for run in runs for share in run.shares}
    return tuple(_ladder(threshold_us, limit_pct.get(threshold_us), runs) for threshold_us in sorted(thresholds))


def _ladder(threshold_us: int, limit_pct: Decimal | None, runs: Sequence[LadderRun]) -> Ladder:
    rungs = [_rung(run, share, limit_pct) for run in runs for share in run.shares if share.threshold_us == threshold_us]
    placed = sorted((rung for rung in rungs if rung.nx_load is not None), key=_order)
    return Ladder(
        threshold_us,
        limit_pct,
        measured=tuple(rung for rung in placed if not rung.mark),
        as_published=tuple(rung for rung in placed if rung.mark),
        without_load=tuple(sorted((rung for rung in rungs if rung.nx_load is None), key=_order)),
    )


def _order(rung: Rung) -> tuple[Fraction, Decimal, str]:
    return (rung.nx_load or Fraction(0), rung.share_pct, rung.run_id)


def _rung(run: LadderRun, share: LadderShare, limit_pct: Decimal | None) -> Rung:
    if share.statistic not in MARKS:
        raise ValueError(f"{run.id}: expected a statistic of {', '.join(MARKS)}, got {share.statistic!r}")
    is_within = limit_pct is None or _is_within(share, limit_pct)
    mark = MARKS[share.statistic]
    return Rung(run.id, run.nx_load, run.device_count, run.outcome, share.share_pct, is_within, mark)


def _is_within(share: LadderShare, limit_pct: Decimal) -> bool:
    """Compare counts where they are known: the printed share may lie on the other side of the limit."""
    if share.over_count is None or share.ops_count is None:
        return is_share_within(share.share_pct, limit_pct)
    return is_count_within(share.over_count, share.ops_count, limit_pct)
