"""The headline of a product's page: the result that represents the product, and how it stands against the limits.

Results within the limits come first; of these, results that can be ranked, because only they have a position. Results
judged from logs come before published ones, because speeds of two statistics do not compare. Of each kind the fastest
represents the product.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from urllib.parse import urlencode

from django.urls import reverse

from results.models import RATED_WORKLOAD, Run, Statistic, Verdict, Visibility
from results.models.categories import SYSTEMS
from results.rules.act.limits import Limit
from results.rules.sizing import rates_of_act
from webapp.register.limits.reader_limits import YourLimits
from webapp.register.tables.columns import (
    duration_text,
    is_duration_assumed,
    newest_verdict,
    ranked_tps,
    share_code,
    share_column,
    share_of,
    storage_text,
)
from webapp.register.tables.evaluation import evaluate_limits, is_over
from webapp.register.tables.groups import group_of, taken_as_one_sentence
from webapp.register.tables.marks import AEROSPIKE
from webapp.register.tables.sentences import HOW
from webapp.register.tables.tables import Cell, share_cell
from webapp.templatetags import units

STATISTICS_IN_ORDER = (Statistic.WORST_SLICE, Statistic.STEADY_AS_PUBLISHED, Statistic.OVERALL)


class State(StrEnum):
    """What the register knows about a product's speed."""

    WITHIN = "within"
    OVER = "over"
    FAILED = "failed"
    UNDECIDED = "undecided"
    VOID = "void"
    NO_SPEED = "no-speed"
    VIRTUAL_ONLY = "virtual-only"
    NOT_RATED = "not-rated"
    NONE_CURRENT = "none-current"


WITHOUT_RESULT = frozenset({State.NO_SPEED, State.VIRTUAL_ONLY, State.NOT_RATED, State.NONE_CURRENT})

ASSUMED_DURATION = "The duration is assumed: the source requires it, but does not state it for this result."


@dataclass(frozen=True)
class Headline:
    """The result that represents a product; no run in the states WITHOUT_RESULT."""

    state: State
    limits: YourLimits
    run: Run | None = None

    @property
    def speed(self) -> str:
        """Return the speed of one device, or of a whole system; empty without a result."""
        return "" if self.run is None else units.count(round(shown_tps(self.run)))

    @property
    def speed_note(self) -> str:
        """Return what the speed covers, and how long the test ran."""
        if self.run is None:
            return ""
        if is_duration_assumed(self.run):
            lasted = f"{units.duration(self.run.duration_s)} (assumed)"
        else:
            lasted = f"tested for {duration_text(self.run)}" if self.run.duration_s else "duration not reported"
        return f"tps{_devices_note(self.run)}, {lasted}"

    @property
    def duration_note(self) -> str:
        """Return why the duration is assumed; empty for a reported one."""
        is_assumed = self.run is not None and is_duration_assumed(self.run)
        return ASSUMED_DURATION if is_assumed else ""

    @property
    def shares(self) -> list[tuple[Limit, Cell | None]]:
        """Return each limit with the share of the result; None for a share that is not reported."""
        return [] if self.run is None else [(limit, _share_cell(self.run, limit)) for limit in self.limits.limits]

    @property
    def note(self) -> str:
        """Return how the shares were computed, and what they say about the limits."""
        if self.run is None:
            return ""
        whose = "your" if self.limits.is_own else "all"
        if self.state == State.WITHIN:
            return f"Within {whose} limits {_how(self.run)}."
        if self.state == State.OVER:
            return f"Over a limit {_how(self.run)}. This result is a measurement, not a certificate."
        return f"The shares are those {_how(self.run)}."

    @property
    def nines_address(self) -> str:
        """Return the page of nines with the figures of the result; empty without one."""
        return _nines_address(self.run, self.limits.fields[0].threshold_us) if self.run else ""

    @property
    def devices_note(self) -> str:
        """Return why the result counts as one device; empty if it states its number of devices."""
        return taken_as_one_sentence(self.run) if self.run else ""


MOST_NINES = 12


def _nines_address(run: Run, threshold_us: int) -> str:
    """Return the page of nines for the reads of a result and its share of slow reads.

    A share of 0 is rounded by its source, and one above 10 % has no nine: then the page uses its own target.
    """
    tps = shown_tps(run)
    reads_ratio = Fraction(run.reads_per_s or 0) / Fraction(run.tps or 1) if run.is_mix_reported else rates_of_act(1)[0]
    parameters = {"reads": max(round(tps * reads_ratio), 1)}
    share = share_of(run, threshold_us)
    if share is not None and 0 < share.share_pct <= 10:
        ratio = Fraction(share.share_pct) / 100
        parameters["nines"] = max(n for n in range(1, MOST_NINES + 1) if ratio * 10**n <= 1)
    return f"{reverse('nines')}?{urlencode(parameters)}"


