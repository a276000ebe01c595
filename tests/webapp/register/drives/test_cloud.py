"""Cloud instances: the speed of one device, their capacity, and fewer devices with more slow reads."""

import pytest

from tests.webapp.register.pages import read_rows
from webapp.register.drives.cloud import fewer_devices
from webapp.register.drives.store.column_store import current_store

pytestmark = pytest.mark.django_db
R5D = "AWS r5d.4xlarge, 300 GB devices"
BANDS = (  # service time, with queue time, not known
    lambda row: row["tool_version"] >= "6",
    lambda row: "" < row["tool_version"] < "6",
    lambda row: not row["tool_version"],
)


def lines_of(passing=()):
    store = current_store()
    rows = [row for row in range(store.count) if store.columns["historical"].word(row) == "no"]
    return fewer_devices(store, rows, set(passing))


def test_the_speed_of_one_device_is_a_column_and_sorts(client, catalogue):
    rows = client.get("/drives/cloud/?sort=-device_tps&format=json").json()["rows"]
    bands = [[row["device_tps"] for row in rows if is_in(row)] for is_in in BANDS]
    assert [speeds == sorted(speeds, reverse=True) for speeds in bands] == [True, True, True]
    page = client.get("/drives/cloud/?sort=-device_tps").text
    assert 'aria-sort="descending" data-column="device_tps"' in page
    assert "177,000" in page


@pytest.mark.parametrize(("least", "count"), [("177001", 1), ("177000", 3)])
def test_instances_are_filtered_by_the_speed_of_one_device(client, catalogue, least, count):
    rows = client.get(f"/drives/cloud/?min_device_tps={least}&format=json").json()["rows"]
    assert all(row["device_tps"] >= int(least) for row in rows)
    assert sum(row["vendor"] == "AWS" for row in rows) == count


def test_the_list_of_all_categories_shows_the_capacity_of_instances(client, catalogue):
    rows = read_rows(client.get("/drives/?category=cloud"))
    shown = [row[2].replace("\N{NO-BREAK SPACE}", " ") for row in rows if "AWS r5d.4xlarge" in row[0]]
    assert sorted(shown) == ["300 GB", "600 GB"]


@pytest.mark.parametrize(("query", "count"), [("min_tb=3.6&max_tb=3.6", 3), ("min_tb=0.6&max_tb=0.6", 1)])
def test_instances_are_filtered_by_the_capacity_of_all_their_devices(client, catalogue, query, count):
    for path in ("/drives/?category=cloud&", "/drives/cloud/?"):
        assert len(client.get(f"{path}{query}&format=json").json()["rows"]) == count


@pytest.mark.parametrize(
    ("old", "current"),
    [
        ("sort=-capacity_gb", "sort=-total_gb"),
        ("columns=capacity_gb~tps&sort=capacity_gb", "sort=total_gb&columns=total_gb~tps"),
    ],
)
def test_the_former_code_of_the_capacity_keeps_its_meaning(client, catalogue, old, current):
    response = client.get(f"/drives/?{old}")
    assert (response.status_code, response.headers["Location"].replace("%7E", "~")) == (302, f"/drives/?{current}")
    assert client.get(f"/drives/nvme-flash/?{old}").status_code == 200


def test_fewer_devices_with_more_slow_reads_at_the_same_speed_are_listed(catalogue):
    lines = {(line["name"], line["tenancy"]): line for line in lines_of()}
    odd = lines[R5D, "shared"]
    assert (odd["per_device"], odd["fewer"], odd["more"]) == (
        "177,000", {"devices": 1, "share": "7.25"}, {"devices": 2, "share": "0.38"},
    )  # fmt: skip
    assert [each["share"] for each in odd["lines"]] == ["7.25", "0.38"]
    assert not any("i3en.2xlarge" in name for name, _ in lines)  # its two devices have the larger share
    assert not any("i3.8xlarge" in name for name, _ in lines)  # tested with one device only


def test_an_instance_comes_first_of_which_only_more_devices_pass(client, catalogue):
    text = client.get("/drives/cloud/").text
    said = text.partition("<main")[2].partition("<form")[0].replace("&nbsp;", " ")
    assert f"{R5D} at 177,000 tps each: 1 device had 7.25 % of reads over 1 ms, and 2 devices had 0.38 %." in said
    assert 'href="#fewer-devices"' in said
    assert 'id="fewer-devices"' in text


@pytest.fixture
def instance(make_product, make_published_run):
    """Return a function that publishes a result of one instance type."""
    product = make_product(category="cloud", vendor="Cloudy", model="c1", capacity_gb=None)

    def make(devices, share, tps_per_device=1000, **fields):
        facts = {"device_gb": 300, "sole_tenant": False, "tool_version": "6.1"} | fields
        tps = devices * tps_per_device
        return make_published_run({1000: share}, product=product, tps=tps, device_count=devices, **facts)

    return make


@pytest.mark.parametrize(
    ("other", "is_listed"),
    [
        ({"share": "1.00"}, True),
        ({"share": "2.00"}, False),
        ({"share": "3.00"}, False),
        ({"share": "1.00", "tps_per_device": 1001}, False),
        ({"share": "1.00", "device_gb": 600}, False),
        ({"share": "1.00", "device_gb": None}, False),
        ({"share": "1.00", "sole_tenant": True}, False),
        ({"share": "1.00", "tool_version": "6.0"}, False),
        ({"share": "1.00", "devices": 1}, False),
    ],
)
def test_only_results_that_differ_in_the_number_of_devices_are_compared(instance, other, is_listed):
    instance(devices=1, share="2.00")
    instance(**{"devices": 2} | other)
    assert bool(lines_of()) is is_listed


def test_a_register_without_such_results_has_no_section(client, instance):
    instance(devices=1, share="2.00")
    text = client.get("/drives/cloud/").text
    assert ("fewer-devices" in text, "Speed by number of devices" in text) == (False, True)


def test_the_load_of_a_chart_has_the_unit_of_its_axis(client, catalogue):
    assert "zonetext" not in client.get("/drives/cloud/?min_device_tps=100000").text
    assert "zonetext" in client.get("/drives/cloud/?min_tps=100000").text
    assert "zonetext" in client.get("/drives/?min_device_tps=100000").text


def test_the_name_of_an_instance_states_its_storage_on_a_phone(client, catalogue):
    text = client.get("/drives/cloud/").text.replace("\N{NO-BREAK SPACE}", " ")
    assert 'n2-standard-80</span></a><span class="only-phone">, 24 x 375 GB</span>' in text
