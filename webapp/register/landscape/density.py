"""Density cells: where a chart has too many drives for one mark each, cells count them.

The grid has a fixed number of cells, each about 17 px wide and high on a desktop. The shade of a cell is a power of
two. Each cell links to the filter that its lower left corner is: at least its speed, at most its largest share.
"""

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence

from webapp.register.landscape.picture import Cell, percent
from webapp.register.landscape.speed_chart import SpeedQuestion
from webapp.register.svg.scales import LinearScale, LogScale

MARKS_AT_MOST = 500
COLUMNS, ROWS = 40, 12  # the templates of cells have their size in percent
LEVELS = 5
SHARE_PLACES = 100  # of a percent, in the filter of a cell


def column_of(question: SpeedQuestion, tps: float) -> int:
    """Return the column of a speed, 0 at the left."""
    return min(max(math.floor(question.x.place(tps) * COLUMNS), 0), COLUMNS - 1)


def rows_of_shares(question: SpeedQuestion, shares_pct: Sequence[float]) -> list[int]:
    """Return the row of each share, 0 at the bottom. The shares ascend, so that only the ends of rows are searched."""
    rows_a_percent, top = ROWS / question.y.high, ROWS - 1
    rows: list[int] = []
    for row in range(top):
        end = bisect_left(shares_pct, row + 1, lo=len(rows), key=lambda share: int(share * rows_a_percent))
        rows += [row] * (end - len(rows))
    return rows + [top] * (len(shares_pct) - len(rows))


def level_of(drives_count: int) -> int:
    """Return the shade of a cell, which rises with each power of two.

    >>> [level_of(count) for count in (1, 2, 3, 4, 15, 16, 1000)]
    [1, 2, 2, 3, 4, 5, 5]
    """
    return min(drives_count.bit_length(), LEVELS)


def density_cells(question: SpeedQuestion, counts: Mapping[int, int]) -> tuple[Cell, ...]:
    """Return the cells, given the number of drives by cell: column x ROWS + row."""
    columns, rows = _columns(question.x), _rows(question.y)
    found = ((*divmod(cell, ROWS), counts[cell]) for cell in sorted(counts))
    return tuple(
        Cell(columns[column][0], rows[row][0], level_of(count), count, columns[column][1], rows[row][1])
        for column, row, count in found
    )


def _columns(x: LogScale) -> list[tuple[float, int]]:
    """Return the left side of each column, and the lowest speed in it."""
    ratio = x.high / x.low
    lowest = (x.low * ratio ** (column / COLUMNS) for column in range(COLUMNS))
    return [(percent(column / COLUMNS), math.floor(tps + 1e-6)) for column, tps in enumerate(lowest)]


def _rows(y: LinearScale) -> list[tuple[float, float | None]]:
    """Return the upper side of each row, and the largest share in it; the highest row has no largest one."""
    largest: list[float | None] = [
        min(math.ceil(y.high * row / ROWS * SHARE_PLACES - 1e-6) / SHARE_PLACES, 100) for row in range(1, ROWS)
    ]
    return [(percent(1 - (row + 1) / ROWS), share) for row, share in enumerate([*largest, None])]
