"""Filters: alternatives inside one, all of them together, permanent addresses, and the reasons of hidden rows."""

import json
import re
from hashlib import md5
from pathlib import Path

import pytest
from django.conf import settings
from django.middleware import http
from django.utils.http import quote_etag

from results.models import Verdict
from tests.webapp.register.pages import read_rows, shown_html
from webapp.register.drives.filters import Filter, bound_of
from webapp.register.drives.store import data_file

pytestmark = pytest.mark.django_db
ADDRESSES = Path(settings.BASE_DIR / "tests/data/addresses/drives.txt").read_text().splitlines()
BOUNDS = Path(settings.BASE_DIR / "tests/data/filter_bounds.jsonl").read_text().splitlines()
GIVEN_OUT = [line.split("\t") for line in ADDRESSES if not line.startswith("#")]


@pytest.mark.parametrize("line", BOUNDS)
def test_the_bound_of_a_number_lets_no_row_pass_that_is_beyond_it(line):
    case = json.loads(line)
    chosen = Filter("any", "any", case["kind"], "Any", "any", scale=case["scale"])
    assert bound_of(chosen, case["text"]) == case["bound"]


def rows_of(client, address):
    response = client.get(address)
    assert response.status_code == 200, response.text[:3000]
    return [row for row in read_rows(response) if row[0].rstrip("?") not in {"Drive", "System", "Instance"}]


@pytest.mark.parametrize(("path", "query", "number", "first"), GIVEN_OUT)
def test_an_address_always_has_the_same_meaning(client, catalogue, path, query, number, first):
    rows = rows_of(client, f"{path}?{query}")
    assert len(rows) == int(number)
    # Storage or a note may follow the model.
    maker, words = rows[0][0].split(",")[0], rows[0][0].replace(",", "").split()
    assert first.split(" ", 1)[1].split()[-1] in words
    assert maker.split()[0] == first.split()[0]


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        ("vendor=nosuch", "Vendor: expected one of huawei, intel"),
        ("capacity=big", "Capacity class: expected one of to-1tb, 1-to-2tb"),
        (
            "min_tps=-1",
            "Speed, at least: expected a number from 0 to 1,000,000,000,000 tps, for example 500k or 1,500,",
        ),
        ("min_tps=1e-9", "for example 500k or 1,500,000. Found “1e-9”."),
        ("min_tb=big", "Capacity, from: expected a number from 0 to 1,000,000 TB, for example 6.4 TB or 800 GB"),
        ("max_tb=1000001", "Capacity, to: expected a number from 0 to 1,000,000 TB"),
        ("max_tb=1.2345", "Capacity, to: expected a number"),
        ("min_dwpd=NaN", "Endurance, at least: expected a number"),
        ("max_1ms=101", "Over 1 ms, at most: expected a percentage from 0 to 100, for example 0.5. Found “101”."),
        ("max_1ms=1&max_1ms=2", "Over 1 ms, at most: expected once, found 2 times"),
        ("limit_1ms=101", "Percent over 1\N{NO-BREAK SPACE}ms: expected a percentage from 0 to 100"),
        ("provider=aws", "Unknown parameter “provider”. This page has: “Vendor” (vendor), "),
        ("max_pct_1ms=3", "Unknown parameter “max_pct_1ms”. Did you mean “Over 1 ms, at most” (max_1ms)?"),
        ("columns=colour", "Columns: expected one of drive, capacity_gb"),
        ("page=0", "Page: expected a whole number from 1"),
        ("page=2", "Page: expected a number from 1 to 1. Found “2”."),
        ("page=one", "Page: expected a whole number from 1"),
        ("within=maybe", "Only within the limits: expected one of any, only"),
        ("historical=1", "Also show historical: expected one of leave-out, include"),
        ("colour=red", "Unknown parameter “colour”. This page has: “Vendor” (vendor), "),
        ("q=" + "x" * 101, "Search: expected at most 100 characters, got 101"),
    ],
)
def test_an_invalid_parameter_is_named_as_the_form_labels_it(client, catalogue, query, complaint):
    response = client.get(f"/drives/nvme-flash/?{query}")
    assert response.status_code == 400
    assert f'<p class="lede">{complaint}' in response.text or f"{complaint}</p>" in response.text
    assert f"<code>{query.partition('=')[0]}" in response.text


def shown(client, address):
    text = client.get(address).text
    return " ".join(text.split("data-shown")[1].split(">", 1)[1].split('</div><span class="forms">')[0].split())


def test_a_single_reason_is_shown_with_the_link_that_shows_its_rows(client, catalogue):
    assert shown(client, "/drives/nvme-flash/") == (
        "<b>30 of 36 shown.</b> 6 hidden: historical."
        '<span class="lift"> <a href="?historical=include">Show them</a></span>'
    )


