"""The pictures of the charts, as in tests/data/landscape.json.

tests/browser/test_landscape.py compares those of the script with the same file.
"""

import pytest

from tests.webapp.register.landscape.cases import drawn, drives_of, frontiers_of, question_of, read_cases
from webapp.register.landscape.marks import Fill, PlottedDrive
from webapp.register.landscape.picture import speed_ticks
from webapp.register.landscape.speed_chart import SpeedQuestion, speed_chart
from webapp.register.svg.scales import LogScale

CASES = {case["name"]: case for case in read_cases()}
PUBLISHED = CASES["published NVMe flash drives, with a load"]
ZEROS = CASES["shares of zero are stacked"]
OVER = CASES["a limit that most drives are over, by far"]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_pictures_are_drawn_as_in_the_golden_file(case):
    assert drawn(case) == case["drawn"]


def picture_of(case):
    drives = drives_of(case)
    return speed_chart(question_of(case), drives, frontiers_of(drives))


def marks_of(case):
    return {mark.key: mark for mark in picture_of(case).marks}


def test_marks_of_answers_have_the_accent_and_all_others_do_not():
    for drive in drives_of(PUBLISHED):
        states = marks_of(PUBLISHED)[drive.key].classes.split()
        assert ("in" in states) is (drive.tps >= 500_000)


def test_small_marks_are_painted_over_large_ones():
    sizes = [int(mark.symbol[1:]) for mark in picture_of(PUBLISHED).marks]
    assert sizes == sorted(sizes, reverse=True)


def test_marks_over_the_limit_are_open_boxes_above_the_ceiling():
    picture = picture_of(OVER)
    limit = next(line for line in picture.lines if line.kind == "limit")
    for drive in drives_of(OVER):
        mark = next(mark for mark in picture.marks if mark.key == drive.key)
        is_over = drive.share_pct > 1.5
        assert (" over" in mark.classes, mark.y < limit.y1) == (is_over, is_over)
        assert not is_over or mark.symbol.startswith("s")


def test_shares_above_the_picture_are_written_on_its_upper_edge():
    assert question_of(OVER).y.high == 4.5  # three times the limit
    figures = [label.text for label in picture_of(OVER).labels if label.kind == "overtext"]
    assert figures[:2] == ["\u2191 5.00 %", "\u2191 4.98 %"]


@pytest.mark.parametrize(
    ("limit", "largest", "high"),
    [(5.0, 5.0, 5.6), (5.0, 5.1, 6.12), (5.0, 20.0, 15.0), (0.0, 2.0, 2.4), (0.0, 0.0, 1.0)],
)
def test_the_axis_of_shares_contains_the_limit_and_grows_with_shares_over_it(limit, largest, high):
    assert SpeedQuestion(limit, 100, 1000, largest).y.high == pytest.approx(high)


def test_the_axis_of_speeds_contains_the_load():
    assert SpeedQuestion(5.0, 110, 900, 1.0).x.high == 1000
    assert SpeedQuestion(5.0, 110, 900, 1.0, load_tps=1001).x.high == 2000


SLOW, FAST, MIDDLE = ((12_000, 5.4), (9_000_000, 5.4), (300_000, 5.4))


@pytest.mark.parametrize(
    ("figures", "load", "anchor"),
    [
        ([MIDDLE], None, "start"),
        ([SLOW, MIDDLE], None, "end"),
        ([(12_000, 4.9)], None, "start"),
        ([SLOW, FAST], None, "start"),
        ([SLOW], 100_000, "end"),
        ([SLOW], 1_000_000, "start"),
        ([], 20_000, "end"),
    ],
)
def test_the_name_of_the_limit_gives_way_to_a_mark_and_to_the_load(figures, load, anchor):
    question = SpeedQuestion(5.0, 10_000, 10_000_000, 5.4, load)
    drives = [
        PlottedDrive(key, tps, share, Fill.SERVICE, False, 960, None, "A", "A 960 GB")
        for key, (tps, share) in enumerate(figures)
    ]
    (name,) = [text for text in speed_chart(question, drives).axis_texts if text.text == "limit 5 %"]
    assert (name.anchor, name.x) == (anchor, {"start": 0, "end": 100}[anchor])


@pytest.mark.parametrize(
    ("low", "high", "kinds"),
    [
        (10_000, 100_000, ["tick", "tick", "tick", "tick wide"]),
        (100_000, 10_000_000, ["tick", "tick wide", "tick wide", "tick", "tick wide", "tick wide"]),
        (1000, 10_000_000, ["tick", "tick", "tick", "tick", "tick wide"]),
        (
            1000,
            1_000_000,
            ["tick", "tick wide", "tick wide", "tick", "tick wide", "tick wide", "tick", "tick wide", "tick wide"],
        ),
    ],
)
def test_the_last_tick_has_no_text_where_the_one_before_is_too_close(low, high, kinds):
    assert [text.kind for text in speed_ticks(LogScale(low, high))[1]] == kinds


def test_marks_without_slow_reads_are_stacked_upwards():
    marks = [mark for mark in picture_of(ZEROS).marks if mark.y >= 90]
    for mark in marks:
        same = [other for other in marks if other is not mark and other.y == mark.y]
        assert all(abs(other.x - mark.x) >= 1.6 - 1e-9 for other in same)


def test_no_label_covers_a_mark():
    width, height = 630, 208
    picture = picture_of(PUBLISHED)
    for label in (label for label in picture.labels if "wide" in label.kind):
        text_width = 6.8 * len(label.text)
        left = (
            label.x * width / 100 + label.dx - {"start": 0, "middle": text_width / 2, "end": text_width}[label.anchor]
        )
        bottom = label.y * height / 100 + label.dy
        for mark in picture.marks:
            x, y = mark.x * width / 100, mark.y * height / 100
            assert not (left < x < left + text_width and bottom - 10 < y < bottom + 3), (label, mark)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_each_name_is_next_to_its_mark(case):
    picture = picture_of(case)
    radii = {(mark.x, mark.y): mark.radius_px for mark in picture.marks}
    for label in picture.labels:
        if label.kind.startswith("name"):
            assert abs(label.dy) <= radii[label.x, label.y] + 14


def test_at_most_twelve_drives_are_labelled_and_one_on_a_phone():
    labels = picture_of(PUBLISHED).labels
    assert sum(label.kind == "name phone" for label in labels) == 1
    names = {(label.x, label.y) for label in labels if label.kind == "name wide"}
    assert 8 <= len(names) <= 12


def test_a_frontier_goes_from_the_slowest_drive_of_its_group_to_the_limit():
    picture = picture_of(PUBLISHED)
    solid = [line for line in picture.lines if line.kind == "front solid"]
    limit = next(line for line in picture.lines if line.kind == "limit")
    slowest = min(drive.tps for drive in drives_of(PUBLISHED) if drive.fill == "full")
    assert solid[0].x1 == pytest.approx(100 * question_of(PUBLISHED).x.place(slowest), abs=0.01)
    assert solid[-1].y2 == limit.y1
    assert all(line.x1 == line.x2 or line.y1 == line.y2 for line in solid)
