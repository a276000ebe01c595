import random

import pytest
import zstandard

from results.access.series import Packed, SeriesDamagedError, intervals
from tests.results.series_by_hand import chunk, packed

EVER = 10**9


def counts(series, from_s=0, to_s=EVER, ordinals=None):
    return [interval.counts for interval in intervals(series, from_s, to_s, ordinals)]


def test_the_example_of_the_formats_is_read_as_it_says():
    frame = bytes.fromhex("030101010101010204030100")
    series = Packed(1, 0, 3, "drivecert.series/1", zstandard.compress(frame))
    assert counts(series) == [[[0, 260]], [None], [[0, 3]]]
    assert chunk(3, [[{1: 260}, None, {1: 3}]]) == frame


def test_every_count_of_a_day_comes_back_in_its_minute():
    dice = random.Random(7)  # noqa: S311 - made-up counts
    day = [{bucket: dice.randrange(2 ** dice.choice([1, 8, 20, 63])) for bucket in (0, 3, 64)} for _ in range(1440)]
    read = counts(packed([(1440, [day])]))
    assert [{bucket: value for bucket, value in enumerate(row[0]) if value} for row in read] == [
        {bucket: value for bucket, value in minute.items() if value} for minute in day
    ]


def test_a_histogram_that_appears_later_has_no_counts_before():
    series = packed([(2, [[{0: 1}, {0: 2}]]), (1, [[{0: 3}], [{1: 9}]])])
    assert counts(series) == [[[1]], [[2]], [[3], [0, 9]]]
    assert counts(series, ordinals=range(1, 2)) == [[None], [None], [[0, 9]]]


def test_an_interval_without_operations_is_not_an_unknown_one():
    assert counts(packed([(3, [[{2: 5}, {}, None]])])) == [[[0, 0, 5]], [[]], [None]]


@pytest.mark.parametrize(
    ("from_s", "to_s", "starts"),
    [
        (60, 180, [60, 120]),
        (59, 180, [60, 120]),
        (61, 180, [120]),
        (60, 179, [60]),
        (0, 60, []),
        (180, EVER, []),
        (90, 90, []),
    ],
)
def test_a_window_holds_the_whole_intervals_within_it(from_s, to_s, starts):
    series = packed([(1, [[{0: 1}]]), (1, [[{0: 2}]])], start_s=60)
    assert [interval.start_s for interval in intervals(series, from_s, to_s)] == starts


@pytest.mark.parametrize(
    "frame",
    [
        "",
        "02",
        "0301",
        "0400",
        "00010000",
        "030101030300",
        "030101010300",
        "030100014101000000",
        "030100010109",
        "ff" * 11,
    ],
)
def test_bytes_that_do_not_add_up_are_refused(frame):
    with pytest.raises(SeriesDamagedError):
        counts(Packed(1, 0, 3, "drivecert.series/1", zstandard.compress(bytes.fromhex(frame))))


def test_what_is_no_frame_or_another_encoding_is_refused():
    whole = packed([(1, [[{0: 1}]])])
    with pytest.raises(SeriesDamagedError, match="zstd"):
        counts(Packed(60, 0, 1, "drivecert.series/1", b"no frame at all"))
    with pytest.raises(SeriesDamagedError, match=r"drivecert\.series/1"):
        counts(Packed(60, 0, 1, "drivecert.series/2", whole.content))


def test_what_comes_after_the_window_is_not_unpacked():
    first_hour = chunk(60, [[{0: 7}] * 60])
    series = Packed(60, 0, 120, "drivecert.series/1", zstandard.compress(first_hour + b"damage"))
    assert len(counts(series, to_s=3600)) == 60
    with pytest.raises(SeriesDamagedError):
        counts(series, to_s=3660)
