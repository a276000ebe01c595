"""An upgrade in the middle of a run: the parts stop, migrate and start, and the run continues on its host."""

import hashlib
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management import call_command

from runners.dispatch.orders import Order, order
from runners.hosts import connect
from runners.inventory.devices import bind
from runners.inventory.health import check
from runners.models import HostOutage
from runners.models.states import FINAL, State
from tests.lab_hosts.enrolled import new_enrolled, warm_connections_closed
from tests.lab_hosts.fixtures import loop_drives, new_lab_host
from tests.previous_release import environment, extract, is_known
from tests.register import ROOT
from tests.results.stored_files import use_directory
from tests.runners.lab import a_lab, drivetest, separate_evidence
from webapp.celery import app
from webapp.deployment.servers import LAB, command_of

__all__ = [
    "a_lab", "drivetest", "loop_drives", "new_enrolled", "new_lab_host", "separate_evidence", "warm_connections_closed",
]  # fmt: skip
pytestmark = [pytest.mark.faults, pytest.mark.lab_hosts, pytest.mark.django_db(transaction=True)]

RUN_S = 8
PATIENCE_S = 90


@contextmanager
def lab_worker(tree, data_dir):
    """Run the lab's worker of a tree of sources, as its service does, and stop it as a service does."""
    with (data_dir / "lab.log").open("ab") as log:
        process = subprocess.Popen(command_of(LAB), cwd=tree, env=environment(data_dir), stdout=log, stderr=log)
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE_S)


def poll_until(dispatch, is_so, log):
    """Notify the worker as beat does, until a condition is true."""
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline, f"{dispatch.state}: {dispatch.reason} {log.read_text()}"
        app.send_task("runners.watch_dispatches", expires=1)
        time.sleep(0.2)
        dispatch.refresh_from_db()


@pytest.fixture
def data_dir(settings, tmp_path):
    """Return the data directory of both releases. No drive of the test may be in it."""
    directory: Path = tmp_path / "var"
    directory.mkdir()
    settings.LAB_DIR = directory / "lab"
    use_directory(settings, directory / "evidence")
    return directory


def test_an_upgrade_in_the_middle_of_a_run_does_not_affect_it(data_dir, new_enrolled, staff, a_lab, tmp_path):
    there, row = new_enrolled()
    assert check(row) == []
    device = bind(row, connect(row).identify("/dev/nvme0n1"), "a loop device", staff)
    call_command("migrate", "tracing", "zero", verbosity=0)  # a table that only this release has
    before = extract(tmp_path / "previous") if is_known() else ROOT
    wanted = Order(Decimal("0.1"), RUN_S, 2, {"report_interval_s": 1})
    with lab_worker(before, data_dir):
        dispatch = order(device, a_lab, wanted, staff)
        poll_until(dispatch, lambda: dispatch.last_label_s >= 1, data_dir / "lab.log")
    assert dispatch.state == State.RUNNING
    pid, processes = dispatch.pid, there.pids_of("drivetest")
    prepare = [sys.executable, "manage.py", "prepare"]
    done = subprocess.run(prepare, cwd=ROOT, env=environment(data_dir), capture_output=True, text=True, check=False)
    assert (done.returncode, "Applying tracing.0001" in done.stdout) == (0, True), done.stderr
    assert set(there.pids_of("drivetest")) <= set(processes), "the upgrade started another program"
    with lab_worker(ROOT, data_dir):
        poll_until(dispatch, lambda: dispatch.state in FINAL, data_dir / "lab.log")
    assert (dispatch.state, dispatch.reason) == (State.DONE, "the program finished")
    assert (dispatch.generation, dispatch.pid) == (1, pid)
    assert not HostOutage.objects.filter(host=row).exists()
    content = there.path(f"/var/lib/drivecert/{dispatch.public_id}/log").read_bytes()
    assert hashlib.sha256(content).hexdigest() == dispatch.submission.log.sha256
    seconds = list(map(int, re.findall(rb"^after (\d+) sec", content, re.MULTILINE)))
    assert seconds == list(range(1, RUN_S + 1))
