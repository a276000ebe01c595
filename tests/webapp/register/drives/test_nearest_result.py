"""The result that comes nearest to filters without a match, and the link that relaxes a filter."""

import html
import re

import pytest

pytestmark = pytest.mark.django_db


@pytest.fixture
def nearest(client):
    """Return a function that returns the sentence, the link text and the address for a query of NVMe flash drives."""

    def get(query, path="/drives/nvme-flash/"):
        text = client.get(f"{path}?{query}").text.split("<p data-nearest>")[1].split("</p>")[0]
        found = re.fullmatch('(.*) <a href="(.*)">(.*)</a>', html.unescape(text).replace("\N{NO-BREAK SPACE}", " "))
        return found and (found[1], found[3], found[2])

    return get


def test_the_nearest_number_is_offered_with_its_results(client, catalogue, nearest):
    sentence, link, address = nearest("min_tps=2000000")
    assert sentence == (
        "The nearest result is SanDisk DC SN861 6.4 TB. It fails one filter: speed is 1,728,000 tps, not at least "
        "2,000,000 tps."
    )
    assert (link, address) == ("Speed, at least 1,728,000 tps: show 1 result", "?min_tps=1728000")
    text = client.get(f"/drives/nvme-flash/{address}").text
    assert "1 of 36 shown." in text
    assert nearest("min_tps=1728000") is None


def test_of_several_filters_the_one_that_is_missed_by_the_smallest_factor_is_relaxed(catalogue, nearest):
    sentence, link, address = nearest("min_tps=1000000&max_1ms=0.5")
    assert "SanDisk DC SN861 6.4 TB. It fails one filter: share over 1 ms is 0.56 %, not at most 0.5 %." in sentence
    assert (link, address) == ("Over 1 ms, at most 0.56 %: show 1 result", "?min_tps=1000000&max_1ms=0.56")


def test_a_choice_is_dropped(catalogue, nearest):
    sentence, link, address = nearest("vendor=samsung&act=6")
    assert sentence.startswith(
        "The nearest result is SanDisk DC SN861 6.4 TB. It fails one filter: vendor is not Samsung"
    )
    assert link.startswith("Without this filter: show ")
    assert address == "?act=6"


def test_a_capacity_is_relaxed_in_tb(catalogue, nearest):
    sentence, link, address = nearest("min_tb=20")
    assert "capacity is 15.36 TB, not at least 20 TB." in sentence
    assert (link, address) == ("Capacity, from 15.36 TB: show 2 results", "?min_tb=15.36")


def test_a_result_that_fails_several_filters_is_named_with_each(catalogue, nearest):
    sentence, link, address = nearest("min_tps=9000000&max_tb=0.1")
    assert "It fails 2 filters: capacity is " in sentence
    assert "; speed is " in sentence
    assert link.startswith("Without these 2 filters: show ")
    assert address == "?"


def test_a_value_that_is_not_reported_is_never_relaxed(nearest, make_product, make_published_run):
    make_published_run(product=make_product(model="EX9", endurance_dwpd=None))
    sentence, link, address = nearest("min_dwpd=3")
    assert sentence.endswith("It fails one filter: endurance is not reported.")
    assert (link, address) == ("Without this filter: show 1 result", "?")


def test_a_share_of_zero_as_the_bound_is_relaxed(nearest, make_product, make_published_run):
    make_published_run({1000: "0.05"}, product=make_product(model="EX9"))
    assert nearest("max_1ms=0")[1:] == ("Over 1 ms, at most 0.05 %: show 1 result", "?max_1ms=0.05")


def test_hidden_kinds_of_rows_are_never_the_nearest(nearest, make_product, make_published_run):
    make_published_run(product=make_product(model="OLD", historical=True), tps=900_000)
    assert nearest("min_tps=1000000") is None
    make_published_run(product=make_product(model="EX9"), tps=100_000)
    assert "EX9" in nearest("min_tps=1000000")[0]
    assert "OLD" in nearest("min_tps=1000000&historical=include")[0]


def test_results_that_only_the_limits_hide_are_named(nearest, make_product, make_published_run):
    make_published_run({1000: "90.00"}, product=make_product(model="EX9"))
    sentence, link, _ = nearest("within=only")
    assert sentence.endswith("It fails one filter: not within the limits.")
    assert link == "Without this filter: show 1 result"


def test_the_pages_of_all_categories_and_of_historical_drives_name_it_too(catalogue, nearest):
    assert nearest("min_tps=99000000", "/drives/")[2].startswith("?min_tps=")
    assert nearest("min_tps=99000000", "/drives/historical/")[2].startswith("?min_tps=")
    assert nearest("", "/drives/") is None
