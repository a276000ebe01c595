"""The home page: seven tables, their sizes, and the fastest of each within the limits."""

import pytest

from results.models import Visibility
from tests.webapp.register.conftest import SLOW_DISK_VERDICT
from tests.webapp.register.pages import read_rows

pytestmark = pytest.mark.django_db


def test_home_lists_seven_tables_with_their_sizes(client, catalogue):
    rows = read_rows(client.get("/"))
    assert {row[0]: int(row[1]) for row in rows} == {
        "NVMe 3D XPoint": 4,
        "NVMe flash": 30,
        "SATA and SAS flash": 2,
        "M.2 flash": 1,
        "Networked storage": 4,
        "Cloud instances": 40,
        "Historical": 22,
    }


def test_home_shows_the_size_of_the_register(client, catalogue):
    assert "103 results, all from publications: 81 of current and 22 of historical drives." in client.get("/").text


def test_home_shows_the_fastest_within_the_limits(client, catalogue):
    rows = {row[0]: row for row in read_rows(client.get("/"))}
    assert rows["NVMe flash"][2:5] == ["SanDisk DC SN861 6.4 TB", "1,728,000", "0.56"]
    assert rows["Cloud instances"][2] == "GCP n2-standard-80 (24 x 375 GB)"


def test_a_faster_run_over_a_limit_is_not_shown_as_the_fastest(client, make_published_run):
    make_published_run({1000: "5.00"}, tps=100)
    make_published_run({1000: "5.01"}, tps=200)
    assert [row[3] for row in read_rows(client.get("/")) if row[0] == "NVMe flash"] == ["100"]


@pytest.mark.parametrize(("outcome", "speed"), [("pass", "900"), ("undecided", ""), ("void", ""), ("fail", "")])
def test_a_run_from_a_log_must_pass(client, make_log_run, outcome, speed):
    document = {"outcome": outcome, "headline": "", "histogram": "reads", "shares": [], "violations": [], "reasons": []}
    make_log_run(document=document)
    assert next(row[3] for row in read_rows(client.get("/")) if row[0] == "NVMe flash") == speed


def test_the_limits_of_a_reader_select_the_fastest_and_are_kept_in_links(client, make_published_run):
    run = make_published_run({1000: "6.00"}, tps=200)
    make_published_run({1000: "4.00"}, tps=100)
    response = client.get("/?limit_1ms=7")
    assert [row[3] for row in read_rows(response) if row[0] == "NVMe flash"] == ["200"]
    assert 'href="/drives/nvme-flash/?limit_1ms=7"' in response.text
    assert f'href="/drive/{run.product.slug}/?limit_1ms=7"' in response.text
    assert 'name="limit_1ms" value="7"' in response.text
    assert "at most 7 % of reads over 1" in " ".join(response.text.replace("&nbsp;", " ").split())
    assert "Use the profile" in response.text
    assert "limit_" not in client.get("/").text.replace('name="limit_', "")


@pytest.mark.parametrize(("limit", "speed"), [("5", ""), ("5.83", "900"), ("5.82", "")])
def test_a_log_that_fails_only_by_its_shares_passes_wider_limits(client, make_log_run, limit, speed):
    make_log_run(document=SLOW_DISK_VERDICT | {"reasons": []})
    rows = read_rows(client.get(f"/?limit_1ms={limit}&limit_8ms=2&limit_64ms=1"))
    assert [row[3] for row in rows if row[0] == "NVMe flash"] == [speed]


@pytest.mark.parametrize("query", ["limit_1ms=x", "limit_2ms=5", "limit_1ms=1&limit_1ms=2"])
def test_an_invalid_limit_is_named(client, query):
    response = client.get(f"/?{query}")
    assert (response.status_code, "limit_" in response.text) == (400, True)


def test_runs_that_are_not_public_are_not_counted(client, make_published_run):
    make_published_run(visibility=Visibility.UNREVIEWED)
    make_published_run(visibility=Visibility.WITHDRAWN)
    assert "0 results, all from publications: 0 of current and 0 of historical drives." in client.get("/").text


def test_an_empty_register_lists_its_tables(client):
    assert len(read_rows(client.get("/"))) == 7


@pytest.mark.parametrize("is_virtual", [False, True])
def test_a_run_on_a_virtual_device_is_not_the_fastest(client, make_published_run, is_virtual):
    make_published_run(tps=987_000, is_virtual=is_virtual)
    assert ("987" in client.get("/").text) is not is_virtual
