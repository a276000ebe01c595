"""The page Nines at scale, by default with the example of the brief."""

import re

import pytest

from tests.webapp.register.pages import read_rows
from webapp.register.http.query_params import labels_of
from webapp.register.nines.views import PARAMETERS


def rows(client, query=""):
    return {row[0]: row[-1] for row in read_rows(client.get(f"/nines/{query}"))}


def test_ten_requests_of_the_brief_become_forty_thousand(client):
    found = rows(client)
    assert [found[thing] for thing in ("one drive", "one server", "one rack", "all racks")] == [
        "10", "100", "2,000", "40,000",
    ]  # fmt: skip
    assert "10 slow reads per second on one drive become 40,000 in 20 racks." in client.get("/nines/").text


def test_a_query_is_answered(client):
    found = rows(client, "?reads=500,000&nines=4&drives=2&servers=1&racks=3&parallel=50")
    assert [found[thing] for thing in ("one drive", "one server", "one rack", "all racks")] == [
        "50",
        "100",
        "100",
        "300",
    ]
    assert found["50"] == "0.499 %"


def test_a_request_with_a_probability_near_one_is_not_called_certain(client):
    assert rows(client, "?nines=1&parallel=500")["500"] == "more than 99.9 %"
    assert "more than 99.9\N{NO-BREAK SPACE}%" in client.get("/nines/?nines=1&parallel=500").text


def test_the_rows_are_exported_with_their_digits(client):
    lines = client.get("/nines/?reads=1&nines=3&format=csv").text.splitlines()
    assert lines[:2] == ["of,number,drives,reads_per_s,slow_reads_per_s", "drive,1,1,1,0.001"]
    assert client.get("/nines/?format=json").json()["rows"][-1]["slow_reads_per_s"] == "40000"


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("reads=0", "Reads per second of one drive: "),
        ("reads=-1", "Reads per second of one drive: "),
        ("nines=13", "Latency target of a drive, in nines: "),
        ("nines=1.5", "Latency target of a drive, in nines: "),
        ("racks=x", "Number of racks: "),
        ("colour=red", "Unknown parameter “colour”. "),
        ("reads=1&reads=2", "Reads per second of one drive: expected once, found 2 times."),
    ],
)
def test_an_invalid_parameter_is_named(client, query, named):
    response = client.get(f"/nines/?{query}")
    assert (response.status_code, f'<p class="lede">{named}' in response.text) == (400, True)


def test_the_page_needs_no_database(client):
    assert client.get("/nines/").status_code == 200  # a test without the fixture db may not query


def test_each_field_has_the_label_that_its_errors_name(client):
    labels = re.findall(r"<label>([^<]+?) *<[^>]*>", client.get("/nines/").text)
    assert labels == [label for name, label in labels_of(PARAMETERS).items() if name != "format"]


def test_a_reader_of_drives_finds_the_page(client, catalogue):
    for path in ("/drives/", "/drives/nvme-flash/", "/drive/sandisk-dc-sn861-6400gb/"):
        main = client.get(path).text.split("<main")[1].split("</main>")[0]
        assert re.search(r'<a href="/nines/(\?[^"]*)?">nines at scale</a>', main), path
