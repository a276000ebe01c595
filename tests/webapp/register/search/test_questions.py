"""Searches that are questions: the fastest drives of a maker or provider, a comparison, and a speed in tps."""

import html
import re

import pytest

from tests.webapp.register.pages import read_rows
from webapp.register.search.questions import comparison_link, speed_question

pytestmark = pytest.mark.django_db


def lede(response):
    return re.search(r'<p class="lede">(.*?)</p>', response.text)[1]


@pytest.mark.parametrize("query", ["best aws instance", "what is the fastest AWS instance?", "aws instances"])
def test_the_best_instance_of_a_provider_is_the_fastest_per_device(client, catalogue, query):
    response = client.get("/search/", {"q": query})
    rows = read_rows(response)
    said = f"25 cloud instances found for <bdi>{query}</bdi>, the fastest per device first."
    assert lede(response) == said
    speeds = [int(row[2].split()[0].replace(",", "")) if row[2] != "none" else 0 for row in rows]
    current = ["historical" not in row[-1] for row in rows]
    assert sorted(current, reverse=True) == current
    assert sorted(speeds[: sum(current)], reverse=True) == speeds[: sum(current)]
    assert "per device, as published" in rows[0][2]
    assert rows[0][0] != "AWS i3.metal"
    table = re.search(r'<a href="([^"]+)">All results of AWS by speed of one device</a>', response.text)[1]
    first = read_rows(client.get(html.unescape(table)))[0]
    assert first[0].startswith(rows[0][0])


def test_the_best_drive_of_a_maker_is_its_fastest(client, catalogue):
    response = client.get("/search/?q=best+micron+ssd")
    assert "12 drives found for <bdi>best micron ssd</bdi>, the fastest per device first." in lede(response)
    assert read_rows(response)[0][0] == "Micron X100"
    assert "by speed of one device" not in response.text


@pytest.mark.parametrize("query", ["micron samsung", "Micron and Samsung drives"])
def test_names_of_several_makers_list_the_drives_of_all_and_lead_to_one_table(client, catalogue, query):
    response = client.get("/search/", {"q": query})
    assert {row[0].split()[0] for row in read_rows(response)} == {"Micron", "Samsung"}
    table = re.search(r'<a href="([^"]+)">All results of Micron and Samsung in one table</a>', response.text)[1]
    assert html.unescape(table) == "/drives/?vendor=micron~samsung"
    assert {row[0].split(",")[0] for row in read_rows(client.get(html.unescape(table)))} == {"Micron", "Samsung"}


def test_names_of_several_providers_lead_to_one_table(client, catalogue):
    assert 'href="/drives/?vendor=aws~gcp">' in client.get("/search/?q=aws+google").text


@pytest.mark.parametrize(("query", "is_linked"), [("wd", True), ("western digital", True), ("western", False)])
def test_the_name_of_one_maker_leads_to_its_table(client, catalogue, query, is_linked):
    text = client.get("/search/", {"q": query}).text
    address = 'href="/drives/?vendor=western-digital">All results of Western Digital in one table</a>'
    assert (address in text) == is_linked


def test_a_maker_with_the_name_of_a_drive_is_no_list_of_makers(client, catalogue):
    assert "in one table" not in client.get("/search/?q=micron+9400").text


def test_words_for_cloud_instances_exclude_drives(client, make_product, make_published_run):
    make_published_run(product=make_product(vendor="Exemplar", model="EX9"))
    assert "has no result for" in client.get("/search/?q=best+exemplar+instance").text


@pytest.mark.parametrize(
    ("query", "tps", "rest"),
    [
        ("1m tps", 1_000_000, ""),
        ("1,500,000 TPS", 1_500_000, ""),
        ("1.5 million tps", 1_500_000, ""),
        ("micron 500ktps", 500_000, "micron"),
    ],
)
def test_a_number_with_tps_is_a_speed(query, tps, rest):
    found = speed_question(query)
    assert (found.tps, found.rest.strip()) == (tps, rest)


@pytest.mark.parametrize("query", ["tps", "1.5 tps and", "p4610 tps", "0 tps", "9999999m tps", "1m tpsx", "1m"])
def test_other_words_are_no_speed(query):
    assert speed_question(query) is None


def test_a_speed_leads_to_the_drives_and_the_cloud_instances_with_it(client, catalogue):
    response = client.get("/search/?q=1m+tps")
    said = lede(response)
    assert said.startswith("Results of 1,000,000 tps or more: ")
    addresses = re.findall(r'<a href="([^"]+)">', said)
    assert addresses == [
        "/?min_device_tps=1000000", "/drives/cloud/?min_device_tps=1000000", "/drives/cloud/?min_tps=1000000",
    ]  # fmt: skip
    assert [client.get(address).status_code for address in addresses] == [200] * 3
    assert "has no result" not in response.text
    assert "submit a result" not in response.text


def test_the_rest_of_a_search_with_a_speed_is_searched_for(client, catalogue):
    response = client.get("/search/?q=micron+1m+tps")
    assert "Results of 1,000,000 tps or more" in lede(response)
    assert len(read_rows(response)) == 12
    assert 'value="micron 1m tps"' in response.text


@pytest.mark.parametrize("query", ["sn861 vs micron 9400", "sn861 VS. micron 9400", "SN861 versus micron 9400"])
def test_a_search_for_one_drive_versus_another_leads_to_their_comparison(client, catalogue, query):
    text = client.get("/search/", {"q": query}).text
    assert "has no result for" not in text
    assert "Try fewer words" not in text
    link = re.search(r'<a href="(/compare/[^"]+)">Compare <bdi>([^<]+)</bdi></a>', text)
    assert link[2].lower() == "sn861 and micron 9400"
    shown = client.get(html.unescape(link[1]), follow=True)
    assert "<h1><bdi>SanDisk DC SN861" in shown.text


@pytest.mark.parametrize(
    "query", ["sn861", "vs micron", "sn861 vs", "sn861 vs sn861", "a vs b vs c vs d vs e vs f vs g"]
)
def test_no_comparison_without_two_to_six_names(query):
    assert comparison_link(query) is None


def test_a_name_that_contains_the_letters_is_no_comparison():
    assert comparison_link("evs vsan 2") is None
