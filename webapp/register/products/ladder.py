"""The ladder of a product: its runs by load, each with its shares over the limits, one ladder for each statistic."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from results.models import Run, Statistic, Verdict
from results.rules.act.limits import Limit
from webapp.register.limits.virtual_devices import NOT_ON_DRIVES
from webapp.register.runs.page import OUTCOME_WORDS
from webapp.register.tables.columns import share_code, share_column, share_of
from webapp.register.tables.tables import STATISTIC_TITLES, Cell, share_cell
from webapp.templatetags import units


@dataclass(frozen=True)
class Rung:
    """One run of the ladder."""

    run: Run
    load: str
    devices: str
    speed: str
    shares: list[Cell | None]
    outcome: str
    mark: str


@dataclass(frozen=True)
class Ladder:
    """The rungs of one statistic, lowest load first; figures of two statistics never share a ladder."""

    code: str
    title: str
    note: str
    rungs: list[Rung]


@dataclass(frozen=True)
class Ladders:
    """All ladders of a product, and the limits that head their columns."""

    limits: tuple[Limit, ...]
    ladders: list[Ladder]

    @property
    def has_several(self) -> bool:
        """There are runs to choose from: one alone compares with none here."""
        return sum(len(ladder.rungs) for ladder in self.ladders) > 1


def ladders_of(runs: Iterable[Run], limits: tuple[Limit, ...]) -> Ladders:
    """Return the ladders of runs that stand and were fetched for a table; those without any run are left out."""
    standing = [run for run in runs if run.visibility == "public"]
    ladders = []
    for statistic, (title, note) in STATISTIC_TITLES.items():
        same = sorted((run for run in standing if run.statistic == statistic), key=_load_order)
        if same:
            rungs = [_rung(run, limits) for run in same]
            ladders.append(Ladder(Statistic(statistic).value, title.rstrip(":"), note, rungs))
    return Ladders(limits, ladders)


def _load_order(run: Run) -> tuple[int, Decimal, Decimal, int]:
    """By number of devices, since N is per device; what is not stated comes last."""
    unknown = Decimal("Infinity")
    nx_load = unknown if run.nx_load is None else run.nx_load
    return run.device_count or 0, nx_load, unknown if run.tps is None else run.tps, run.pk


def _rung(run: Run, limits: tuple[Limit, ...]) -> Rung:
    verdicts = run.verdicts.all()
    return Rung(
        run=run,
        load=units.nx(run.nx_load),
        devices=units.count(run.device_count),
        speed=units.decimal(run.tps),
        shares=[_share(run, limit) for limit in limits],
        outcome=OUTCOME_WORDS[Verdict.Outcome(verdicts[0].outcome)] if verdicts else "as published",
        mark=NOT_ON_DRIVES if run.is_on_no_drive else "",
    )


def _share(run: Run, limit: Limit) -> Cell | None:
    share = share_of(run, limit.threshold_us)
    if share is None:
        return None
    column = share_column(limit.threshold_us, share_code(limit.threshold_us))
    return share_cell(column, share, 0, limit.limit_pct)
