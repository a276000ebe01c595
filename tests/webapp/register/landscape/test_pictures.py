"""The pictures of the charts, as in tests/data/landscape.json.

tests/browser/test_landscape.py compares those of the script with the same file.
"""

import math
import random
from dataclasses import replace
from itertools import combinations, pairwise

import pytest

from tests.webapp.register.landscape.cases import drawn, drives_of, frontiers_of, question_of, read_cases
from webapp.register.landscape.endurance_chart import TICK_WIDTHS_PX as ENDURANCE_TICK_WIDTHS_PX
from webapp.register.landscape.endurance_chart import endurance_chart
from webapp.register.landscape.marks import Fill, PlottedDrive
from webapp.register.landscape.picture import speed_ticks
from webapp.register.landscape.speed_chart import TICK_WIDTHS_PX as SPEED_TICK_WIDTHS_PX
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


def test_marks_over_the_limit_are_above_it_and_keep_shape_size_and_fill_with_a_line_below():
    picture = picture_of(OVER)
    limit = next(line for line in picture.lines if line.kind == "limit")
    for drive in drives_of(OVER):
        mark = next(mark for mark in picture.marks if mark.key == drive.key)
        is_over = drive.share_pct > 1.5
        assert (" over" in mark.classes, mark.y < limit.y1) == (is_over, is_over)
        assert mark.symbol == drive.symbol + ("o" if is_over else "")
        assert mark.classes.split()[1] == drive.fill


@pytest.mark.parametrize("kind", ["wide", "phone"])
def test_the_number_of_results_above_the_picture_is_written_once(kind):
    assert question_of(OVER).y.high == 4.5  # three times the limit
    above = sum(drive.share_pct > 4.5 for drive in drives_of(OVER))
    figures = [label.text for label in picture_of(OVER).labels if label.kind == f"overtext {kind}"]
    assert figures == [f"\u2191 {above} results above the chart" if kind == "wide" else f"\u2191 {above} above"]


def random_drives(seed):
    """Return drives of which some have nearly the same place, and some are far over the limit."""
    draw = random.Random(seed)  # noqa: S311 - made-up drives
    centres = [(10 ** draw.uniform(4.5, 6.5), draw.uniform(0, 14)) for _ in range(4)]
    return [
        PlottedDrive(
            key=key,
            tps=tps * draw.uniform(0.8, 1.25),
            share_pct=max(share + draw.uniform(-1.5, 1.5), 0),
            fill=draw.choice(list(Fill)),
            is_within=share < 5,
            capacity_gb=draw.choice([960, 3200, 6400, 15360, None]),
            endurance_dwpd=draw.choice([1.0, 3.0, 10.0, None]),
            model=f"Maker {key}00",
            name=f"Maker {key}00 {draw.choice([960, 3200])} GB",
            sustained_tps=draw.choice([None, tps / draw.uniform(0.5, 20)]),
        )
        for key, (tps, share) in enumerate(draw.choice(centres) for _ in range(draw.randint(1, 40)))
    ]


def random_picture(seed):
    drives = random_drives(seed)
    speeds = [drive.tps for drive in drives]
    question = SpeedQuestion(2.0, min(speeds), max(speeds), max(drive.share_pct for drive in drives))
    return question, drives, speed_chart(question, drives, frontiers_of(drives))


def distance_px(box, mark, size):
    x, y = (place * side / 100 for place, side in zip((mark.x, mark.y), size, strict=True))
    return math.hypot(max(box[0] - x, 0, x - box[2]), max(box[1] - y, 0, y - box[3])) - mark.reach_px


def labelled_blocks(picture, kind):
    """Return the labels of marks next to them: place, and the box around all lines."""
    ends = {(line.x2, line.y2) for line in picture.lines if line.kind.startswith("leader")}
    blocks = {}
    for text in picture.labels:
        if text.kind == f"name {kind}" and (text.x, text.y) not in ends:
            blocks.setdefault((text.x, text.y), []).append(text)
    return blocks


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("chart", ["speed", "endurance"])
def test_a_name_is_nearer_to_its_own_mark_than_to_every_other(chart, seed):
    question, drives, picture = random_picture(seed)
    sizes = PLOTS_PX
    if chart == "endurance":
        picture, sizes = endurance_chart(question, drives, None, (0, 0)), {"wide": (330, 208), "phone": (290, 148)}
    for kind, size in sizes.items():
        for place, texts in labelled_blocks(picture, kind).items():
            boxes = [box_of(text, kind, size) for text in texts]
            box = (
                *(min(each[side] for each in boxes) for side in (0, 1)),
                *(max(x[side] for x in boxes) for side in (2, 3)),
            )
            nearest = min(picture.marks, key=lambda mark: distance_px(box, mark, size))
            assert (nearest.x, nearest.y) == place


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("kind", ["wide", "phone"])
def test_no_text_of_a_chart_with_results_above_it_touches_a_mark_or_another_text(kind, seed):
    _, _, picture = random_picture(seed)
    width, height = PLOTS_PX[kind]
    texts = [(text, box_of(text, kind)) for text in picture.labels if kind in text.kind.split()]
    for (one, box), (other, other_box) in combinations(texts, 2):
        assert are_apart(box, other_box), (one, other)
    above = [box for text, box in texts if text.kind.startswith("overtext")]
    for mark in picture.marks:
        x, y, r = mark.x * width / 100, mark.y * height / 100, mark.reach_px
        assert all(are_apart(box, (x - r, y - r, x + r, y + mark.depth_px)) for box in above), mark


