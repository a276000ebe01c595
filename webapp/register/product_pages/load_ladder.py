"""Load ladder of a product: the shares of its current runs by load, as panels drawn on the server.

The table of runs on the same page has the values of the panels.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import groupby
from typing import Any

from django.urls import reverse

from results.models import Run, Visibility
from results.rules.act.limits import Limit
from webapp.register.svg.panels import Rung, RungLine, ladder_svg
from webapp.register.tables.columns import share_of
from webapp.register.tables.evaluation import is_over
from webapp.register.tables.groups import COMPRESSIBLE_WORDS, TIME_WORDS, group_of
from webapp.register.tables.tables import STATISTIC_TITLES
from webapp.templatetags import units

LOADS_MIN = 2  # one load is no curve


def ladders_of(runs: Iterable[Run], limits: Sequence[Limit]) -> list[dict[str, Any]]:
    """Return the ladders of current runs that were fetched for a table.

    Values of two statistics are never in one ladder. A line connects the runs of one comparison group. A ladder has at
    least one line with two loads. A run on a virtual device is in no ladder.
    """
    current = [run for run in runs if run.visibility == Visibility.PUBLIC and not run.is_on_no_drive]
    placed = sorted((run for run in current if run.nx_load is not None), key=_load_order)
    ladders = []
    for statistic, (title, note) in STATISTIC_TITLES.items():
        lines = _lines([run for run in placed if run.statistic == statistic])
        if any(len({run.nx_load for run in runs}) >= LOADS_MIN for runs in lines.values()):
            panels = [_panel(lines, limit) for limit in limits]
            ladders.append({"title": title.rstrip(":"), "note": note, "panels": panels, "names": list(lines)})
    return ladders


def _lines(placed: Sequence[Run]) -> dict[str, list[Run]]:
    """Return the runs of each comparison group by the name of its line, which has only what differs."""
    grouped = [(group, list(runs)) for group, runs in groupby(placed, key=group_of)]
    has_times = len({group.time for group, _ in grouped}) > 1
    found = {}
    for group, runs in grouped:
        parts = [_devices(group.device_count)]
        parts += [TIME_WORDS[group.time]] * has_times + [COMPRESSIBLE_WORDS] * group.is_compressible
        found[", ".join(parts)] = runs
    return found


def _load_order(run: Run) -> tuple[int, str, Decimal, Decimal, int]:
    """Return the sort key: by comparison group, those of few devices first, then by load."""
    group = group_of(run)
    return group.device_count or 0, group.code, run.nx_load or Decimal(0), run.tps or Decimal(0), run.pk


def _devices(count: int | None) -> str:
    return units.counted(count, "device") or "devices not reported"


def _panel(lines_by_name: Mapping[str, Sequence[Run]], limit: Limit) -> dict[str, Any]:
    threshold, limit_text = units.threshold(limit.threshold_us), units.decimal(limit.limit_pct)
    name = f"Share of reads over {threshold} by load of each device; limit {limit_text} %"
    lines = [
        RungLine(line, [rung for run in runs if (rung := _rung(line, run, limit))])
        for line, runs in lines_by_name.items()
    ]
    return {
        "threshold": threshold,
        "limit": limit_text,
        "lines": lines,
        "svg": ladder_svg(name, lines, float(limit.limit_pct), limit_text),
    }


def _rung(line: str, run: Run, limit: Limit) -> Rung | None:
    """Return a run's mark on a panel; None if its share is not reported."""
    share = share_of(run, limit.threshold_us)
    if share is None or run.nx_load is None:
        return None
    over = is_over(share, limit.limit_pct)
    printed = units.share(share.printed, share.over_count)
    label = f"{units.nx(run.nx_load)}, {line}: {printed} %"
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
    return "There is no load ladder, because fewer than two loads are known that compare."
