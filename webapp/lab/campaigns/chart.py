"""Charts of the ladder: load against the share over each threshold, as SVG attributes.

The axis of each panel ends at one and a half times its limit. All limit lines are therefore at the same height. Points
above the axis are drawn as triangles at the upper edge.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from results.rules.act.limits import Limit
from runners.campaigns.ladder import Rung
from runners.campaigns.messages import nx, step_name
from runners.campaigns.terms import CONCLUSIVE, Purpose, Result
from webapp.templatetags import units

WIDTH, HEIGHT = 340, 190
LEFT, RIGHT, TOP, BOTTOM = 34, 12, 16, 28
AXIS_MAX_RATIO = Decimal("1.5")  # of the limit
PLOTTED = (Purpose.SCREENING, Purpose.LOAD)  # A stress test only has to run to completion.
TICK_STEPS = (1, 2, 3, 5, 7)
TICKS_MAX = 6
RADIUS = 4


@dataclass(frozen=True)
class Point:
    """One run; `x` and `y` are SVG units. `shape` is dot, box (over the limit) or triangle (off the scale)."""

    x: str
    y: str
    box_x: str
    box_y: str
    triangle: str
    shape: str
    is_load_test: bool
    title: str


@dataclass(frozen=True)
class Tick:
    """A position on an axis with its label."""

    at: str
    label: str


@dataclass(frozen=True)
class Panel:
    """The chart of one threshold."""

    threshold_us: int
    limit_pct: Decimal
    limit_y: str
    label_y: str
    points: tuple[Point, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    confirmed_x: str
    summary: str


@dataclass(frozen=True)
class _Scale:
    """A logarithmic scale of loads: steps by the same factor have the same distance."""

    min_load: float
    max_load: float

    def x(self, load: Decimal) -> float:
        span = math.log(self.max_load / self.min_load)
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(float(load) / self.min_load) / span


def panels_of(rungs: Sequence[Rung], limits: Iterable[Limit], confirmed_nx: Decimal | None) -> list[Panel]:
    """Return a panel for each limit; none before the first run with shares."""
    plotted = [
        rung for rung in rungs if rung.outcome.purpose in PLOTTED and rung.outcome.result in CONCLUSIVE and rung.shares
    ]
    if not plotted:
        return []
    scale = _scale_of([rung.outcome.nx for rung in plotted if rung.outcome.nx is not None])
    return [_panel(plotted, limit, scale, confirmed_nx) for limit in limits]


def _scale_of(loads: Sequence[Decimal]) -> _Scale:
    """Return a scale with a margin of a fifth on each side, so that no point touches the frame."""
    return _Scale(float(min(loads)) / 1.2, float(max(loads)) * 1.2)


def _panel(rungs: Sequence[Rung], limit: Limit, scale: _Scale, confirmed_nx: Decimal | None) -> Panel:
    points = [point for rung in rungs if (point := _point(rung, limit, scale)) is not None]
    limit_y = _y(limit.limit_pct, limit.limit_pct)
    half = limit.limit_pct / 2
    return Panel(
        threshold_us=limit.threshold_us,
        limit_pct=limit.limit_pct,
        limit_y=_units(limit_y),
        label_y=_units(limit_y - 4),
        points=tuple(points),
        x_ticks=_x_ticks(scale),
        y_ticks=tuple(Tick(_units(_y(share, limit.limit_pct)), units.decimal(share)) for share in (Decimal(0), half)),
        confirmed_x="" if confirmed_nx is None else _units(scale.x(confirmed_nx)),
        summary=_summary(len(points), limit),
    )


def _summary(points_count: int, limit: Limit) -> str:
    runs = units.counted(points_count, "run")
    return f"Share over {units.threshold(limit.threshold_us)} by load, {runs}; limit {units.decimal(limit.limit_pct)} %"


def _point(rung: Rung, limit: Limit, scale: _Scale) -> Point | None:
    share = next((share for share in rung.shares if share.threshold_us == limit.threshold_us), None)
    if share is None or rung.outcome.nx is None:
        return None
    is_over = share.share_pct > limit.limit_pct
    is_off = share.share_pct > AXIS_MAX_RATIO * limit.limit_pct
    x, y = scale.x(rung.outcome.nx), _y(min(share.share_pct, AXIS_MAX_RATIO * limit.limit_pct), limit.limit_pct)
    return Point(
        x=_units(x),
        y=_units(y),
        box_x=_units(x - RADIUS),
        box_y=_units(y - RADIUS),
        triangle=f"{_units(x)},{_units(y - 5)} {_units(x + 5)},{_units(y + 4)} {_units(x - 5)},{_units(y + 4)}",
        shape="triangle" if is_off else "box" if is_over else "dot",
        is_load_test=rung.outcome.purpose is Purpose.LOAD,
        title=f"{step_name(rung.outcome.purpose, rung.outcome.nx)}: {units.share(share.printed, share.over_count)} %",
    )


def _y(share_pct: Decimal, limit_pct: Decimal) -> float:
    ratio = float(share_pct / (AXIS_MAX_RATIO * limit_pct)) if limit_pct else float(share_pct > 0)
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * ratio


def _x_ticks(scale: _Scale) -> tuple[Tick, ...]:
    """Return round loads between the ends, at most as many as fit on a phone."""
    lowest, highest = math.floor(math.log10(scale.min_load)), math.ceil(math.log10(scale.max_load))
    loads = [Decimal(step).scaleb(power) for power in range(lowest, highest + 1) for step in TICK_STEPS]
    within = [load for load in loads if scale.min_load * 1.05 <= float(load) <= scale.max_load / 1.05]
    if len(within) < 2:
        within = [_rounded(scale.min_load * 1.2), _rounded(scale.max_load / 1.2)]
    stride = -(-len(within) // TICKS_MAX)
    return tuple(Tick(_units(scale.x(load)), nx(load)) for load in dict.fromkeys(within[::stride]))


def _rounded(load: float) -> Decimal:
    return Decimal(f"{load:.3g}")


def _units(position: float) -> str:
    return f"{position:.1f}"


def is_failed(rung: Rung) -> bool:
    """Return whether a run shows that the drive does not sustain the load."""
    return rung.outcome.result in {Result.FAILED, Result.OVERLOADED}
