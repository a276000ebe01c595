"""The strips of a product's page: whom they show, in which words, and who is left out."""

import re

import pytest

from results.rules.act.positions import Position
from tests.results.rows import make_judged_run
from webapp.register.product_pages import position
from webapp.register.product_pages.position import ENDURANCE, SLOW_READS, SPEED, position_words
from webapp.templatetags.units import NBSP

pytestmark = pytest.mark.django_db
ACT = {"tool": "act_storage", "tool_version": "6.6"}
SHARE = {"statistic": "worst-slice", "threshold_us": 1000, "share_pct": 1, "printed": "1.00"}


@pytest.mark.parametrize(
    ("place", "words", "text"),
    [
        (Position(2, 0, 27), SPEED, "faster than 27 of 29 others (93 %)"),
        (Position(200, 0, 1), SPEED, "faster than 1 of 201 others"),
        (Position(0, 0, 11), SLOW_READS, "fewest slow reads of 12"),
        (Position(0, 1, 10), SLOW_READS, "shared fewest slow reads of 12"),
        (Position(4, 0, 0), ENDURANCE, "lowest rated speed of 5"),
        (Position(3, 2, 0), ENDURANCE, "shared lowest rated speed of 6"),
        (Position(2, 0, 4), SPEED, "third by speed of 7"),
        (Position(2, 1, 3), SPEED, "shared third by speed of 7"),
        (Position(0, 1, 0), SPEED, "as fast as the other"),
        (Position(0, 3, 0), SLOW_READS, "as many slow reads as each of the 3 others"),
    ],
)
def test_positions_are_worded_by_their_standing(place, words, text):
    assert position_words(place, words).replace(NBSP, " ") == text


def test_there_is_a_strip_for_speed_slow_reads_and_endurance(make_ranked, context_of):
    make_ranked(300_000, "4.00", capacity_gb=6400)
    make_ranked(200_000, "1.00")
    strips = context_of(make_ranked(400_000, "2.00"))["position"].strips
    assert [(strip.title, strip.words) for strip in strips] == [
        ("Speed", "fastest of 3"),
        ("Slow reads", "second by slow reads of 3"),
        ("Endurance", "shared lowest rated speed of 3"),
    ]


def test_each_mark_is_a_link_that_names_the_drive_and_its_figure(make_ranked, context_of):
    other = make_ranked(300_000, "4.00", model="EX7", capacity_gb=6400)
    svg = context_of(make_ranked(400_000, model="EX8"))["position"].strips[0].svg
    assert f'href="/drive/{other.slug}/"' in svg
    assert f'aria-label="Exemplar EX7 6.4{NBSP}TB: 300,000 tps"' in svg


def test_links_of_marks_keep_the_limits_of_the_reader(make_ranked, context_of):
    other = make_ranked(300_000)
    svg = context_of(make_ranked(400_000), "?limit_1ms=7")["position"].strips[0].svg
    assert f'href="/drive/{other.slug}/?limit_1ms=7"' in svg


def test_the_strip_of_endurance_counts_the_drives_without_a_rating(make_ranked, context_of):
    make_ranked(300_000)
    make_ranked(300_000, endurance_dwpd=None)
    strips = context_of(make_ranked(400_000))["position"].strips
    assert strips[2].words == "allows as much as the other; 1 without a rating left out"
    unrated = context_of(make_ranked(500_000, endurance_dwpd=None))["position"].strips
    assert [strip.title for strip in unrated] == ["Speed", "Slow reads"]


def test_drives_that_are_left_out_are_counted_with_the_reason(make_ranked, make_product, context_of):
    this = make_ranked(100_000)
    for run in (
        {"tool_version": "5.3"},
        {"tool_version": ""},
        {"compress_pct": 50},
        {"device_count": 2},
        {"tps": None},
    ):
        make_ranked(200_000, run=run)
    make_ranked(200_000, "6.00")
    make_judged_run(make_product(), 30, tool="act_storage", tool_version="6.6")
    make_ranked(900_000, category="m2-flash")
    assert context_of(this)["position"].left_out == (
        "1 over a limit, 1 without a reported speed or share of slow reads, "
        "1 tested with ACT up to 5.3, which counts the time in the queue, 1 with an unknown version of ACT, "
        "1 tested with compressible data, 1 with shares of another statistic, 1 tested with another number of devices."
    )


