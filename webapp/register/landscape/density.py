"""Density cells: where a chart has too many drives for one mark each, cells count them.

The grid has a fixed number of cells, each about 17 px wide and high on a desktop. The shade of a cell is a power of
two. Each cell links to the filter that its lower left corner is: at least its speed, at most its largest share.
"""

import math
from collections.abc import Iterable, Mapping

from webapp.register.landscape.picture import Cell, percent
from webapp.register.landscape.speed_chart import SpeedQuestion

MARKS_AT_MOST = 500
COLUMNS, ROWS = 40, 12  # the templates of cells have their size in percent
LEVELS = 5
SHARE_PLACES = 100  # of a percent, in the filter of a cell


def column_of(question: SpeedQuestion, tps: float) -> int:
    """Return the column of a speed, 0 at the left."""
    return min(max(math.floor(question.x.place(tps) * COLUMNS), 0), COLUMNS - 1)


def rows_of_shares(question: SpeedQuestion, shares_pct: Iterable[float]) -> list[int]:
    """Return the row of each share, 0 at the bottom."""
    rows_a_percent, top = ROWS / question.y.high, ROWS - 1
    return [min(int(share * rows_a_percent), top) for share in shares_pct]


def level_of(drives_count: int) -> int:
    """Return the shade of a cell, which rises with each power of two.

    >>> [level_of(count) for count in (1, 2, 3, 4, 15, 16, 1000)]
    [1, 2, 2, 3, 4, 5, 5]
    """
    return min(drives_count.bit_length(), LEVELS)


def density_cells(question: SpeedQuestion, counts: Mapping[int, int]) -> tuple[Cell, ...]:
    """Return the cells, given the number of drives by cell: column x ROWS + row."""
    return tuple(_cell(question, *divmod(cell, ROWS), counts[cell]) for cell in sorted(counts))


def _cell(question: SpeedQuestion, column: int, row: int, drives_count: int) -> Cell:
    x, y = question.x, question.y
    lowest_tps = x.low * (x.high / x.low) ** (column / COLUMNS)
    largest_share = y.high * (row + 1) / ROWS
    return Cell(
        percent(column / COLUMNS),
        percent(1 - (row + 1) / ROWS),
        level_of(drives_count),
        drives_count,
        math.floor(lowest_tps + 1e-6),
        math.ceil(largest_share * SHARE_PLACES - 1e-6) / SHARE_PLACES,
    )