def test_several_reasons_are_shown_with_the_rows_that_each_hides_and_shows(client, catalogue):
    said = shown(client, "/drives/nvme-flash/?vendor=intel&min_tps=300000")
    everything = "?historical=include&amp;withdrawn=include&amp;superseded=include"
    link = f'<span class="lift"> <a href="{everything}">Show all</a></span>'
    line, reasons = said.split('<details class="why"><summary>Reasons</summary>')
    rating = "None of the 3 has a rating that allows 300,000 tps."
    assert line == f"<b>3 of 36 shown.</b> {rating} 33 hidden for 3 reasons.{link}"
    assert "<li>historical: 6</li>" in reasons
    step = ', {1} only for this reason<span class="lift"> <a href="?{0}">Show {1}</a>'
    assert f"vendor is not Intel: 30{step.format('min_tps=300000', 20)}" in reasons
    assert f"speed is below 300,000 tps or not reported: 12{step.format('vendor=intel', 1)}" in reasons
    assert reasons.endswith("</ul>A drive can fail several filters.</details>")


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("nvme-flash/?min_tps=432000", "2 of the 14 have a rating that allows 432,000 tps."),
        ("nvme-flash/?min_tps=433000", "None of the 14 has a rating that allows 433,000 tps."),
        ("nvme-flash/?min_tps=1600000", "Its rating does not allow 1,600,000 tps."),
        ("?category=nvme-flash&min_device_tps=432000", "2 of the 14 have a rating that allows 432,000 tps."),
        ("nvme-flash/?min_dwpd=3", "2 of the 21 have a rating that allows the tested speed."),
    ],
)
def test_a_filter_of_load_or_endurance_states_how_many_ratings_sustain_it(client, catalogue, query, sentence):
    assert f"shown.</b> {sentence}" in shown(client, f"/drives/{query}")


@pytest.mark.parametrize("query", ["nvme-flash/?vendor=intel", "cloud/?min_tps=100000", "nvme-flash/?min_tps=99999999"])
def test_other_filters_systems_and_empty_tables_say_nothing_about_ratings(client, catalogue, query):
    assert "rating" not in shown(client, f"/drives/{query}")


def test_each_link_shows_as_many_rows_as_it_states(client, catalogue):
    before = len(rows_of(client, "/drives/nvme-flash/?vendor=intel&min_tps=300000"))
    assert len(rows_of(client, "/drives/nvme-flash/?min_tps=300000")) == before + 20
    assert len(rows_of(client, "/drives/nvme-flash/?vendor=intel")) == before + 1


def test_a_page_without_visible_rows_states_so(client, catalogue):
    response = client.get("/drives/nvme-flash/?min_tps=99999999")
    assert read_rows(response) == []
    assert "0 of 36 shown." in response.text
    assert "No result matches" in response.text


def test_a_full_view_has_an_address_of_less_than_300_characters(client, catalogue):
    address = (
        "/drives/nvme-flash/?q=ultrastar&vendor=intel~micron~western-digital&capacity=2-to-4tb~4-to-8tb&act=5~6&tier=published"
        "&min_tps=300000&max_1ms=3&min_dwpd=1&limit_1ms=3.5&limit_64ms=0.05&within=only&historical=include"
        "&sort=-sustained_tps&columns=capacity_gb~tps~pct_over_1ms"
    )
    text = client.get(address).text
    link = text.split('data-form="html" href="')[1].split('"')[0].replace("&amp;", "&")
    assert f"/drives/nvme-flash/{link}" == address
    assert len(address) < 300


def test_a_default_is_not_in_the_address(client, catalogue):
    address = "/drives/nvme-flash/?q=&min_tps=&max_1ms=&limit_1ms=5&limit_8ms=1.0&sort=&page=1&within=any"
    assert 'data-form="html" href="?"' in client.get(address).text


def test_historical_rows_are_marked_where_they_are_included(client, catalogue):
    rows = rows_of(client, "/drives/nvme-flash/?historical=include&vendor=intel&sort=tps")
    assert any("P3608 historical" in row[0] for row in rows)


def test_a_page_has_a_hundred_rows(client, make_published_run):
    for number in range(101):
        make_published_run(tps=1000 + number)
    assert len(rows_of(client, "/drives/nvme-flash/")) == 100
    (last,) = rows_of(client, "/drives/nvme-flash/?page=2")
    assert last[2] == "1,000"
    assert "101 of 101 shown." in client.get("/drives/nvme-flash/").text
    assert client.get("/drives/nvme-flash/?page=3").status_code == 400


def test_a_csv_has_the_rows_of_all_pages(client, make_published_run):
    for number in range(101):
        make_published_run(tps=1000 + number)
    assert len(client.get("/drives/nvme-flash/?format=csv").text.splitlines()) == 102


