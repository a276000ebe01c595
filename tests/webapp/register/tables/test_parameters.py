"""Sorting and formats of a list page: accepted parameters and errors."""

import pytest
from django.http import QueryDict

from tests.webapp.register.pages import read_rows
from webapp.register.http.query_params import ParameterError
from webapp.register.tables.categories import DRIVE_COLUMNS
from webapp.register.tables.parameters import FASTEST_FIRST, Sort, read_list_query


def read(query):
    return read_list_query(QueryDict(query), DRIVE_COLUMNS)


def test_the_default_is_a_page_with_the_fastest_first():
    question = read("")
    assert (question.sort, question.form) == (FASTEST_FIRST, "html")


@pytest.mark.parametrize(("query", "sort"), [("sort=-tps", Sort("tps", True)), ("sort=drive", Sort("drive", False))])
def test_a_minus_before_the_column_sorts_in_descending_order(query, sort):
    assert read(query).sort == sort


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        ("sort=colour", "sort=colour: expected one of act_version, capacity_gb"),
        ("sort=", "sort=: expected one of"),
        ("sort=--tps", "sort=--tps: expected one of"),
        ("sort=notes", "sort=notes: expected one of"),
        ("format=xml", "format=xml: expected one of html, csv, json"),
        ("withdrawn=include", "Unknown parameter withdrawn: expected one of sort, format"),
        ("sort=tps&sort=drive", "sort: expected once, found 2 times"),
        ("colour=red", "Unknown parameter colour: expected one of sort, format"),
    ],
)
def test_an_invalid_parameter_is_named(query, complaint):
    with pytest.raises(ParameterError, match=f"^{complaint}"):
        read(query)


def test_an_address_has_only_values_other_than_the_default():
    assert read("").address() == "?"
    assert read("sort=drive").address(form="csv") == "?sort=drive&format=csv"


def test_an_unknown_parameter_is_answered_with_a_page_that_names_it(client, db):
    response = client.get("/drives/nvme-flash/?sort=<b>lots")
    assert response.status_code == 400
    assert "sort=&lt;b&gt;lots" in response.text
    assert 'href="/drives/nvme-flash/"' in response.text


@pytest.mark.parametrize(
    ("sort", "first"),
    [
        ("drive", "Intel, 7.68 TB P5510"),
        ("-drive", "Western Digital, 3.2 TB Ultrastar DC SN840"),
        ("tps", "Western Digital, 3.2 TB Ultrastar DC SN640"),
        ("-pct_over_1ms", "Kioxia, 1.6 TB CM6-v"),
        ("-pct_over_8ms", "Intel, 7.68 TB P5510"),
        ("-endurance_dwpd", "SanDisk, 6.4 TB DC SN861"),
        ("capacity_gb", "Kioxia, 1.6 TB CM6-v"),
        ("-act_version", "SanDisk, 6.4 TB DC SN861"),
    ],
)
def test_each_column_sorts_its_bands_in_both_directions(client, catalogue, sort, first):
    assert read_rows(client.get(f"/drives/nvme-flash/?sort={sort}"))[0][0] == first


@pytest.mark.parametrize("sort", ["pct_over_256us", "-pct_over_256us"])
def test_missing_values_come_last_in_both_directions(client, catalogue, sort):
    assert "P5800X" in read_rows(client.get(f"/drives/nvme-3dxpoint/?sort={sort}"))[0][0]


def test_a_head_links_to_its_column_and_to_the_opposite_order(client, catalogue):
    text = client.get("/drives/nvme-flash/?sort=drive").text
    assert '<th scope="col" aria-sort="ascending" data-column="drive"><a href="?sort=-drive">Drive</a>' in text
    assert '<a href="?sort=-endurance_dwpd">Endurance</a>' in text


def test_versions_sort_by_number(client, make_published_run):
    for version in ("6.9", "6.10", "5", ""):
        make_published_run(tool_version=version)
    rows = read_rows(client.get("/drives/nvme-flash/?sort=-act_version"))
    assert [row[10] for row in rows] == ["6.10", "6.9", "5", "-not reported"]
