"""The endurance gap of a run in words, for every combination of known facts."""

from decimal import Decimal

import pytest

from results.models import Product, Run
from webapp.register.tables.endurance_gap import gap_of
from webapp.templatetags.units import NBSP


def run_of(tps=1_728_000, dwpd="3", capacity_gb=6400, category="nvme-flash", is_on_no_drive=None, **fields):
    rating = None if dwpd is None else Decimal(dwpd)
    product = Product(category=category, capacity_gb=capacity_gb, endurance_dwpd=rating)
    stated = {"statistic": "steady-as-published", "tps": None if tps is None else Decimal(tps)}
    run = Run(product=product, **stated | fields)
    vars(run)["is_on_no_drive"] = is_on_no_drive  # the database computes it from the facts
    return run


def test_the_sentence_has_the_three_figures():
    view = gap_of(run_of())
    assert view.sentence == (
        "At 1,728,000 tps this drive takes 24 drive writes a day; it is rated for 3. Its rating allows 216,000 tps."
    )
    assert view.clause == "Its endurance rating allows an eighth of the tested speed."
    assert "8 times its rating" in view.axis


@pytest.mark.parametrize(
    ("facts", "sentence", "clause"),
    [
        (
            {"dwpd": None},
            "At 1,728,000 tps this drive takes 24 drive writes a day. Its endurance rating is not reported.",
            "Its endurance rating is not reported.",
        ),
        (
            {"capacity_gb": None},
            "This drive is rated for 3 drive writes a day. Its capacity is not reported.",
            "",
        ),
        (
            {"dwpd": None, "capacity_gb": None},
            "Endurance rating and capacity are not reported.",
            "Its endurance rating is not reported.",
        ),
        (
            {"tps": 100_000},
            "At 100,000 tps this drive takes 1.39 drive writes a day; it is rated for 3. "
            "Its rating allows 216,000 tps.",
            "Its endurance rating allows the tested speed.",
        ),
        (
            {"tps": 400_000, "device_count": 4},
            "At 100,000 tps on each device this drive takes 1.39 drive writes a day; it is rated for 3. "
            "Its rating allows 216,000 tps.",
            "Its endurance rating allows the tested speed.",
        ),
    ],
)
def test_missing_facts_are_named(facts, sentence, clause):
    view = gap_of(run_of(**facts))
    assert (view.sentence, view.clause) == (sentence, clause)


def test_a_part_that_is_no_simple_fraction_is_a_percentage():
    assert gap_of(run_of(tps=500_000)).clause == f"Its endurance rating allows 43{NBSP}% of the tested speed."


@pytest.mark.parametrize(
    ("facts", "last"),
    [
        ({}, "used up after an eighth of the warranty"),
        ({"tps": 500_000}, f"used up after 43{NBSP}% of the warranty"),
        ({"tps": 100_000_000}, f"used up after less than 1{NBSP}% of the warranty"),
        ({"tps": 100_000}, "enough for the whole warranty period"),
    ],
)
def test_the_lifetime_is_a_part_of_the_warranty_period(facts, last):
    sentence = f"At the tested speed, day and night, the rated writes are {last}."
    assert gap_of(run_of(**facts)).lifetime == sentence


@pytest.mark.parametrize("facts", [{"dwpd": None}, {"capacity_gb": None}, {"dwpd": "0"}])
def test_without_a_rating_or_a_capacity_there_is_no_lifetime(facts):
    assert gap_of(run_of(**facts)).lifetime == ""


def test_without_a_rating_there_is_no_axis():
    assert gap_of(run_of(dwpd=None)).axis == ""
    assert gap_of(run_of(dwpd="0")).axis == ""
    axis = gap_of(run_of(tps=100_000)).axis
    assert axis.count('class="reserve"') == 2
    assert "0.46 times its rating" in axis


@pytest.mark.parametrize(
    "facts",
    [
        {"tps": None},
        {"tps": 0},
        {"category": "cloud"},
        {"category": "networked"},
        {"statistic": "worst-slice"},
        {"is_virtual": True},
        {"is_on_no_drive": True},
    ],
)
def test_a_run_without_the_speed_of_one_drive_has_no_gap(facts):
    assert gap_of(run_of(**facts)) is None


def test_the_sums_have_the_figures_of_the_drive_and_the_parts_of_the_rule():
    text = "\n".join(gap_of(run_of()).sums).replace("\N{MULTIPLICATION SIGN}", "*").replace("\N{DIVISION SIGN}", "/")
    assert text.splitlines() == [
        "ACT writes at 1x (3,000 tps): 23.53 blocks/s * 131,072 bytes * 86,400 s = 266.468 GB a day.",
        "It writes at the tested speed: 1,728,000 tps / 3,000 tps * 266.468 GB = 153,485.757 GB a day.",
        "Drive writes a day: 153,485.757 GB / 6,400 GB = 23.982.",
        "The rating allows: 3 * 6,400 GB / 266.468 GB * 3,000 tps = 216,160.774 tps.",
        "Part of the tested speed: 216,160.774 tps / 1,728,000 tps = 0.125.",
    ]


@pytest.mark.parametrize(("facts", "count"), [({"dwpd": None}, 3), ({"dwpd": "0"}, 3), ({"capacity_gb": None}, 0)])
def test_only_what_can_be_computed_has_sums(facts, count):
    assert len(gap_of(run_of(**facts)).sums) == count


def test_the_mix_of_a_source_that_reports_only_the_speed_is_named_as_assumed():
    assert gap_of(run_of()).assumption == "No mix is stated; 2:1 is assumed."
    assert gap_of(run_of(reads_per_s=Decimal(1_152_000), writes_per_s=Decimal(576_000))).assumption == ""
    assert gap_of(run_of(capacity_gb=None)).assumption == ""