def shown_tps(run: Run) -> Fraction:
    """Return the speed of one device or of a whole system; of all devices if their number is not reported."""
    return ranked_tps(run) or Fraction(run.tps or 0)


def _devices_note(run: Run) -> str:
    devices = run.device_count or 1
    if run.product is not None and run.product.category in SYSTEMS:
        storage = storage_text(run)
        return f" of {storage} together" if storage else ""
    if not ranked_tps(run):
        return " of all devices, whose number is not reported"
    if devices == 1:
        return ""
    return f" on each of {devices} devices, {units.decimal(run.tps)} tps together"


def _how(run: Run) -> str:
    """Return how the shares of a run were computed, and who published them."""
    statistic = Statistic(run.statistic)
    if statistic != Statistic.STEADY_AS_PUBLISHED:
        return HOW[statistic]
    tester = "by the maker" if run.source else "by a source that names no tester"
    by = "by Aerospike" if run.source == AEROSPIKE else tester
    return f"as published {by}: steady-state values, not the worst hour"


def _share_cell(run: Run, limit: Limit) -> Cell | None:
    share = share_of(run, limit.threshold_us)
    if share is None:
        return None
    return share_cell(share_column(limit.threshold_us, share_code(limit.threshold_us)), share, 0, limit.limit_pct)


def passing_runs(rows: Sequence[Run], limits: YourLimits) -> list[Run]:
    """Return the current results of a physical product that have a speed and pass the limits."""
    return [run for run in _with_speed(rows) if evaluate_limits("", run, limits).passes_limits]


def _rated_runs(rows: Sequence[Run]) -> list[Run]:
    return [run for run in rows if run.visibility == Visibility.PUBLIC and run.workload == RATED_WORKLOAD]


def _with_speed(rows: Sequence[Run]) -> list[Run]:
    return [run for run in _rated_runs(rows) if not run.is_on_no_drive and shown_tps(run)]


def headline_of(rows: Sequence[Run], limits: YourLimits, *, has_ycsb: bool) -> Headline:
    """Return the headline of a product from its public runs that were fetched for a table."""
    current = [run for run in rows if run.visibility == Visibility.PUBLIC]
    rated, with_speed = _rated_runs(rows), _with_speed(rows)
    if not with_speed:
        on_drives = [run for run in rated if not run.is_on_no_drive]
        return Headline(_state_without_result(current, rated, on_drives, has_ycsb=has_ycsb), limits)
    passing = {run.pk for run in passing_runs(rows, limits)}
    best = min(with_speed, key=lambda run: (run.pk not in passing, *_order(run)))
    return Headline(State.WITHIN if best.pk in passing else _state_of(best, limits), limits, best)


def _order(run: Run) -> tuple[bool, int, Fraction, int]:
    """Return the sort key: ranked results first, then by statistic, then the fastest."""
    return not group_of(run).is_ranked, STATISTICS_IN_ORDER.index(Statistic(run.statistic)), -shown_tps(run), run.pk


def _state_without_result(
    current: Sequence[Run], rated: Sequence[Run], on_drives: Sequence[Run], *, has_ycsb: bool
) -> State:
    if on_drives:
        return State.NO_SPEED
    if rated:
        return State.VIRTUAL_ONLY
    return State.NOT_RATED if current or has_ycsb else State.NONE_CURRENT


def _state_of(run: Run, limits: YourLimits) -> State:
    """Return why a run is not within the limits."""
    if evaluate_limits("", run, limits).is_over_limits:
        return State.OVER
    verdict = newest_verdict(run)
    outcomes = {Verdict.Outcome.UNDECIDED: State.UNDECIDED, Verdict.Outcome.VOID: State.VOID}
    return outcomes.get(Verdict.Outcome(verdict.outcome), State.FAILED) if verdict else State.FAILED


def worst_share(run: Run, limits: YourLimits) -> tuple[Limit, str] | None:
    """Return the limit that a run exceeds most, relative to the limit, with the share as printed."""
    over = [
        (limit, share)
        for limit in limits.limits
        if (share := share_of(run, limit.threshold_us)) and is_over(share, limit.limit_pct)
    ]
    if not over:
        return None
    limit, share = max(over, key=lambda each: each[1].share_pct / each[0].limit_pct if each[0].limit_pct else 101)
    return limit, units.share(share.printed, share.over_count)
