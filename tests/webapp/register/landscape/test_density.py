"""Density cells: every drive is counted once, and a cell links to a filter that contains its drives."""

from collections import Counter

import pytest

from webapp.register.landscape.density import COLUMNS, ROWS, column_of, density_cells, rows_of_shares
from webapp.register.landscape.speed_chart import SpeedQuestion

QUESTION = SpeedQuestion(5.0, 100, 10_000, 5.0)
DRIVES = [(100 + 37 * number, number % 51 / 10) for number in range(260)]


def cells_of(drives):
    places = ((column_of(QUESTION, tps), rows_of_shares(QUESTION, [share])[0]) for tps, share in drives)
    return density_cells(QUESTION, Counter(ROWS * column + row for column, row in places))


def test_every_drive_is_counted_once():
    assert sum(cell.drives_count for cell in cells_of(DRIVES)) == len(DRIVES)


@pytest.mark.parametrize("drive", DRIVES[::13])
def test_the_filter_of_a_cell_shows_its_drives(drive):
    (cell,) = cells_of([drive])
    assert cell.min_tps <= drive[0]
    assert cell.max_share_pct is None or cell.max_share_pct >= drive[1]


def test_the_highest_row_has_no_filter_of_shares_because_it_also_counts_the_results_above_the_picture():
    below, above = cells_of([(200, 5.1)]), cells_of([(200, 50.0)])
    assert [cell.max_share_pct for cell in (*below, *above)] == [5.14, None]


def test_no_filter_of_shares_exceeds_100_percent():
    wide = SpeedQuestion(99.0, 100, 10_000, 99.0)
    counts = Counter(dict.fromkeys(range(ROWS), 1))
    shares = [cell.max_share_pct for cell in density_cells(wide, counts)]
    assert max(share for share in shares if share is not None) == 100


def test_places_at_the_ends_of_the_axes_are_in_the_outermost_cells():
    assert [column_of(QUESTION, tps) for tps in (100, 10_000)] == [0, COLUMNS - 1]
    assert rows_of_shares(QUESTION, [0, 5.6]) == [0, ROWS - 1]
