"""Rows of several drives in a fleet check: the count column and the counts of the answer."""

import json

import pytest

from webapp.register.fleet.drives import COUNT_AT_MOST, read_drives
from webapp.register.fleet.listed_drive import FleetError


def counts_of(text):
    return [each.count for each in read_drives(text)]


@pytest.mark.parametrize("name", ["count", "Quantity", "QTY"])
def test_a_column_has_the_number_of_drives_of_a_row(name):
    assert counts_of(f"model,{name}\nPM983,4\nPM983, 2 \nPM983,\nPM983\n") == [4, 2, 1, 1]


def test_objects_can_have_a_count_and_without_one_each_row_is_one_drive():
    assert counts_of(json.dumps([{"model": "PM983", "count": 4}, {"model": "PM983", "count": "2"}])) == [4, 2]
    assert counts_of("model\nPM983\nPM983\n") == [1, 1]


@pytest.mark.parametrize("count", [0, 1, COUNT_AT_MOST])
def test_a_count_in_digits_is_accepted(count):
    assert counts_of(f"model,count\nPM983,{count}\n") == [count]


@pytest.mark.parametrize(
    "count", [str(COUNT_AT_MOST + 1), "-1", "+1", "4.0", '"1,000"', "4x", "1e3", "\N{SUPERSCRIPT TWO}", "9" * 5_000]
)
def test_any_other_count_is_refused_with_its_row(count):
    with pytest.raises(FleetError, match=r"The count of 'PM983' is .*: expected a whole number from 0 to 1,000,000"):
        read_drives(f"model,count\nPM983,{count}\n")


@pytest.mark.parametrize("count", [True, 1.5, [4], {"of": 4}])
def test_a_count_of_another_kind_is_refused(count):
    with pytest.raises(FleetError, match="The count of 'PM983' is"):
        read_drives(json.dumps([{"model": "PM983", "count": count}]))


def test_the_count_of_a_row_without_a_drive_is_ignored():
    assert counts_of("model,count\nPM983,4\n,four in all\n") == [4]


LIST = "model,count\nDC EX4,4\nnobody's drive,2\nnobody's other drive,8\nDC EX4,1\n"


@pytest.fixture
def ex4(make_product, make_published_run):
    product = make_product(vendor="Exemplar", model="DC EX4", capacity_gb=3200)
    make_published_run(product=product)
    return product


@pytest.mark.django_db
def test_the_page_adds_up_drives_not_rows(client, ex4):
    text = client.post("/check/answer/", {"list": LIST}).text
    assert "<h1>The register knows 5 of 15 drives</h1>" in text
    assert "5 as published, 10 unknown." in text
    assert text.count("8 drives</span>") == 2
    assert "1 drive</span>" not in text


@pytest.mark.django_db
def test_exports_and_the_api_have_the_count(client, ex4):
    rows = client.post("/check/answer/", {"list": LIST, "format": "json"}).json()["rows"]
    assert [row["count"] for row in rows] == [4, 2, 8, 1]
    counts = client.generic("POST", "/api/v1/check/", LIST, "text/csv").json()["counts"]
    assert (counts["published"], counts["unknown"]) == (5, 10)


@pytest.mark.django_db
def test_a_recognised_drive_without_a_result_is_not_called_unknown(client, make_product, make_published_run):
    make_published_run(
        product=make_product(vendor="Exemplar", model="EX5", capacity_gb=3200),
        workload="ycsb", tier="reviewed", statistic="overall",
    )  # fmt: skip
    text = client.post("/check/answer/", {"list": "model,capacity_gb\nEX5,3200\nnobody's drive,3200\n"}).text
    assert "1 known, no result, 1 unknown." in text
    assert '<tr><td class="fleet-state"><span class="tag">known, no result</span></td><th scope="row">' in text
    rows = client.post("/check/answer/", {"list": "model\nEX5\n", "format": "json"}).json()["rows"]
    assert rows[0]["state"] == "unknown"
