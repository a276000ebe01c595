"""Marks of drives: size by capacity, shape by endurance rating, a line below if a share is over the limit.

No fact depends on colour alone. A page defines the outlines once, and its marks refer to them.
static/js/landscape/picture.js has the same classes.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import cache

from django.utils.safestring import SafeString, mark_safe

from results.rules.act.alternatives import EnduranceClass, endurance_class

CAPACITY_BOUNDS_GB = (2000, 4000, 8000)  # each class includes its upper end
RADII_PX = (3.4, 4.6, 6.0, 7.6)
CIRCLE, SQUARE, DIAMOND, CROSS = "c", "s", "d", "x"
OVER = "o"  # ends the symbols over the limit: the same outline with a line below it, as the limit is below the mark
OVER_LINE_PX = 3  # from the outline to this line
REACHES = {CIRCLE: 1.0, SQUARE: 0.89, DIAMOND: 1.3, CROSS: 1.08}  # as multiples of the radius
PROVIDER_SHAPES = (CIRCLE, SQUARE, DIAMOND, CROSS)
SHAPES = {
    EnduranceClass.LOW: CIRCLE,
    EnduranceClass.MEDIUM: SQUARE,
    EnduranceClass.HIGH: DIAMOND,
    EnduranceClass.UNRATED: CROSS,
}


def size_class(capacity_gb: float | None) -> int:
    """Return the class of a capacity, 0 to 3; the smallest if the capacity is not reported.

    >>> [size_class(capacity) for capacity in (None, 2000, 2001, 8000, 15_360)]
    [0, 0, 1, 2, 3]
    """
    return bisect_left(CAPACITY_BOUNDS_GB, capacity_gb or 0)


def symbol_of(endurance_dwpd: Decimal | float | None, capacity_gb: float | None) -> str:
    """Return the symbol of a drive's mark: its shape, a cross without a rating, and its size.

    >>> [symbol_of(dwpd, 4000) for dwpd in (None, 1.9, 2, 4.9, 5)]
    ['x1', 'c1', 's1', 's1', 'd1']
    """
    return f"{SHAPES[endurance_class(endurance_dwpd)]}{size_class(capacity_gb)}"


def provider_symbol(place: int, capacity_gb: float | None) -> str:
    """Return the symbol of an instance by the place of its provider: all from the fourth on have one shape.

    >>> [provider_symbol(place, 4000) for place in (0, 1, 2, 3, 4)]
    ['c1', 's1', 'd1', 'x1', 'x1']
    """
    return f"{PROVIDER_SHAPES[min(place, len(PROVIDER_SHAPES) - 1)]}{size_class(capacity_gb)}"


def provider_class(place: int) -> str:
    """Return the class of the colour of a provider by its place.

    >>> [provider_class(place) for place in (0, 3, 4)]
    ['p0', 'p3', 'p3']
    """
    return f"p{min(place, len(PROVIDER_SHAPES) - 1)}"


def over_limit(symbol: str) -> str:
    """Return the symbol of a mark over the limit, which keeps its shape and its size.

    >>> over_limit("d2")
    'd2o'
    """
    return f"{symbol}{OVER}"


def radius_of(symbol: str) -> float:
    """Return about the distance from the centre of a symbol to its edge, px."""
    return RADII_PX[int(symbol[1])]


@cache
def reach_of(symbol: str) -> float:
    """Return the distance from the centre of a symbol to its outermost points, px: a diamond has its corners there.

    >>> [round(reach_of(symbol), 2) for symbol in ("c1", "s1", "d1", "x1")]
    [4.6, 4.09, 5.98, 4.97]
    """
    return radius_of(symbol) * REACHES[symbol[0]]


@cache
def depth_of(symbol: str) -> float:
    """Return about the distance from the centre of a symbol down to its lowest line, px.

    >>> depth_of("c1"), depth_of("c1o")
    (4.6, 7.6)
    """
    return reach_of(symbol) + (OVER_LINE_PX if symbol.endswith(OVER) else 0)


def symbol_paths() -> Iterator[tuple[str, str]]:
    """Yield each symbol with its outline around the origin, in px; all shapes of one size have about the same area."""
    for size, radius in enumerate(RADII_PX):
        outlines = (
            (CIRCLE, _circle(radius)),
            (SQUARE, _polygon([(-1, -1), (1, -1), (1, 1), (-1, 1)], radius * REACHES[SQUARE])),
            (DIAMOND, _polygon([(0, -1), (1, 0), (0, 1), (-1, 0)], radius * REACHES[DIAMOND])),
            (CROSS, _polygon(_CROSS, radius * REACHES[CROSS] / 2)),
        )
        for shape, outline in outlines:
            symbol = f"{shape}{size}"
            yield symbol, outline
            yield over_limit(symbol), f"{outline}M{-radius:g} {depth_of(over_limit(symbol)):.4g}h{2 * radius:g}"


_CROSS = ((0, 1), (1, 2), (2, 1), (1, 0), (2, -1), (1, -2), (0, -1), (-1, -2), (-2, -1), (-1, 0), (-2, 1), (-1, 2))


def _circle(radius: float) -> str:
    return f"M{-radius:g} 0a{radius:g} {radius:g} 0 1 0 {2 * radius:g} 0a{radius:g} {radius:g} 0 1 0 {-2 * radius:g} 0z"


def _polygon(corners: Iterable[tuple[int, int]], unit: float) -> str:
    return "M" + "L".join(f"{x * unit:.4g} {y * unit:.4g}" for x, y in corners) + "z"


def symbols_svg() -> SafeString:
    """Return the outlines that the marks and ticks of a page refer to. Each page has them once."""
    paths = "".join(f'<path id="{symbol}" d="{path}"/>' for symbol, path in symbol_paths())
    svg = f'<svg class="symbols" width="0" height="0" aria-hidden="true"><defs>{paths}<path id="tk" d="M0 0v5"/></defs>'
    return mark_safe(f"{svg}</svg>")  # noqa: S308 - of constants
