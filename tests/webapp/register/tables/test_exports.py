"""CSV and JSON of the list pages: the same rows, in the same order."""

import csv
import io
import re
from decimal import Decimal

import pytest

from tests.webapp.register.pages import read_rows
from webapp.register.drives.layouts import ALL_CATEGORIES_LAYOUT, HISTORICAL_LAYOUT, category_layout
from webapp.register.http.files import csv_cell
from webapp.register.tables.categories import SPECS
from webapp.register.tables.exports import FIELDS, FIELDS_OF_COLUMN

pytestmark = pytest.mark.django_db


def read_csv(response):
    return list(csv.DictReader(io.StringIO(response.content.decode(), newline="")))


@pytest.mark.parametrize("path", ["/drives/nvme-flash/", "/drives/cloud/", "/drive/gcp-n2-standard-80/"])
@pytest.mark.parametrize("sort", ["-tps", "pct_over_1ms"])
def test_csv_and_json_have_the_rows_and_order_of_the_page(client, catalogue, path, sort):
    page = client.get(f"{path}?sort={sort}").text.partition('<table class="runs')[2]
    lines = read_csv(client.get(f"{path}?sort={sort}&format=csv"))
    rows = client.get(f"{path}?sort={sort}&format=json").json()["rows"]
    places = [page.index(f"/runs/{line['run']}/") for line in lines]
    assert places == sorted(places)
    assert len(places) == len(read_rows(client.get(path)))
    assert [row["run"] for row in rows] == [line["run"] for line in lines]


def test_the_historical_page_exports_all_its_tables(client, catalogue):
    assert len(read_csv(client.get("/drives/historical/?format=csv"))) == 22


def test_numbers_keep_their_digits(client, catalogue):
    line = read_csv(client.get("/drives/nvme-flash/?format=csv"))[13]
    assert (line["model"], line["capacity_gb"], line["tps"]) == ("9300 Max", "6400", "525000")
    assert (line["pct_over_1ms"], line["pct_over_64ms"], line["pct_over_256us"]) == ("4.45", "0.005", "")


def test_json_has_null_for_missing_values_and_the_statistic_of_a_share(client, catalogue):
    row = client.get("/drives/cloud/?format=json").json()["rows"][0]
    assert (row["tps"], row["device_count"], row["sole_tenant"], row["capacity_gb"]) == ("6408000", 24, True, None)
    assert (row["statistic"], row["tier"], row["verdict"]) == ("steady-as-published", "published", None)


def test_a_run_from_a_log_exports_its_verdict(client, make_log_run):
    run = make_log_run()
    (line,) = read_csv(client.get("/drives/nvme-flash/?format=csv"))
    assert (line["run_page"], line["verdict"], line["statistic"]) == (f"/runs/{run.public_id}/", "fail", "worst-slice")
    assert line["pct_over_64ms"] == "0.33"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_text_that_looks_like_a_formula_is_escaped(client, make_product, make_published_run, start):
    make_published_run(product=make_product(vendor=f"{start}HYPERLINK(1)"))
    (line,) = read_csv(client.get("/drives/nvme-flash/?format=csv"))
    assert line["vendor"].startswith("'")


def test_files_have_their_type_and_name(client, catalogue):
    response = client.get("/drives/cloud/?format=csv")
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert response.headers["Content-Disposition"] == 'attachment; filename="cloud.csv"'
    document = client.get("/drives/cloud/?format=json")
    assert document.headers["Content-Type"] == "application/json"
    assert document.headers["Content-Disposition"] == 'inline; filename="cloud.json"'


@pytest.mark.parametrize(
    ("devices", "expected", "note"),
    [(1, ("55.5", "625000"), ""), (4, ("13.9", "156000"), "4 devices together"), (None, (None, None), "")],
)
def test_the_target_speed_is_compared_with_each_device(client, make_product, make_log_run, devices, expected, note):
    product = make_product(capacity_gb=1600)
    make_log_run(product=product, tps=Decimal(1_000_000), device_count=devices)
    row = client.get("/drives/nvme-flash/?format=json").json()["rows"][0]
    assert (row["tps"], row["needed_dwpd"], row["tps_per_tb"]) == ("1000000", *expected)
    columns = client.get("/drives/rows.json").json()["columns"]
    assert columns["tps_per_tb"]["words"] == ([f"{int(expected[1]):,}"] if expected[1] else [])
    assert note in " ".join(columns["notes"]["words"])


def test_a_published_result_without_a_number_of_devices_counts_as_one(client, make_product, make_published_run):
    make_published_run(product=make_product(capacity_gb=1600), tps=1_000_000)
    row = client.get("/drives/nvme-flash/?format=json").json()["rows"][0]
    assert (row["device_count"], row["needed_dwpd"], row["tps_per_tb"]) == (None, "55.5", "625000")
    assert "counts as one device" in client.get("/drives/nvme-flash/").text