@pytest.mark.parametrize(("share", "state"), [(2.0, "in"), (2.01, "over")])
def test_a_result_over_the_limit_looks_the_same_in_both_charts(share, state):
    drive = replace(
        random_drives(0)[0], share_pct=share, is_within=share <= 2, sustained_tps=10_000, endurance_dwpd=1.0
    )
    question = SpeedQuestion(2.0, drive.tps, drive.tps, share)
    (one,), (other,) = (
        picture.marks for picture in (speed_chart(question, [drive]), endurance_chart(question, [drive], None, (0, 1)))
    )
    assert (one.symbol, one.classes) == (other.symbol, other.classes)
    assert one.classes.split()[2] == state


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


def question_with(figures, load):
    question = SpeedQuestion(5.0, 10_000, 10_000_000, 5.4, load)
    return question, [
        PlottedDrive(key, tps, share, Fill.SERVICE, False, 960, None, "A", "A 960 GB")
        for key, (tps, share) in enumerate(figures)
    ]


def name_of(picture, start, kind):
    return next(text for text in picture.labels if text.text.startswith(start) and kind in text.kind.split())


@pytest.mark.parametrize("kind", ["wide", "phone"])
@pytest.mark.parametrize(
    ("figures", "load", "place"),
    [
        ([MIDDLE], None, ("start", 0)),
        ([SLOW, MIDDLE], None, ("end", 100)),
        ([(12_000, 4.9)], None, ("start", 0)),
        ([SLOW, FAST], None, ("start", 5)),
        ([SLOW], 100_000, ("end", 100)),
        ([SLOW], 800_000, ("end", 100)),
        ([], 20_000, ("end", 100)),
    ],
)
def test_the_name_of_the_limit_gives_way_to_a_mark_and_to_the_load(figures, load, place, kind):
    name = name_of(speed_chart(*question_with(figures, load)), "limit 5 %", kind)
    assert (name.anchor, name.x) == place


@pytest.mark.parametrize("kind", ["wide", "phone"])
@pytest.mark.parametrize(
    ("share", "is_above"), [(4.0, True), (5.01, True), (5.4, False)]
)  # just over the limit, the name is raised over the mark
def test_the_name_of_the_load_leaves_the_limit_if_marks_are_there(share, is_above, kind):
    figures = [(tps, share) for tps in range(100_000, 900_000, 20_000)]
    question, drives = question_with(figures, 300_000)
    picture = speed_chart(question, drives)
    limit = next(line for line in picture.lines if line.kind == "limit")
    name = name_of(picture, "300,000", kind)
    assert (name.x == pytest.approx(100 * question.x.place(300_000), abs=0.01), name.y == limit.y1) == (True, is_above)


PLOTS_PX = {"wide": (630, 208), "phone": (334, 148)}


def box_of(text, kind, size=None):
    width, height = size or PLOTS_PX[kind]
    text_width = 6.8 * len(text.text)
    left = text.x * width / 100 + text.dx - {"start": 0, "middle": text_width / 2, "end": text_width}[text.anchor]
    bottom = text.y * height / 100 + text.dy
    return left, bottom - 10, left + text_width, bottom + 3


def are_apart(one, other):
    return one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


@pytest.mark.parametrize("kind", PLOTS_PX)
@pytest.mark.parametrize("load", [None, 150_000, 500_000, 1_500_000])
@pytest.mark.parametrize("limit", [1.5, 2.0, 3.0, 4.0, 4.9, 5.0])
def test_names_of_lines_cover_no_mark_and_no_other_name(limit, load, kind):
    drives = drives_of(PUBLISHED)
    speeds, largest = [drive.tps for drive in drives], max(drive.share_pct for drive in drives)
    question = SpeedQuestion(limit, min(speeds), max(speeds), largest, load)
    picture = speed_chart(question, drives, frontiers_of(drives))
    width, height = PLOTS_PX[kind]
    names = [box_of(name_of(picture, start, kind), kind) for start in ("limit ", f"{load or 0:,}")[: 2 if load else 1]]
    texts = [box_of(text, kind) for text in picture.labels if kind in text.kind.split()]
    for name in names:
        assert sum(not are_apart(name, text) for text in texts) == 1  # itself
        for mark in picture.marks:
            x, y, r = mark.x * width / 100, mark.y * height / 100, mark.reach_px
            assert are_apart(name, (x - r, y - r, x + r, y + mark.depth_px)), mark