@pytest.mark.parametrize(
    "path", ["/drives/nvme-flash/?vendor=exemplar&limit_1ms=3", "/drives/rows.json", "/search/?q=ex"]
)
def test_one_row_needs_as_many_queries_as_fifty(client, make_published_run, make_log_run, count_queries, path):
    make_published_run()
    make_log_run()
    one = count_queries(path)
    for _ in range(25):
        make_published_run()
        make_log_run()
    assert count_queries(path) == one


def test_unchanged_results_are_read_once(client, catalogue, count_queries):
    count_queries("/drives/nvme-flash/")
    assert count_queries("/drives/nvme-flash/?vendor=intel") == 2  # has anything changed, and the profile


@pytest.mark.parametrize("change", ["run", "product", "annotation", "deleted"])
def test_a_change_is_shown_immediately(client, make_published_run, change):
    run = make_published_run()
    make_published_run()
    before = client.get("/drives/nvme-flash/").content
    if change == "run":
        run.visibility = "withdrawn"
        run.save()
    elif change == "product":
        run.product.model = "Another"
        run.product.save()
    elif change == "annotation":
        run.annotations.create(text="Mind the firmware.")
    else:
        run.shares.all().delete()
        run.delete()
    assert client.get("/drives/nvme-flash/").content != before


def test_limits_of_the_reader_mark_and_judge_rows_and_the_page_states_the_changes(client, catalogue):
    text = shown_html(client.get("/drives/nvme-flash/?limit_1ms=0.6"))
    assert text.count('class="beyond"') == 27
    assert "With your limits, 3 of 30 pass; 27 that pass the profile fail: " in text
    assert ">limit 0.6\N{NO-BREAK SPACE}%<" in text


def test_wider_limits_pass_rows_that_fail_the_profile(client, catalogue):
    text = client.get("/drives/cloud/?limit_1ms=13").text
    assert "With your limits, 40 of 40 pass; 5 that fail the profile pass: " in text


def test_a_log_that_fails_only_by_its_shares_passes_wider_limits(client, make_log_run):
    make_log_run()  # it is also too short
    wider = "/drives/nvme-flash/?limit_1ms=6&limit_8ms=2&limit_64ms=1"
    assert "With your limits, 0 of 1 pass" in client.get(wider).text
    verdict = Verdict.objects.get()
    verdict.document["reasons"] = []
    verdict.save()
    assert "With your limits, 1 of 1 pass; 1 that fails the profile passes: " in client.get(wider).text
    assert "With your limits, 0 of 1 pass" in client.get("/drives/nvme-flash/?limit_1ms=6").text


def test_the_requested_columns_are_shown(client, catalogue):
    rows = rows_of(client, "/drives/nvme-flash/?columns=tps~needed_dwpd")
    assert rows[0] == ["SanDisk, 6.4 TB DC SN861", "1,728,000", "24"]


def test_the_data_file_has_every_public_row(client, catalogue):
    document = client.get("/drives/rows.json").json()
    assert (document["schema"], document["count"]) == ("drivecert.drives/1", 103)
    assert {len(column["codes"]) for column in document["columns"].values()} == {103}
    speeds, models = document["columns"]["tps"], document["columns"]["model"]
    row = max(range(103), key=lambda each: speeds["codes"][each])
    assert (speeds["words"][speeds["codes"][row]], models["words"][models["codes"][row]]) == (
        "6,408,000",
        "n2-standard-80",
    )
    assert document["product"][row] is None


def test_the_data_file_is_compressed_if_the_client_accepts_it(client, catalogue):
    response = client.get("/drives/rows.json", headers={"Accept-Encoding": "gzip"})
    assert response.headers["Content-Encoding"] == "gzip"
    assert response.headers["Vary"] == "Accept-Encoding"
    again = client.get(
        "/drives/rows.json", headers={"Accept-Encoding": "gzip", "If-None-Match": response.headers["ETag"]}
    )
    assert again.status_code == 304


def test_the_etag_of_the_data_file_is_computed_once_for_each_state(client, catalogue, monkeypatch):
    monkeypatch.setattr(http, "set_response_etag", None)  # Django's, which hashes every response
    first = client.get("/drives/rows.json")
    monkeypatch.setattr(data_file, "md5", None)
    assert first.headers["ETag"] == quote_etag(md5(first.content, usedforsecurity=False).hexdigest())
    assert client.get("/drives/rows.json").headers["ETag"] == first.headers["ETag"]


def test_an_unreviewed_run_is_not_in_the_data_file(client, make_log_run):
    run = make_log_run(visibility="unreviewed")
    assert run.public_id not in client.get("/drives/rows.json").text


