"""The reader's load on a product's page: what it means for the product, and how it gets there."""

import re
from decimal import Decimal

import pytest

pytestmark = pytest.mark.django_db


@pytest.fixture
def load_of(context_of):
    """Return a function that returns the sentences about a load."""
    return lambda product, query: context_of(product, query)["load_sentences"]


@pytest.fixture
def drive(make_ranked):
    """Return a drive of 3,200 GB and 3 DWPD, whose rating allows 108,000 tps."""
    return make_ranked(300_000)


def test_a_page_without_a_load_says_nothing_about_one(load_of, drive):
    assert load_of(drive, "") == load_of(drive, "?min_device_tps=0") == ""


@pytest.mark.parametrize(
    ("load", "sentences"),
    [
        (
            100_000,
            "This drive was tested at your load of 100,000 tps within your limits. Its rating allows your load "
            "(2.78 of 3 DWPD).",
        ),
        (
            300_000,
            "This drive was tested at your load of 300,000 tps within your limits. Its rating does not allow "
            "your load (8.33 of 3 DWPD).",
        ),
        (
            300_001,
            "This drive was not tested at your load of 300,001 tps: its fastest result within your limits is at "
            "300,000 tps. Its rating does not allow your load (8.33 of 3 DWPD).",
        ),
    ],
)
def test_the_load_is_compared_with_the_fastest_result_and_the_rating(load_of, drive, load, sentences):
    assert load_of(drive, f"?min_device_tps={load}") == sentences


def test_the_readers_limits_decide_which_results_sustain_the_load(load_of, drive):
    said = load_of(drive, "?min_device_tps=1000&limit_1ms=0")
    assert said.startswith("This drive has no result within your limits, so none for your load of 1,000 tps.")


def test_a_drive_without_a_rating_has_only_the_speed(load_of, make_ranked):
    unrated = make_ranked(300_000, endurance_dwpd=None)
    assert (
        load_of(unrated, "?min_device_tps=1000")
        == "This drive was tested at your load of 1,000 tps within your limits."
    )


def test_an_exact_rating_sustains_its_load(load_of, make_ranked):
    drive = make_ranked(300_000, capacity_gb=1_000, endurance_dwpd=Decimal("0.1"))
    limit = 1_125  # 0.1 DWPD of 1 TB are 100 GB a day, ACT writes 266.47 GB a day for 3,000 tps
    assert "Its rating allows your load (" in load_of(drive, f"?min_device_tps={limit}")
    assert "Its rating does not allow your load (" in load_of(drive, f"?min_device_tps={limit + 1}")


@pytest.mark.parametrize("typed", ["300k", "300,000", "300%20000"])
def test_a_typed_load_becomes_digits_in_the_address(client, drive, typed):
    response = client.get(f"/drive/{drive.slug}/?min_device_tps={typed}&limit_1ms=3")
    assert response.headers["Location"] == f"/drive/{drive.slug}/?min_device_tps=300000&limit_1ms=3"


def test_the_load_stays_in_the_form_the_exports_and_the_way_home(client, drive):
    text = client.get(f"/drive/{drive.slug}/?min_device_tps=300000&limit_1ms=3").text
    assert 'name="min_device_tps" value="300,000"' in text
    assert 'href="?min_device_tps=300000&amp;limit_1ms=3&amp;format=csv"' in text
    assert '<a href="/?min_device_tps=300000&amp;limit_1ms=3" data-carries>Drives</a> /' in text
    assert re.search(rf'rel="canonical" href="[^"?]*/drive/{drive.slug}/"', text)