@pytest.mark.parametrize("widths", [SPEED_TICK_WIDTHS_PX, ENDURANCE_TICK_WIDTHS_PX])
@pytest.mark.parametrize(
    ("low", "high"),
    [
        *((10_000, 100_000), (100_000, 2_000_000), (100_000, 10_000_000), (1000, 10_000_000), (1000, 1_000_000)),
        *((20_000, 5_000_000), (200_000, 500_000), (5_000_000, 10_000_000), (1, 100_000_000)),
    ],
)
def test_texts_of_ticks_do_not_touch_and_decades_stay_where_they_have_room(low, high, widths):
    places, texts = speed_ticks(LogScale(low, high), widths)
    for width, hidden in zip(widths, ("phone", "wide"), strict=True):
        shown = [text for text in texts if hidden not in text.kind.split()]
        boxes = []
        for text in shown:
            text_width = 6.8 * len(text.text)
            left = text.x * width / 100 - (text_width if text.anchor == "end" else text_width / 2)
            boxes.append((left, left + text_width))
        assert len(shown) >= 2
        assert all(one[1] + 8 <= other[0] + 1e-9 for one, other in pairwise(sorted(boxes)))
        decades = [value for value in LogScale(low, high).ticks() if f"{value:.0f}".strip("0") == "1"]
        if decades and width / len(decades) > 90:
            assert {f"{value:,.0f}" for value in decades} <= {text.text for text in shown}
    assert len(places) == len(LogScale(low, high).ticks())


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
    depths = {(mark.x, mark.y): mark.depth_px for mark in picture.marks}
    ends = {(line.x2, line.y2) for line in picture.lines if line.kind.startswith("leader")}
    for label in picture.labels:
        if label.kind.startswith("name") and (label.x, label.y) not in ends:
            assert abs(label.dy) <= depths[label.x, label.y] + 14


def test_the_fastest_drive_has_a_leader_line_to_its_name_where_no_place_is_next_to_its_mark():
    picture = picture_of(PUBLISHED)
    fastest = max(drives_of(PUBLISHED), key=lambda drive: drive.tps)
    mark = next(mark for mark in picture.marks if mark.key == fastest.key)
    (leader,) = [line for line in picture.lines if line.kind == "leader phone"]
    assert (leader.x1, leader.y1) == (mark.x, mark.y)
    named = [text.text for text in picture.labels if (text.x, text.y) == (leader.x2, leader.y2)]
    assert " ".join(named) == fastest.name


def test_at_most_twelve_drives_are_labelled_and_one_on_a_phone():
    labels = picture_of(PUBLISHED).labels
    assert len({(label.x, label.y) for label in labels if label.kind == "name phone"}) == 1
    names = {(label.x, label.y) for label in labels if label.kind == "name wide"}
    assert 8 <= len(names) <= 12


def test_answers_are_named_before_the_frontier_and_all_others():
    """The slow drives have few slow reads, so that they are the frontier; the load is above their speed."""
    facts = {"fill": "full", "is_within": True, "capacity_gb": 960, "endurance_dwpd": 1.0}
    slow = [(100_000 + 10_000 * number, 0.5 + 0.1 * number) for number in range(5)]
    fast = [(400_000 + 220_000 * number, 1.5 + 0.5 * (number % 6)) for number in range(12)]
    drives = [
        PlottedDrive(key=key, tps=tps, share_pct=share, model=f"D{key:02}", name=f"D{key:02}", **facts)
        for key, (tps, share) in enumerate(slow + fast)
    ]
    question = SpeedQuestion(5.0, 100_000, drives[-1].tps, 4.0, load_tps=300_000, answers_count=12)
    picture = speed_chart(question, drives, frontiers_of(drives))
    named = {text.text for text in picture.labels if text.kind == "name wide"}
    assert {drive.name for drive in drives[:5]} & named == set() or named >= {drive.name for drive in drives[5:]}
    assert len(named) >= 10


def test_a_frontier_goes_from_the_slowest_drive_of_its_group_to_the_limit():
    picture = picture_of(PUBLISHED)
    solid = [line for line in picture.lines if line.kind == "front solid"]
    limit = next(line for line in picture.lines if line.kind == "limit")
    slowest = min(drive.tps for drive in drives_of(PUBLISHED) if drive.fill == "full")
    assert solid[0].x1 == pytest.approx(100 * question_of(PUBLISHED).x.place(slowest), abs=0.01)
    assert solid[-1].y2 == limit.y1
    assert all(line.x1 == line.x2 or line.y1 == line.y2 for line in solid)
