"""Rows found without reading all rows: the first of an order, the largest share, and the drives of the example."""

from random import Random

import pytest

from webapp.register.compare import nearest
from webapp.register.drives.store.charted_rows import SORTED_BELOW, ChartedRows
from webapp.register.drives.store.encoded_columns import NOT_REPORTED, ColumnStore, EncodedColumn, rows_of, set_of
from webapp.register.drives.store.ranking import fastest_first
from webapp.register.products.name_search import Names

COUNT = 5000
THRESHOLD_US = 1000
NO_ROW = EncodedColumn(("yes",), (NOT_REPORTED,) * COUNT)


class CountedRows(list[int]):
    """A list that counts the rows that a loop reads."""

    read = 0

    def __iter__(self):
        for row in super().__iter__():
            self.read += 1
            yield row


@pytest.fixture
def draw():
    return Random(20)  # noqa: S311 - repeatable rows, nothing secret


def column(codes, *, scale=1):
    words = tuple(map(str, range(max(codes) + 1)))
    return EncodedColumn(words, tuple(codes), tuple(int(word) * scale for word in words))


def constant(word):
    return EncodedColumn((word,), (0,) * COUNT)


@pytest.fixture
def store(draw):
    """A store of drives with random speeds and shares."""
    columns = {
        "tps": column([draw.randrange(1, 3000) for _ in range(COUNT)]),
        "pct_over_1ms": column([draw.randrange(-1, 900) for _ in range(COUNT)], scale=10**7),
        "device_count": constant("1"),
        "category": constant("nvme-flash"),
        "visibility": constant("public"),
        "statistic": constant("worst-slice"),
        "is_on_no_drive": NO_ROW,
        "historical": NO_ROW,
        "outcome": constant("pass"),
        "decided_by_limits": NO_ROW,
    }
    slugs = tuple(f"drive-{row}" for row in range(COUNT))
    return ColumnStore("1", COUNT, slugs, slugs, columns, Names((), ()))


def charted(store):
    return ChartedRows(store, store.all_rows, store.all_rows, THRESHOLD_US, 5.0)


@pytest.mark.parametrize("size", [0, 1, 40, SORTED_BELOW - 1, SORTED_BELOW, 4000])
def test_the_first_rows_are_those_of_the_whole_order(store, draw, size):
    chart = charted(store)
    some = set(draw.sample(rows_of(chart.shown), size))
    expected = [row for row in chart.ordered if row in some]
    rows = set_of(row in some for row in range(COUNT))
    assert [chart.first_of(rows, count) for count in (1, 15)] == [expected[:1], expected[:15]]


def test_the_first_of_many_rows_are_found_near_the_beginning_of_the_order(store):
    chart = charted(store)
    ordered = CountedRows(fastest_first(store, THRESHOLD_US))
    store.cache["plottable, fastest first", THRESHOLD_US, False] = ordered
    assert len(chart.first_of(chart.shown, 15)) == 15
    assert 2 * 15 <= ordered.read <= 2 * 16  # each of the rows and its flag


def test_the_axes_reach_from_the_slowest_to_the_fastest_row_and_to_the_largest_share(store):
    question = charted(store).question
    speeds = [store.columns["tps"].values[code] for code in store.columns["tps"].codes]
    plotted = rows_of(charted(store).shown)
    shares = [store.columns["pct_over_1ms"].codes[row] / 100 for row in plotted]
    assert question.fastest_tps == max(speeds[row] for row in plotted)
    assert question.slowest_tps == min(speeds[row] for row in plotted)
    assert question.largest_share_pct == pytest.approx(max(shares))


@pytest.mark.parametrize("size", [0, 1, 2, 3, 100, COUNT])
def test_the_largest_word_of_some_rows_is_that_of_all_their_words(store, draw, size):
    encoded = store.columns["pct_over_1ms"]
    some = set(draw.sample(range(COUNT), size))
    expected = max((encoded.codes[row] for row in some), default=NOT_REPORTED)
    assert encoded.largest_code(set_of(row in some for row in range(COUNT))) == expected


def test_a_column_without_words_has_no_largest_word():
    assert NO_ROW.largest_code((1 << COUNT) - 1) == NOT_REPORTED


def test_the_example_of_a_comparison_is_chosen_from_the_fastest_rows_only(store, monkeypatch):
    monkeypatch.setattr(nearest, "fastest_rows", lambda store: ordered)
    speeds = [store.columns["tps"].values[code] for code in store.columns["tps"].codes]
    ordered = CountedRows(sorted(range(COUNT), key=lambda row: -speeds[row]))
    found = nearest._fastest_rows(store, ())
    assert len(found) >= nearest.NEAREST_MAX
    assert {speeds[row] for row in found} >= set(sorted(set(speeds))[-3:])
    assert len(found) <= ordered.read <= nearest.NEAREST_MAX + 20  # with those as fast as the last one
