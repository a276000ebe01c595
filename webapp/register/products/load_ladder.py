"""Load ladder of a product: its runs by load with their shares, and its chart (static/js/charts/load-ladder.js)."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import groupby
from typing import Any

from results.models import Run, Statistic, Visibility
from results.rules.act.limits import Limit
from webapp.register.limits.virtual_devices import VIRTUAL_DEVICE_MARK
from webapp.register.tables.columns import share_code, share_column, share_of
from webapp.register.tables.evaluation import is_over
from webapp.register.tables.tables import STATISTIC_TITLES, Cell, share_cell
from webapp.templatetags import units


def ladders_of(runs: Iterable[Run], limits: tuple[Limit, ...]) -> list[dict[str, Any]]:
    """Return the ladders of current runs that were fetched for a table, lowest load first, without empty ladders.

    Values of two statistics are never in one ladder.
    """
    current = sorted((run for run in runs if run.visibility == Visibility.PUBLIC), key=_load_order)
    ladders = []
    for statistic, (title, note) in STATISTIC_TITLES.items():
        if same := [run for run in current if run.statistic == statistic]:
            rungs = [_rung(run, limits) for run in same]
            shown = {"title": title.rstrip(":"), "note": note, "rungs": rungs}
            ladders.append(shown | {"chart": _chart(Statistic(statistic).value, same, limits)})
    return ladders


def _load_order(run: Run) -> tuple[int, Decimal, Decimal, int]:
    """Return the sort key: the number of devices first, because N is per device; missing values last."""
    unknown = Decimal("Infinity")
    nx_load = unknown if run.nx_load is None else run.nx_load
    return run.device_count or 0, nx_load, unknown if run.tps is None else run.tps, run.pk


def _rung(run: Run, limits: tuple[Limit, ...]) -> dict[str, Any]:
    verdicts = run.verdicts.all()
    return {
        "run": run,
        "shares": [_share(run, limit) for limit in limits],
        "outcome": verdicts[0].get_outcome_display() if verdicts else "as published",
        "mark": VIRTUAL_DEVICE_MARK if run.is_on_no_drive else "",
    }


def _share(run: Run, limit: Limit) -> Cell | None:
    share = share_of(run, limit.threshold_us)
    if share is None:
        return None
    column = share_column(limit.threshold_us, share_code(limit.threshold_us))
    return share_cell(column, share, 0, limit.limit_pct)


RUNGS_MIN = 2  # with a load: one point is no curve


def _chart(code: str, runs: Sequence[Run], limits: Sequence[Limit]) -> dict[str, Any] | None:
    """Return the panels of a ladder with a line for each number of devices; None if it has fewer than two loads."""
    placed = [run for run in runs if run.nx_load is not None and not run.is_on_no_drive]
    if len(placed) < RUNGS_MIN:
        return None
    return {"id": f"ladder-{code}", "panels": [_panel(placed, limit) for limit in limits]}


def _panel(runs: Sequence[Run], limit: Limit) -> dict[str, Any]:
    by_devices = groupby(runs, key=lambda run: run.device_count)
    return {
        "threshold": units.threshold(limit.threshold_us),
        "thresholdUs": limit.threshold_us,
        "limit": float(limit.limit_pct),
        "limitText": units.decimal(limit.limit_pct),
        "lines": [_line(count, same, limit) for count, same in by_devices],
    }


def _line(device_count: int | None, runs: Iterable[Run], limit: Limit) -> dict[str, Any]:
    found = [(run, share) for run in runs if (share := share_of(run, limit.threshold_us))]
    return {
        "name": units.counted(device_count, "device") or "devices not reported",
        "runs": [run.public_id for run, _ in found],
        "loads": [float(run.nx_load or 0) for run, _ in found],
        "shares": [float(share.share_pct) for _, share in found],
        "printed": [units.share(share.printed, share.over_count) for _, share in found],
        "over": [is_over(share, limit.limit_pct) for _, share in found],
    }
