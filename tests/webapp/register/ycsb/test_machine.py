"""Telemetry of the host under a load: on the page of the load, in its data tables, and on the page of a run."""

import csv
import json
from decimal import Decimal
from fractions import Fraction

import pytest

from tests.webapp.register.pages import read_rows
from tests.webapp.register.ycsb.test_loads import PAGE, measured
from webapp.register.runs.ycsb import ycsb_view
from webapp.register.ycsb.machine import BY_CODE, machine_of, shown

__all__ = ["measured"]

pytestmark = pytest.mark.django_db


def span(mean):
    return {"min": mean, "mean": mean, "max": mean}


def disk(read_bytes, write_bytes, read_await, write_await=None):
    return {
        "disk": "nvme0n1", "devices": [], "temperature_c": None, "temperature_limit_c": None, "busy_pct": None,
        "read_await_us": span(read_await), "write_await_us": span(write_await) if write_await else None,
        "read_bytes_per_s": span(read_bytes), "write_bytes_per_s": span(write_bytes) if write_bytes else None,
    }  # fmt: skip


ONE_DISK = (disk("2000000", "500000", "90.0", "30.0"),)


def telemetry(busy="40.0", disks=ONE_DISK, watts=()):
    return {
        "intervals_count": 10, "cpu_busy_count": 0, "cpu_stolen_count": 0, "cpu_busy_pct": span(busy),
        "cpu_iowait_pct": span("4.0"), "cpu_steal_pct": None, "generator_cpu_pct": None, "disks_count": len(disks),
        "disks": list(disks), "power": [{"boundary": name, "watts": span(value)} for name, value in watts],
    }  # fmt: skip


@pytest.fixture
def reported(measured):
    """Return a function that makes a run of a load with the telemetry of its host."""

    def make(product, threads, ops_per_s, mean_us=100, **facts):
        run = measured(product, threads, ops_per_s, mean_us)
        run.facts = {"telemetry": telemetry(**facts)}
        run.save(update_fields=["facts"])
        return run

    return make


@pytest.fixture
def drive(make_product):
    return make_product(model="SWEPT", slug="ex9")


def rows_of(client, heading):
    page = client.get(PAGE).text.split(f'id="{heading}"')[1].split("</table>")[0]
    return read_rows(type("Page", (), {"text": page, "content": page.encode()})())


def test_rates_of_disks_are_added_and_the_highest_await_counts(drive, reported):
    run = reported(drive, 4, 300, disks=(disk("2000000", "500000", "90.0", "30.0"), disk("1000000", "250000", "190.0")))
    found = machine_of(run)
    assert (found["drive_read_bytes_per_s"], found["drive_write_bytes_per_s"]) == (3_000_000, 750_000)
    assert (found["drive_read_await_us"], found["drive_write_await_us"]) == (190, 30)


def test_a_rate_that_one_disk_does_not_report_is_unknown(drive, reported):
    run = reported(drive, 4, 300, disks=(disk("2000000", "500000", "90.0"), disk("1000000", None, "80.0")))
    assert "drive_write_bytes_per_s" not in machine_of(run)


@pytest.mark.parametrize(
    ("watts", "per_watt"),
    [
        ((("drive", "8.00"),), Fraction(300, 8)),
        ((("package", "8.00"),), None),
        ((("drive", "0.00"),), None),
        ((), None),
    ],
)
def test_operations_per_watt_are_shown_if_the_power_of_the_drive_is_reported(drive, reported, watts, per_watt):
    assert machine_of(reported(drive, 4, 300, watts=watts)).get("ops_per_drive_w") == per_watt


def test_the_page_shows_each_thread_count_with_the_telemetry_of_its_host(client, drive, reported, measured):
    reported(drive, 4, 300, busy="40.0", watts=(("drive", "8.00"),))
    reported(drive, 8, 400, busy="70.0")
    measured(drive, 16, 350, 120)
    rows = rows_of(client, "machine")
    assert [row[1:3] for row in rows] == [["4", "40.0"], ["8", "70.0"]]
    assert rows[0][3:] == ["4.0", "2.0", "0.5", "90.0", "30.0", "8.0", "37.5"]
    assert rows[1][-2:] == ["not reported", "not reported"]


def test_a_load_without_telemetry_states_so(client, drive, measured):
    measured(drive, 4, 300, 100)
    assert "No run of this load has host telemetry" in client.get(PAGE).text


def test_the_median_of_repeats_is_shown_if_all_of_them_report_it(client, drive, reported):
    for busy in ("40.0", "50.0", "90.0"):
        reported(drive, 4, 300, busy=busy)
    reported(drive, 8, 400)
    rows = rows_of(client, "machine")
    assert rows[0][2] == "50.0"


def test_two_drives_are_compared_by_each_metric_in_its_direction(client, drive, reported, make_product):
    base = make_product(model="BASE", slug="base")
    reported(base, 4, 200, mean_us=200, watts=(("drive", "10.00"),))
    reported(drive, 8, 300, mean_us=100, busy="80.0", watts=(("drive", "10.00"),))
    rows = rows_of(client, "summary")

    def cells_of(metric):
        (row,) = [row for row in rows if row[0].startswith(metric)]
        return row[1:]

    assert cells_of("throughput") == ["200", "300", "+50.0"]
    assert cells_of("read (service time), average") == ["200", "100", "+50.0"]
    assert cells_of("Per watt of the drive") == ["20.0", "30.0", "+50.0"]
    assert cells_of("Processors busy") == ["40.0", "80.0", "none"]


def test_the_data_tables_have_every_quantity_and_empty_cells_for_missing_ones(client, drive, reported, measured):
    reported(drive, 4, 300, watts=(("drive", "8.00"),))
    measured(drive, 8, 400, 100)
    one, other = csv.DictReader(client.get(f"{PAGE}?format=csv").text.splitlines())
    assert (one["cpu_busy_pct"], one["drive_read_bytes_per_s"], one["ops_per_drive_w"]) == ("40", "2000000", "37.5")
    assert {other[code] for code in BY_CODE} == {""}
    rows = json.loads(client.get(f"{PAGE}?format=json").content)["rows"]
    assert (rows[0]["drive_w"], rows[1]["drive_w"]) == ("8", None)


def test_the_page_of_a_run_shows_its_machine(drive, reported):
    pairs = dict(ycsb_view(reported(drive, 4, 300, watts=(("package", "21.50"),)))["telemetry"])
    assert pairs["Power, package"].startswith("21.50")
    assert pairs["Processors busy"].startswith("40.0")


def test_the_number_of_queries_does_not_grow_with_the_runs(client, drive, reported, django_assert_max_num_queries):
    for threads in range(1, 9):
        reported(drive, threads, 100 * threads)
    with django_assert_max_num_queries(5):
        client.get(PAGE)


def test_megabytes_are_shown_and_bytes_are_stored():
    assert shown(BY_CODE["drive_read_bytes_per_s"], Fraction(2_345_678_901)) == "2,345.7"
    assert Decimal(shown(BY_CODE["cpu_busy_pct"], Fraction("40.04"))) == 40