@pytest.mark.parametrize(
    ("typed", "plain"),
    [
        ("min_tps=1M", "min_tps=1000000"),
        ("min_tps=500k+tps", "min_tps=500000"),
        ("min_tps=300,000", "min_tps=300000"),
        ("min_tps=0500000.0", "min_tps=500000"),
        ("max_1ms=3+%25&vendor=intel", "vendor=intel&max_1ms=3"),
        ("min_tb=800+GB&max_tb=2TiB", "min_tb=0.8&max_tb=2.199"),
    ],
)
def test_an_address_with_a_typed_number_leads_to_the_one_with_the_plain_number(client, catalogue, typed, plain):
    response = client.get(f"/drives/nvme-flash/?{typed}")
    assert (response.status_code, response.headers["Location"]) == (302, f"/drives/nvme-flash/?{plain}")
    assert client.get(f"/drives/nvme-flash/?{plain}").status_code == 200


def test_an_export_accepts_typed_numbers_without_a_redirect(client, catalogue):
    exports = [client.get(f"/drives/nvme-flash/?min_tps={text}&format=csv") for text in ("500k", "500,000", "500000")]
    assert [response.status_code for response in exports] == [200] * 3
    assert len({response.content for response in exports}) == 1


@pytest.mark.parametrize(
    ("query", "capacities"),
    [
        ("min_tb=6&max_tb=8", {"6.4", "7.68"}),
        ("min_tb=6.4&max_tb=6.4", {"6.4"}),
        ("min_tb=6.597&max_tb=6.597", {"6.4"}),
        ("min_tb=6.6&max_tb=7.4", set()),
        ("min_tb=7.7&max_tb=7.7", {"7.68"}),
        ("min_tb=12.8", {"12.8", "15.36"}),
        ("max_tb=1", {"1"}),
        ("capacity=over-8tb", {"12.8", "15.36"}),
    ],
)
def test_a_range_of_capacities_includes_both_ends(client, catalogue, query, capacities):
    rows = client.get(f"/drives/nvme-flash/?{query}&format=json").json()["rows"]
    assert {f"{row['capacity_gb'] / 1000:g}" for row in rows} == capacities


@pytest.mark.parametrize(
    ("capacity_gb", "is_shown"), [(6207, False), (6208, True), (6400, True), (6592, True), (6593, False)]
)
def test_a_capacity_may_be_off_by_three_percent_at_both_ends(
    client, make_product, make_published_run, capacity_gb, is_shown
):
    make_published_run(product=make_product(category="nvme-flash", capacity_gb=capacity_gb))
    address = "/drives/nvme-flash/?min_tb=6.4&max_tb=6.4"
    assert bool(client.get(f"{address}&format=json").json()["rows"]) is is_shown
    page = client.get(address).text
    assert page.replace("\N{NO-BREAK SPACE}", " ").count("TB \N{PLUS-MINUS SIGN}3 %") == 2  # next to both fields


def test_a_drive_without_a_capacity_is_in_no_range(client, make_product, make_published_run):
    make_published_run(product=make_product(capacity_gb=None))
    assert "0 of 1 shown" in client.get("/drives/nvme-flash/?min_tb=0").text
    assert "capacity is below 0 TB by more than 3 % or not reported" in client.get("/drives/nvme-flash/?min_tb=0").text


def heads_of(client, address):
    return re.findall(r'data-column="(\w+)"', client.get(address).text.split("<tbody")[0])


def test_a_filter_by_endurance_shows_the_columns_of_endurance(client, catalogue):
    assert {"endurance_dwpd", "sustained_tps"} & set(heads_of(client, "/drives/")) == set()
    assert {"endurance_dwpd", "sustained_tps"} <= set(heads_of(client, "/drives/?min_dwpd=3"))


def test_a_filter_shows_its_own_column_unless_columns_are_chosen(client, catalogue):
    assert "pcie_gen" in heads_of(client, "/drives/nvme-3dxpoint/?pcie=4.0")
    assert "pcie_gen" not in heads_of(client, "/drives/nvme-flash/")
    assert "pcie_gen" in heads_of(client, "/drives/nvme-flash/?pcie=unstated")
    assert heads_of(client, "/drives/?min_dwpd=3&columns=tps") == ["drive", "tps"]


def test_each_option_of_a_filter_has_the_number_of_its_rows(client, catalogue):
    text = client.get("/drives/nvme-flash/").text
    for option, count in (("intel", 4), ("micron", 5), ("western-digital", 5)):
        label = text.split(f'name="vendor" value="{option}"')[1].split("</label>")[0]
        assert label.endswith(f'<span class="sub">({count})</span>'), label
        assert len(rows_of(client, f"/drives/nvme-flash/?vendor={option}")) == count


def test_withdrawn_rows_are_not_counted_in_an_option(client, make_product, make_published_run):
    product = make_product(vendor="Exemplar")
    make_published_run(product=product)
    make_published_run(product=product, visibility="withdrawn")
    assert "(1)</span>" in client.get("/drives/nvme-flash/").text.split('value="exemplar"')[1].split("</label>")[0]
