"""Intervals and slices of histograms."""

import random

import pytest
import zstandard
from django.db import connection

from results.access.intervals import SeriesDamagedError, histogram_slices, intervals
from results.ingest.queue import sweep
from results.ingest.rows import _counts_by_ordinal
from results.models import Run, Slice
from tests.results.builders import log_bytes, make_organisation, send
from tests.results.documents import act_run, answer_with, document_of
from tests.results.series_by_hand import chunk, packed
from tests.results.series_by_hand import series as series_row

EVER = 10**9


def counts(series, from_s=0, to_s=EVER, ordinals=None):
    return [interval.counts for interval in intervals(series, from_s, to_s, ordinals)]


def test_the_documented_example_is_decoded_as_documented():
    frame = bytes.fromhex("030101010101010204030100")
    series = series_row(1, 0, 3, "drivecert.series/1", zstandard.compress(frame))
    assert counts(series) == [[[0, 260]], [None], [[0, 3]]]
    assert chunk(3, [[{1: 260}, None, {1: 3}]]) == frame


def test_every_count_of_a_day_is_decoded_in_its_minute():
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
def test_a_window_contains_the_whole_intervals_within_it(from_s, to_s, starts):
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
        counts(series_row(1, 0, 3, "drivecert.series/1", zstandard.compress(bytes.fromhex(frame))))


def test_invalid_frames_and_unknown_encodings_are_refused():
    whole = packed([(1, [[{0: 1}]])])
    with pytest.raises(SeriesDamagedError, match="zstd"):
        counts(series_row(60, 0, 1, "drivecert.series/1", b"no frame at all"))
    with pytest.raises(SeriesDamagedError, match=r"drivecert\.series/1"):
        counts(series_row(60, 0, 1, "drivecert.series/2", whole.packed))


def test_data_after_the_window_is_not_unpacked():
    first_hour = chunk(60, [[{0: 7}] * 60])
    series = series_row(60, 0, 120, "drivecert.series/1", zstandard.compress(first_hour + b"damage"))
    assert len(counts(series, to_s=3600)) == 60
    with pytest.raises(SeriesDamagedError):
        counts(series, to_s=3660)


pytestmark = pytest.mark.django_db
PLACE = {"start_s": 0, "end_s": 10, "first_line": 1, "last_line": 9}


def make_run(*pieces, judged=1):
    run = Run.objects.create(tier="reviewed", statistic="worst-slice")
    for ordinal in range(3):
        role = "reads" if ordinal == judged else "writes"
        run.histograms.create(ordinal=ordinal, role=role, name=role, unit="us", ops_count=0, counts=[])
    for number, counts in enumerate(pieces, start=1):
        run.slices.create(number=number, counts=counts, **PLACE)
    return run


PIECES = ([[1, 0], [2, 3], [None, None]], [[4], [None], [5]], [[6], [7], [None]])


@pytest.mark.parametrize(
    ("ordinal", "expected"),
    [(0, [(1, [1, 0]), (2, [4]), (3, [6])]), (1, [(1, [2, 3]), (3, [7])]), (2, [(2, [5])]), (3, [])],
)
def test_a_histogram_has_the_slices_that_contain_it(ordinal, expected):
    found = histogram_slices(make_run(*PIECES).slices.of_histogram(ordinal))
    assert [(each.number, each.counts) for each in found] == expected
    assert [each.ops_count for each in found] == [sum(counts) for _, counts in expected]


def test_the_judged_histogram_is_found_for_each_run_in_one_query(django_assert_num_queries):
    make_run(*PIECES)
    make_run(*PIECES, judged=2)
    with django_assert_num_queries(1):
        found = histogram_slices(Slice.objects.of_judged().order_by("run", "number"))
    assert [(each.number, each.counts) for each in found] == [(1, [2, 3]), (3, [7]), (2, [5])]


def test_a_run_without_judged_reads_has_no_slices_of_them():
    make_run(*PIECES, judged=None)
    assert not Slice.objects.of_judged().exists()


def test_parts_are_at_their_ordinals_and_as_long_as_the_longest():
    parts = [{"ordinal": 2, "counts": [1, 2, 3]}, {"ordinal": 0, "counts": [4]}]
    assert _counts_by_ordinal(4, parts) == [[4, 0, 0], [None] * 3, [1, 2, 3], [None] * 3]
    assert _counts_by_ordinal(1, [{"ordinal": 0, "counts": []}]) == [[0]]


def test_missing_histograms_of_a_slice_are_null_and_a_slice_without_any_has_no_row(evidence_dir, program, tmp_path):
    content = log_bytes("four-us")
    pieces = act_run()["slices"][:2]
    pieces[0]["histograms"], pieces[1]["histograms"] = pieces[0]["histograms"][3:4], []
    answer_with(program, tmp_path, document_of(content, runs=[act_run(slices=pieces)]))
    run = read_in(content)
    assert [each.number for each in run.slices.all()] == [1]
    assert [len(run.slices.of_histogram(ordinal)) for ordinal in range(5)] == [0, 0, 0, 1, 0]


def read_in(content):
    submission = send(make_organisation(), content)
    sweep()
    return submission.runs.get()


def test_slices_are_queried_by_plain_sql():
    """The slices with more than a third of their reads in the buckets from 1 on (docs/decisions/0006)."""
    run = make_run([[9, 9], [6, 3], [9, 9]], [[9, 9], [5, 3], [9, 9]])
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT s.number FROM results_slice s JOIN results_histogram h USING (run_id), LATERAL"
            " (SELECT sum(n) AS all_count, sum(n) FILTER (WHERE bucket > 1) AS over_count FROM"
            " unnest(s.counts[h.ordinal + 1:h.ordinal + 1]) WITH ORDINALITY AS of_bucket (n, bucket)) c"
            " WHERE run_id = %s AND h.role = 'reads' AND over_count * 3 > all_count",
            [run.pk],
        )
        assert cursor.fetchall() == [(2,)]
