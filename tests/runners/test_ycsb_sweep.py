"""The real YCSB client under the real drivetest on this machine: a sweep gives comparable runs."""

import json
import os
import time
from decimal import Decimal
from pathlib import Path

import pytest

from results.ingest import queue as ingest_queue
from results.models import YcsbRun
from runners.dispatch.orders import Order, cancel, order
from runners.hosts import connect
from runners.hosts.local import LocalHost
from runners.inventory.devices import add_local_host, bind
from runners.lifecycle.stages import current_run
from runners.models import Dispatch
from runners.models.states import FINAL, LIVE, State
from tests.runners.lab import poll
from tests.runners.ycsb_from_maven import client_argv, jars

__all__ = ["jars"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("drivetest"), pytest.mark.long]
OPTIONS = {"preset": "no-database", "threads": [1, 4], "operation_count": 3000, "status_interval_s": 1,
           "properties": {"basicdb.verbose": "false"}}  # fmt: skip
ENDLESS = {"operation_count": 2**31 - 1}


@pytest.fixture
def programs(jars, settings, tmp_path):
    allowed = {"ycsb": {"argv": client_argv(jars), "uid": os.getuid(), "gid": os.getgid()}}
    path = tmp_path / "programs.json"
    path.write_text(json.dumps({"schema": "drivecert.programs/1", "programs": allowed}))
    settings.LAB_PROGRAMS = str(path)


@pytest.fixture
def sweep(programs, a_lab, staff, tmp_path):
    path = str(tmp_path / "drive.img")
    LocalHost().create_file(path, 16 * 1024 * 1024)
    device = bind(add_local_host(staff), LocalHost().identify(path), "file", staff)

    def ordered(**options):
        return order(device, a_lab, Order(recipe="ycsb", options=OPTIONS | options), staff)

    yield ordered
    # An endless client outlives a test that fails before it is cancelled.
    for dispatch in Dispatch.objects.filter(state__in=LIVE):
        LocalHost().stop(current_run(dispatch))


def wait(dispatch, until, limit_s=300):
    end = time.monotonic() + limit_s
    while not until(dispatch) and time.monotonic() < end:
        poll(dispatch.pk, connect)
        dispatch.refresh_from_db()
        time.sleep(0.1)
        if dispatch.state in FINAL:
            break
    assert until(dispatch), f"{dispatch.state}: {dispatch.reason} {dispatch.progress}"


def has_ended(dispatch):
    return dispatch.state in FINAL


def test_a_sweep_ends_as_comparable_runs(sweep, real_reader):
    dispatch = sweep()
    wait(dispatch, has_ended)
    assert (dispatch.state, dispatch.reason) == (State.DONE, "all stages finished")
    ingest_queue.sweep()
    load, one, four = YcsbRun.objects.select_related("run").order_by("run__ordinal")
    assert (load.phase, one.phase, one.threads_count, four.threads_count) == ("load", "run", 1, 4)
    assert one.sweep_key
    assert one.sweep_key == four.sweep_key != load.sweep_key
    assert {run.validity for run in (load, one, four)} == {"valid"}
    assert (one.workload, one.binding, one.record_count, one.done_ops_count) == ("a", "site.ycsb.BasicDB", 1000, 3000)
    assert "hdr" in set(one.operations.filter(name="READ").values_list("taken_from", flat=True))
    assert {run.run.is_virtual for run in (load, one, four)} == {True}


def test_a_run_has_the_workload_file_and_the_telemetry_that_were_collected_with_it(sweep, real_reader):
    wait(sweep(), has_ended)
    ingest_queue.sweep()
    for each in YcsbRun.objects.select_related("run"):
        assert "workload-file-missing" not in each.run.findings.values_list("rule_id", flat=True)
        assert ["readproportion", "0.5"] in each.properties
        assert each.run.facts["telemetry"]["cpu_busy_pct"]


def is_measuring(stage="load", elapsed_s=0, **_):
    return stage != "load" and elapsed_s > 0


def test_a_cancelled_sweep_ends_its_client_within_seconds(sweep, staff):
    dispatch = sweep(**ENDLESS)
    # Not the load stage's last line, and not that of second 0: their rate may be 0 or infinity.
    wait(dispatch, lambda seen: is_measuring(**seen.progress.get("ycsb", {})))
    assert dispatch.progress["ycsb"]["done_ops_count"] > 0
    assert Decimal(dispatch.progress["ycsb"]["ops_per_s"]) > 0
    cancel(dispatch, staff)
    wait(dispatch, has_ended, limit_s=60)
    assert dispatch.state == State.CANCELLED


def test_a_program_that_the_operator_does_not_allow_is_not_run(sweep, settings):
    Path(settings.LAB_PROGRAMS).write_text('{"schema": "drivecert.programs/1", "programs": {}}')
    dispatch = sweep()
    wait(dispatch, has_ended)
    assert dispatch.state == State.REFUSED
    assert "allows no program `ycsb`" in dispatch.reason
