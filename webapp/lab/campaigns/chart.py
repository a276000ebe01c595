"""Charts of a campaign: load against the share over each threshold, as SVG attributes.

The axis of each panel ends at one and a half times its limit. All limit lines are therefore at the same height. Points
above the axis are drawn as triangles at the upper edge. A vertical dashed line marks the confirmed load.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from results.rules.act.limits import Limit
from runners.campaigns.messages import nx, step_name
from runners.campaigns.outcomes import Rung
from runners.campaigns.terms import CONCLUSIVE, Purpose
from webapp.templatetags import units

WIDTH, HEIGHT = 340, 190
LEFT, RIGHT, TOP, BOTTOM = 34, 12, 16, 28
AXIS_MAX_RATIO = Decimal("1.5")  # of the limit
PLOTTED = (Purpose.SCREENING, Purpose.LOAD)  # A stress test only has to run to completion.
TICK_STEPS = (1, 2, 3, 5, 7)
TICKS_MAX = 6


@dataclass(frozen=True)
class _Scale:
    """A logarithmic scale of loads: steps by the same factor have the same distance."""

    min_load: float
    max_load: float

    def x(self, load: Decimal) -> float:
        span = math.log(self.max_load / self.min_load)
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(float(load) / self.min_load) / span


def panels_of(rungs: Iterable[Rung], limits: Iterable[Limit], confirmed_nx: Decimal | None) -> list[dict[str, Any]]:
    """Return a panel for each limit; none before the first run with shares."""
    plotted = [
        rung for rung in rungs if rung.outcome.purpose in PLOTTED and rung.outcome.result in CONCLUSIVE and rung.shares
    ]
    if not plotted:
        return []
    loads = [float(rung.outcome.nx) for rung in plotted if rung.outcome.nx is not None]
    scale = _Scale(min(loads) / 1.2, max(loads) * 1.2)  # a margin on each side, so that no point touches the frame
    return [_panel(plotted, limit, scale, confirmed_nx) for limit in limits]


def _panel(rungs: Sequence[Rung], limit: Limit, scale: _Scale, confirmed_nx: Decimal | None) -> dict[str, Any]:
    points = [point for rung in rungs if (point := _point(rung, limit, scale)) is not None]
    threshold, limit_pct = units.threshold(limit.threshold_us), units.decimal(limit.limit_pct)
    ticks = (Decimal(0), limit.limit_pct / 2)
    return {
        "threshold_us": limit.threshold_us,
        "limit_pct": limit.limit_pct,
        "limit_y": _units(_y(limit.limit_pct, limit.limit_pct)),
        "points": points,
        "x_ticks": [(_units(scale.x(load)), nx(load)) for load in _round_loads(scale)],
        "y_ticks": [(_units(_y(share_pct, limit.limit_pct)), units.decimal(share_pct)) for share_pct in ticks],
        "confirmed_x": "" if confirmed_nx is None else _units(scale.x(confirmed_nx)),
        "summary": f"Share over {threshold} by load, {units.counted(len(points), 'run')}; limit {limit_pct} %",
    }


def _point(rung: Rung, limit: Limit, scale: _Scale) -> dict[str, Any] | None:
    """Return one run: its place in the chart, and its shape: dot, box (over the limit) or triangle (off the scale)."""
    share = next((share for share in rung.shares if share.threshold_us == limit.threshold_us), None)
    if share is None or rung.outcome.nx is None:
        return None
    printed = units.share(share.printed, share.over_count)
    is_over = share.share_pct > limit.limit_pct
    is_off = share.share_pct > AXIS_MAX_RATIO * limit.limit_pct
    return {
        "x": _units(scale.x(rung.outcome.nx)),
        "y": _units(_y(min(share.share_pct, AXIS_MAX_RATIO * limit.limit_pct), limit.limit_pct)),
        "shape": "triangle" if is_off else "box" if is_over else "dot",
        "is_load_test": rung.outcome.purpose is Purpose.LOAD,
        "title": f"{step_name(rung.outcome.purpose, rung.outcome.nx)}: {printed} %",
    }


def _y(share_pct: Decimal, limit_pct: Decimal) -> float:
    ratio = float(share_pct / (AXIS_MAX_RATIO * limit_pct)) if limit_pct else float(share_pct > 0)
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * ratio


def _round_loads(scale: _Scale) -> list[Decimal]:
    """Return round loads between the ends, at most as many as fit on a phone."""
    lowest, highest = math.floor(math.log10(scale.min_load)), math.ceil(math.log10(scale.max_load))
    loads = [Decimal(step).scaleb(power) for power in range(lowest, highest + 1) for step in TICK_STEPS]
    within = [load for load in loads if scale.min_load * 1.05 <= float(load) <= scale.max_load / 1.05]
    if len(within) < 2:
        within = [Decimal(f"{load:.3g}") for load in (scale.min_load * 1.2, scale.max_load / 1.2)]
    stride = -(-len(within) // TICKS_MAX)
    return list(dict.fromkeys(within[::stride]))


def _units(position: float) -> str:
    return f"{position:.1f}"
