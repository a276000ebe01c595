"""The drives of a landscape chart and the classes of their marks: size, shape and fill.

Size shows the class of capacity, shape the class of endurance, and fill the comparison group, so that no fact depends
on colour alone. static/js/landscape/picture.js has the same classes.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from results.rules.act.comparison_groups import ComparisonGroup, ReadTime

CAPACITY_BOUNDS_GB = (2000, 4000, 8000)  # each class includes its upper end
RADII_PX = (3.4, 4.6, 6.0, 7.6)
SQUARES_FROM_DWPD, DIAMONDS_FROM_DWPD = 2, 5
CIRCLE, SQUARE, DIAMOND, CROSS = "c", "s", "d", "x"


class Fill(StrEnum):
    """The fill of a mark: what the share of slow reads measures."""

    SERVICE = "full"  # service time
    WITH_QUEUE = "open"
    UNRANKED = "apart"


def fill_of(group: ComparisonGroup) -> Fill:
    """Return the fill of the marks of a comparison group."""
    if not group.is_ranked:
        return Fill.UNRANKED
    return Fill.SERVICE if group.time is ReadTime.SERVICE else Fill.WITH_QUEUE


def size_class(capacity_gb: float | None) -> int:
    """Return the class of a capacity, 0 to 3; the smallest if the capacity is not reported.

    >>> [size_class(capacity) for capacity in (None, 2000, 2001, 8000, 15_360)]
    [0, 0, 1, 2, 3]
    """
    return bisect_left(CAPACITY_BOUNDS_GB, capacity_gb or 0)


def shape_of(endurance_dwpd: float | None) -> str:
    """Return the code of the shape of an endurance rating: a cross if there is none.

    >>> [shape_of(dwpd) for dwpd in (None, 1.9, 2, 4.9, 5)]
    ['x', 'c', 's', 's', 'd']
    """
    if endurance_dwpd is None:
        return CROSS
    if endurance_dwpd >= DIAMONDS_FROM_DWPD:
        return DIAMOND
    return SQUARE if endurance_dwpd >= SQUARES_FROM_DWPD else CIRCLE


@dataclass(frozen=True)
class PlottedDrive:
    """One result as a chart plots it.

    `key` identifies it. `model` and `name` are the texts of its label: without the capacity, and with it. `sustained`
    is the speed that the endurance rating sustains; None if it is not known.
    """

    key: int
    tps: float
    share_pct: float
    fill: str
    is_within: bool
    capacity_gb: float | None
    endurance_dwpd: float | None
    model: str
    name: str
    sustained_tps: float | None = None

    @cached_property
    def size(self) -> int:
        """Return the size of its mark: the class of its capacity."""
        return size_class(self.capacity_gb)

    @cached_property
    def symbol(self) -> str:
        """Return the symbol of its mark: shape and size."""
        return f"{shape_of(self.endurance_dwpd)}{self.size}"

    @cached_property
    def paint_order(self) -> tuple[int, float, int]:
        """Return the sort key of painting: small marks over large ones, slow drives over fast ones."""
        return -self.size, -self.tps, self.key


class Mark(NamedTuple):
    """A drawn mark: the place of its centre in percent of the plot, its symbol, and its classes."""

    key: int
    x: float
    y: float
    symbol: str
    classes: str

    @property
    def radius_px(self) -> float:
        """Return about the distance from its centre to its edge."""
        return RADII_PX[int(self.symbol[1:])]


def symbol_paths() -> Iterator[tuple[str, str]]:
    """Yield each symbol with its outline around the origin, in px."""
    for size, radius in enumerate(RADII_PX):
        yield f"{CIRCLE}{size}", _circle(radius)
        yield f"{SQUARE}{size}", _polygon([(-1, -1), (1, -1), (1, 1), (-1, 1)], radius * 0.89)
        yield f"{DIAMOND}{size}", _polygon([(0, -1), (1, 0), (0, 1), (-1, 0)], radius * 1.3)
        yield f"{CROSS}{size}", _polygon(_CROSS, radius * 0.36)


_CROSS = ((0, 1), (2, 3), (3, 2), (1, 0), (3, -2), (2, -3), (0, -1), (-2, -3), (-3, -2), (-1, 0), (-3, 2), (-2, 3))


def _circle(radius: float) -> str:
    return f"M{-radius:g} 0a{radius:g} {radius:g} 0 1 0 {2 * radius:g} 0a{radius:g} {radius:g} 0 1 0 {-2 * radius:g} 0z"


def _polygon(corners: Iterable[tuple[int, int]], unit: float) -> str:
    return "M" + "L".join(f"{x * unit:.4g} {y * unit:.4g}" for x, y in corners) + "z"
