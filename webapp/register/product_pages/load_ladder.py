"""Load ladder of a product: the shares of its current runs by load, as panels drawn on the server.

The table of runs on the same page has the values of the panels.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import groupby
from typing import Any

from django.urls import reverse

from results.models import Run, Visibility
from results.rules.act.limits import Limit
from webapp.register.svg.panels import Rung, RungLine, ladder_svg
from webapp.register.tables.columns import share_of
from webapp.register.tables.evaluation import is_over
from webapp.register.tables.tables import STATISTIC_TITLES
from webapp.templatetags import units

LOADS_MIN = 2  # one load is no curve


def ladders_of(runs: Iterable[Run], limits: Sequence[Limit]) -> list[dict[str, Any]]:
    """Return the ladders of current runs that were fetched for a table; only those with at least two loads.

    Values of two statistics are never in one ladder. A run on a virtual device is in none.
    """
    current = [run for run in runs if run.visibility == Visibility.PUBLIC and not run.is_on_no_drive]
    placed = sorted((run for run in current if run.nx_load is not None), key=_load_order)
    ladders = []
    for statistic, (title, note) in STATISTIC_TITLES.items():
        same = [run for run in placed if run.statistic == statistic]
        if len({run.nx_load for run in same}) >= LOADS_MIN:
            panels = [_panel(same, limit) for limit in limits]
            ladders.append({"title": title.rstrip(":"), "note": note, "panels": panels, "names": _names(same)})
    return ladders


def _load_order(run: Run) -> tuple[int, Decimal, Decimal, int]:
    """Return the sort key: the number of devices first, because N is per device."""
    return run.device_count or 0, run.nx_load or Decimal(0), run.tps or Decimal(0), run.pk


def _names(runs: Sequence[Run]) -> list[str]:
    return [_devices(count) for count, _ in groupby(runs, key=lambda run: run.device_count)]


def _devices(count: int | None) -> str:
    return units.counted(count, "device") or "devices not reported"


def _panel(runs: Sequence[Run], limit: Limit) -> dict[str, Any]:
    threshold, limit_text = units.threshold(limit.threshold_us), units.decimal(limit.limit_pct)
    name = f"Share of reads over {threshold} by load of each device; limit {limit_text} %"
    lines = [
        RungLine(_devices(count), [rung for run in same if (rung := _rung(run, limit))])
        for count, same in groupby(runs, key=lambda run: run.device_count)
    ]
    return {
        "threshold": threshold,
        "limit": limit_text,
        "lines": lines,
        "svg": ladder_svg(name, lines, float(limit.limit_pct), limit_text),
    }


def _rung(run: Run, limit: Limit) -> Rung | None:
    """Return a run's mark on a panel; None if its share is not reported."""
    share = share_of(run, limit.threshold_us)
    if share is None or run.nx_load is None:
        return None
    over = is_over(share, limit.limit_pct)
    printed = units.share(share.printed, share.over_count)
    label = f"{units.nx(run.nx_load)}, {_devices(run.device_count)}: {printed} %"
    label += f"{', over the limit' if over else ''}; run {run.public_id}"
    return Rung(float(run.nx_load), float(share.share_pct), over, label, reverse("run-detail", args=[run.public_id]))


def missing_ladder_sentence(runs: Iterable[Run]) -> str:
    """Return why there is no ladder, for a product with current runs; empty without any."""
    current = [run for run in runs if run.visibility == Visibility.PUBLIC and not run.is_on_no_drive]
    if not current:
        return ""
    if len(current) == 1:
        kind = "published" if current[0].reading_id is None else "tested"
        return f"Only one load is {kind}, so there is no load ladder yet."
    return "There is no load ladder, because fewer than two loads are known."
