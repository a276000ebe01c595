"""Runs of one product under one load in several setups: separate points, medians, curves and gains."""

from decimal import Decimal
from fractions import Fraction

import pytest

from results.models import DriveInRun, Run
from tests.webapp.register.pages import TableReader
from tests.webapp.register.ycsb.test_loads import PAGE, measured
from webapp.register.comparability.conditions import SETUP_CONDITIONS, setup_of, sweep_conditions
from webapp.register.compare.curves import sweep_line

__all__ = ["measured"]
pytestmark = pytest.mark.django_db


def state(run, **columns):
    Run.objects.filter(pk=run.pk).update(**columns)
    run.refresh_from_db()
    return run


@pytest.fixture
def ex9(make_product):
    return make_product(model="EX9", slug="ex9", capacity_gb=400)


def points(client):
    """The rows of the table of points."""
    reader = TableReader()
    reader.feed(client.get(PAGE).text.split('id="points"')[1])
    return reader.rows[1:]


APART = [{"firmware": "F2"}, {"over_provisioning_pct": Decimal(28)}, {"over_provisioned_to_gb": 320}]


@pytest.mark.parametrize("setup", APART)
def test_runs_in_two_setups_are_not_repeats(client, ex9, measured, setup):
    first, second = measured(ex9, 4, 100), state(measured(ex9, 4, 300), **setup)
    rows = points(client)
    assert [(row[2], row[-1]) for row in rows] == [("peak 100", first.public_id), ("peak 300", second.public_id)]
    assert len({row[0] for row in rows}) == 2


def test_runs_on_partitions_and_on_whole_drives_are_not_repeats(client, ex9, measured):
    runs = [state(measured(ex9, 4, speed), device_count=devices) for speed, devices in ((100, 1), (300, 16))]
    for run in runs:
        DriveInRun.objects.create(run=run, key="nvme:EX9:S1")
    assert [row[2] for row in points(client)] == ["peak 100", "peak 300"]


def test_runs_in_one_setup_are_repeats(client, ex9, measured):
    for speed in (100, 300):
        state(measured(ex9, 4, speed), firmware="F2", over_provisioning_pct=28)
    (row,) = points(client)
    assert row[2] == "peak 200"
    assert row[0] == "Exemplar EX9 400 GB"


def test_a_drive_is_named_only_by_the_differences_of_its_setups(client, ex9, measured):
    state(measured(ex9, 4, 100), firmware="F1", over_provisioning_pct=7)
    state(measured(ex9, 4, 300), firmware="F2", over_provisioning_pct=7)
    names = [row[0] for row in points(client)]
    assert [name.split("GB, ")[1] for name in names] == ["firmware F1", "firmware F2"]


def test_setups_that_are_known_to_differ_are_not_compared(client, ex9, measured):
    state(measured(ex9, 4, 100), over_provisioning_pct=7)
    state(measured(ex9, 4, 300), over_provisioning_pct=28)
    text = client.get(PAGE).text
    assert "cannot be compared" in text
    assert "they differ in over-provisioned 28\N{NO-BREAK SPACE}% and 7\N{NO-BREAK SPACE}%." in text
    assert "Gain, thread by thread" not in text


def test_two_firmware_versions_are_compared(client, ex9, measured):
    state(measured(ex9, 4, 100), firmware="F1")
    newer = state(measured(ex9, 4, 300), firmware="F2")
    assert "<b>+200.0</b>" in client.get(PAGE).text
    assert "<b>-66.7</b>" in client.get(f"{PAGE}?against=ex9.{newer.public_id}").text


def test_a_link_to_a_drive_stays_valid_after_a_second_setup_and_either_is_found_by_any_of_its_runs(
    client, ex9, measured
):
    first, again = (state(measured(ex9, 4, 100), firmware="F1") for _ in range(2))
    assert client.get(f"{PAGE}?against=ex9").status_code == 200
    newer = state(measured(ex9, 4, 300), firmware="F2")
    for code, gain in (("ex9", "+200.0"), (f"ex9.{again.public_id}", "+200.0"), (f"ex9.{newer.public_id}", "-66.7")):
        assert f"<b>{gain}</b>" in client.get(f"{PAGE}?against={code}").text, code
    assert first.public_id in client.get(PAGE).text
    for code in (f"ex8.{newer.public_id}", "ex9.r-nothing"):
        assert client.get(f"{PAGE}?against={code}").status_code == 400


def test_the_line_of_a_run_belongs_to_its_own_setup(ex9, measured):
    own, other = measured(ex9, 4, 100, 10), state(measured(ex9, 8, 300, 20), firmware="F2")
    for run in (own, other):
        run.ycsb.operations.update(p99_us=5)
    line = sweep_line(Run.objects.of_ycsb().get(pk=own.pk))
    assert line["x"] == [100.0]


def test_an_unpartitioned_size_is_shown_as_a_part_of_the_capacity(ex9, measured):
    run = state(measured(ex9, 4, 100), over_provisioned_to_gb=320)
    assert sweep_conditions(run).over_provisioned_to_pct == Fraction(80)
    ex9.capacity_gb = None
    ex9.save()
    assert sweep_conditions(Run.objects.get(pk=run.pk)).over_provisioned_to_pct is None


def test_values_that_no_ycsb_output_reports_are_unknown_and_not_equal(ex9, measured):
    row = dict(zip(("firmware", *SETUP_CONDITIONS), setup_of(measured(ex9, 4, 100)), strict=True))
    assert row == dict.fromkeys(("firmware", *SETUP_CONDITIONS))


def test_the_csv_has_the_setup(client, ex9, measured):
    state(measured(ex9, 4, 100, 10), firmware="F2", over_provisioning_pct=28)
    header, line = client.get(f"{PAGE}?format=csv").text.splitlines()
    row = dict(zip(header.split(","), line.split(","), strict=True))
    assert (row["firmware"], row["over_provisioning_pct"], row["devices_per_drive"]) == ("F2", "28", "")