@pytest.mark.parametrize("outcome", ["undecided", "void", "fail"])
def test_a_log_without_a_pass_is_over_a_limit_only_by_its_shares(make_product, context_of, outcome):
    this, other = make_product(), make_product()
    make_judged_run(this, 30, **ACT).shares.create(**SHARE)
    make_judged_run(other, 60, outcome, **ACT).shares.create(**SHARE)
    left_out = context_of(this)["position"].left_out
    assert left_out == "1 failed for another reason or without a verdict."
    make_judged_run(other, 60, outcome, **ACT).shares.create(**SHARE | {"share_pct": 6, "printed": "6.00"})
    assert context_of(this)["position"].left_out == "1 over a limit."


def test_a_log_without_a_number_of_devices_says_that_it_is_unknown(make_product, context_of):
    this, other = make_product(), make_product()
    make_judged_run(this, 30, **ACT).shares.create(**SHARE)
    make_judged_run(other, 60, device_count=None, **ACT).shares.create(**SHARE)
    assert context_of(this)["position"].left_out == ("1 with an unknown number of devices.")


def test_a_drive_with_a_comparable_result_is_not_left_out_for_its_other_results(make_ranked, context_of):
    this, both = make_ranked(100_000), make_ranked(200_000)
    make_ranked(900_000, product=both, run={"tool_version": "5.3"})
    make_ranked(300_000, "6.00", product=both)
    found = context_of(this)["position"]
    assert (found.left_out, found.strips[0].words) == ("", "slowest of 2")


def test_a_drive_that_is_left_out_is_counted_once_and_as_over_a_limit_first(make_ranked, context_of):
    this, both = make_ranked(100_000), make_ranked(200_000, run={"tool_version": "5.3"})
    make_ranked(300_000, "6.00", product=both)
    make_ranked(300_000, product=both, run={"compress_pct": 50})
    assert context_of(this)["position"].left_out == "1 over a limit."


def test_a_drive_is_represented_by_its_fastest_result_within_the_limits(make_ranked, context_of):
    this, other = make_ranked(300_000), make_ranked(200_000)
    make_ranked(400_000, product=other)
    make_ranked(900_000, "6.00", product=other)
    svg = context_of(this)["position"].strips[0].svg
    assert ("400,000 tps" in svg, "200,000 tps" in svg, "900,000 tps" in svg) == (True, False, False)


def test_a_result_over_the_limits_has_no_position(make_ranked, context_of):
    make_ranked(300_000)
    assert context_of(make_ranked(400_000, "6.00"))["position"] is None


def test_the_strip_of_slow_reads_shows_the_limit_of_the_reader(make_ranked, context_of):
    make_ranked(300_000, "2.00")
    drive = make_ranked(400_000, "1.00")
    assert "limit 5 %" in context_of(drive)["position"].strips[1].svg
    assert "limit 2.5 %" in context_of(drive, "?limit_1ms=2.5")["position"].strips[1].svg


def test_many_drives_are_drawn_as_columns(make_ranked, context_of, monkeypatch):
    make_ranked(300_000)
    make_ranked(200_000)
    drive = make_ranked(400_000)
    monkeypatch.setattr(position, "MARKS_AT_MOST", 2)
    assert context_of(drive)["position"].strips[0].svg.count("<a ") == 2
    monkeypatch.setattr(position, "MARKS_AT_MOST", 1)
    assert context_of(drive)["position"].strips[0].svg.count('class="column"') == 2


def test_the_published_catalogue_is_worded_as_in_the_register(client, catalogue):
    text = client.get("/drive/sandisk-dc-sn861-6400gb/").text.replace(NBSP, " ")
    assert "The fastest of 12 comparable NVMe flash drives within the limits. Its endurance rating allows" in text
    assert "16 tested with ACT up to 5.3" in text
    assert "2 tested with compressible data" in text
    assert len(re.findall(r'<svg class="strip" role="group"', text)) == 3


def test_one_comparable_drive_needs_as_many_queries_as_twenty(make_ranked, count_queries):
    drive = make_ranked(100_000)
    make_ranked(200_000)
    few = count_queries(f"/drive/{drive.slug}/")
    for number in range(19):
        make_ranked(300_000 + number)
    assert count_queries(f"/drive/{drive.slug}/") == few
