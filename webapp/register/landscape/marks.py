"""The drives of a landscape chart and their marks. The fill of a mark shows the comparison group."""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from results.rules.act.comparison_groups import ComparisonGroup, ReadTime
from webapp.register.svg.marks import depth_of, provider_class, provider_symbol, reach_of, size_class, symbol_of


class Fill(StrEnum):
    """The fill of a mark: what the share of slow reads measures."""

    SERVICE = "full"  # service time
    WITH_QUEUE = "open"
    UNRANKED = "unranked"


GROUP_WORDS = {Fill.SERVICE: "ACT 6.x", Fill.WITH_QUEUE: "ACT up to 5.3"}


class State(StrEnum):
    """The colour of a mark: whether the result is within the limit of the chart, the other limits and the load."""

    WITHIN = "in"
    OUTSIDE = "out"
    OVER = "over"


def fill_of(group: ComparisonGroup) -> Fill:
    """Return the fill of the marks of a comparison group."""
    if not group.is_ranked:
        return Fill.UNRANKED
    return Fill.SERVICE if group.time is ReadTime.SERVICE else Fill.WITH_QUEUE


@dataclass(frozen=True)
class PlottedDrive:
    """One result as a chart plots it.

    `key` identifies it. `model` and `name` are the texts of its label: without the capacity, and with it. `sustained`
    is the speed that the endurance rating allows; None if it is not known. `provider` is the place of its provider, if
    shape and colour of the marks show providers.
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
    provider: int | None = None

    @cached_property
    def size(self) -> int:
        """Return the size of its mark: the class of its capacity."""
        return size_class(self.capacity_gb)

    @cached_property
    def symbol(self) -> str:
        """Return the symbol of its mark: shape and size."""
        if self.provider is not None:
            return provider_symbol(self.provider, self.capacity_gb)
        return symbol_of(self.endurance_dwpd, self.capacity_gb)

    @property
    def provider_class(self) -> str:
        """Return the class of the colour of its provider, after a blank; empty if marks do not show providers."""
        return "" if self.provider is None else f" {provider_class(self.provider)}"

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
    def reach_px(self) -> float:
        """Return the distance from its centre to its outermost points."""
        return reach_of(self.symbol)

    @property
    def depth_px(self) -> float:
        """Return the distance from its centre down to its lowest line."""
        return depth_of(self.symbol)