@pytest.mark.parametrize("number", ["-0.4", "-12", "-0", "0.5", "7"])
def test_a_negative_number_is_not_escaped_as_a_formula(number):
    assert csv_cell(number) == number


@pytest.mark.parametrize("text", ["-1+1", "-", "--1", "-1.", "-.5", "=1", "+1", "@x", "-1e5", "-\u0661", "-1\n"])
def test_text_that_only_begins_like_a_number_is_escaped_as_a_formula(text):
    assert csv_cell(text) == f"'{text}"


def name_of_file(client, address):
    return re.search(r'filename="(.*)\.csv"', client.get(f"{address}&format=csv").headers["Content-Disposition"])[1]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("vendor=micron&min_tps=500000", "nvme-flash-micron-min-500000-tps"),
        ("vendor=intel~western-digital", "nvme-flash-intel-western-digital"),
        ("max_1ms=3&min_dwpd=1.5", "nvme-flash-max-3-pct-over-1ms-min-1.5-dwpd"),
        ("min_tb=800 GB&max_tb=8", "nvme-flash-min-0.8-tb-max-8-tb"),
        ("compressible=yes&act=6", "nvme-flash-act-6-compressible-yes"),
        ("limit_1ms=3.5&within=only", "nvme-flash-limit-1ms-3.5-within-limits"),
        ("historical=include&sort=-sustained_tps", "nvme-flash-with-historical-by-sustained-tps"),
        ("q=Western Digital", "nvme-flash-western-digital"),
        ("columns=tps~pct_over_1ms", "nvme-flash-columns-tps-pct-over-1ms"),
        ("q=../../etc/passwd%0d%0aX: y", "nvme-flash-etcpasswd-x-y"),
        ("q=%22%D9%A9", "nvme-flash"),
    ],
)
def test_a_file_is_named_after_the_query(client, catalogue, query, name):
    assert name_of_file(client, f"/drives/nvme-flash/?{query}") == name


def test_the_name_of_a_file_is_bounded_and_safe(client, catalogue):
    vendors = "~".join(["intel", "micron", "western-digital", "sandisk", "scaleflux", "smart-iops", "samsung"])
    capacities = "to-1tb~1-to-2tb~2-to-4tb~4-to-8tb~over-8tb"
    for query in (f"vendor={vendors}&capacity={capacities}&min_tps=1&max_64ms=1", f"q={'x' * 100}", f"q={'a ' * 50}"):
        name = name_of_file(client, f"/drives/nvme-flash/?{query}")
        assert re.fullmatch(r"[a-z0-9.-]{10,100}", name), name
        assert not name.endswith("-")


ALWAYS = ["run", "run_page", "product", "vendor", "model", "capacity_gb", "tps", "statistic", "visibility"]


def test_an_export_has_the_chosen_columns(client, catalogue):
    address = "/drives/nvme-flash/?columns=pct_over_1ms~endurance_dwpd~act_version&vendor=micron"
    lines = read_csv(client.get(f"{address}&format=csv"))
    wanted = {*ALWAYS, "pct_over_1ms", "endurance_dwpd", "tool", "tool_version"}
    assert set(lines[0]) == wanted
    assert [field for field in lines[0] if field in FIELDS] == [field for field in FIELDS if field in wanted]
    assert {line["vendor"] for line in lines} == {"Micron"}
    assert set(client.get(f"{address}&format=json").json()["rows"][0]) == wanted


def test_an_export_without_chosen_columns_has_every_field(client, catalogue):
    assert list(read_csv(client.get("/drives/nvme-flash/?vendor=micron&format=csv"))[0]) == list(FIELDS)


def test_every_column_of_a_table_has_fields():
    layouts = [ALL_CATEGORIES_LAYOUT, HISTORICAL_LAYOUT, *map(category_layout, SPECS.values())]
    codes = {column.code for layout in layouts for column in layout.columns}
    assert codes - {*FIELDS, *FIELDS_OF_COLUMN} == set()
    assert {field for fields in FIELDS_OF_COLUMN.values() for field in fields} <= set(FIELDS)


def test_the_capacity_of_an_instance_is_that_of_its_loaded_devices(client, catalogue):
    rows = client.get("/drives/cloud/?format=json").json()["rows"]
    assert {(row["device_count"], row["device_gb"], row["total_gb"]) for row in rows[:2]} == {
        (24, 375, 9000),
        (16, 375, 6000),
    }
    assert client.get("/drives/nvme-flash/?format=json").json()["rows"][0]["total_gb"] == 6400
