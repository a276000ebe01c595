"""What the chart of a ladder draws: for each limit a panel of load of each device against share over the threshold."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from results.rules.act.limits import Limit
from webapp.register.products.ladder import Ladder, Rung
from webapp.register.tables.columns import share_of
from webapp.register.tables.evaluation import is_over
from webapp.templatetags import units

RUNGS_MIN = 2  # with a load: one point is no curve


def chart_of(ladder: Ladder, limits: Sequence[Limit]) -> dict[str, Any] | None:
    """Return the panels of a ladder, a line for each number of devices; None where it has no two loads to join."""
    placed = [rung for rung in ladder.rungs if rung.run.nx_load is not None and not rung.run.is_on_no_drive]
    if len(placed) < RUNGS_MIN:
        return None
    return {"id": f"ladder-{ladder.code}", "panels": [_panel(placed, limit) for limit in limits]}


def _panel(rungs: Sequence[Rung], limit: Limit) -> dict[str, Any]:
    by_devices = groupby(rungs, key=lambda rung: rung.run.device_count)
    return {
        "threshold": units.threshold(limit.threshold_us),
        "thresholdUs": limit.threshold_us,
        "limit": float(limit.limit_pct),
        "limitText": units.decimal(limit.limit_pct),
        "lines": [_line(count, same, limit) for count, same in by_devices],
    }


def _line(device_count: int | None, rungs: Iterable[Rung], limit: Limit) -> dict[str, Any]:
    found = [(rung, share) for rung in rungs if (share := share_of(rung.run, limit.threshold_us))]
    return {
        "name": units.counted(device_count, "device") or "devices not stated",
        "runs": [rung.run.public_id for rung, _ in found],
        "loads": [float(rung.run.nx_load or 0) for rung, _ in found],
        "shares": [float(share.share_pct) for _, share in found],
        "printed": [units.share(share.printed, share.over_count) for _, share in found],
        "over": [is_over(share, limit.limit_pct) for _, share in found],
    }
