"""The rows of several bands as one list, of which only the bands that are read are sorted."""

import pytest

from webapp.register.drives.order import JoinedRows

BANDS = [[5, 3], [], [9, 1, 4]]


class UnreadRows(list[int]):
    """Rows that may be counted, but not read."""

    def __getitem__(self, place):
        raise AssertionError(f"read at {place}")


@pytest.mark.parametrize("start", range(7))
@pytest.mark.parametrize("end", [0, 1, 2, 4, 5, 9, None])
def test_a_part_of_the_rows_is_that_of_the_joined_list(start, end):
    rows, joined = JoinedRows(BANDS), [row for band in BANDS for row in band]
    assert rows[start:end] == joined[start:end]
    assert (list(rows), len(rows)) == (joined, len(joined))


@pytest.mark.parametrize("step", [2, -1, -2])
def test_rows_can_be_read_in_steps(step):
    assert JoinedRows(BANDS)[::step] == [row for band in BANDS for row in band][::step]


def test_a_single_row_is_found_from_both_ends():
    rows = JoinedRows(BANDS)
    assert [rows[place] for place in (0, 2, 4, -1, -5)] == [5, 9, 4, 4, 5]
    with pytest.raises(IndexError):
        rows[5]


def test_the_first_rows_do_not_read_later_bands():
    rows = JoinedRows([[5, 3], UnreadRows([9])])
    assert (rows[:2], rows[1], len(rows)) == ([5, 3], 3, 3)
