"""Agents of lab hosts in a small form: runs are ordered, started and stopped on simulated hosts of a real register."""

import shutil
import tempfile
from pathlib import Path

import pytest
from account_measures.site import Site
from agents import ONE_PROCESS, Size, delay_row, measure
from simulated_agents import Events, ProtocolHost, identity_of

from runners.hosts.protocol import ProgramState, parse_drives, parse_identity, parse_removal, parse_status
from runners.hosts.wire import ERRORS, parse_responses, request
from tests.lab_simulator.lab import PATH
from tests.register import WITHOUT_SNAPSHOTS, Register, copy_prepared_data

SMALL = Size(agents=20, orders=5, orders_per_s=5, pages_per_s=2)
OF_A_QUIET_MACHINE = {"from order to start", "from cancellation to stop", "time of a page", "database connections"}
CONFIG = b"device-names: /dev/nvme0n1\ntest-duration-sec: 60\nreport-interval-sec: 1\nread-reqs-per-sec: 2000\n" + (
    b"write-reqs-per-sec: 1000\nmicrosecond-histograms: yes\nrecord-bytes: 1536\n"
)
WORDS = ["storage", "config"]


@pytest.mark.long
def test_each_ordered_run_starts_and_each_cancelled_one_stops(tmp_path_factory):
    directory = Path(tempfile.mkdtemp(prefix="drivecert-agents-"))
    directory.chmod(0o711)
    register = Register(directory / "var", **WITHOUT_SNAPSHOTS, **ONE_PROCESS)
    try:
        copy_prepared_data(tmp_path_factory, register.data_dir)
        register.start_and_wait()
        rows = {row.measure: row for row in measure(Site(register), SMALL)}
    finally:
        register.end()
        shutil.rmtree(directory)
    missed = {name: row.found for name, row in rows.items() if not row.is_met}
    assert missed.keys() <= OF_A_QUIET_MACHINE, missed
    for name in ("from order to start", "from cancellation to stop"):
        assert rows[name].found.endswith("5 of 5"), rows[name]
    assert {"processor time, orders", "processor time, cancellations"} <= rows.keys()


def test_a_simulated_host_answers_as_the_register_expects():
    events = Events()
    host, drive = ProtocolHost(7, "5e" * 32, events), identity_of(7)["drive_key"]

    def answer(*requests):
        return parse_responses("agent-7", host.answer(b"".join(requests)), len(requests))

    health, drives, identity = answer(request("health"), request("drives"), request("identify", path=PATH))
    assert (health.document["program_sha256"], health.document["drives"]) == ("5e" * 32, [drive])
    assert [each.drive_key for each in parse_drives(drives.document)] == [drive]
    assert parse_identity(PATH, identity.document).drive_key == drive
    put = request("put", CONFIG, run="d-1", file="config", bytes=len(CONFIG))
    wish = {"run": "d-1", "drive_key": drive, "generation": 1, "words": WORDS, "program_sha256": "5e" * 32}
    absent, stored, started = answer(request("status", run="d-1"), put, request("start", **wish))
    states = [parse_status(each.document).state for each in (absent, started)]
    assert (states, stored.error, [*events.started]) == ([ProgramState.ABSENT, ProgramState.RUNNING], None, ["d-1"])
    kept, stopped = answer(request("remove", run="d-1", drive_key=drive, generation=1), request("stop", run="d-1"))
    assert "still runs" in parse_removal(kept.document)
    assert (parse_status(stopped.document).state, [*events.stopped]) == (ProgramState.ENDED, ["d-1"])
    log, missing, unknown = answer(
        request("read", run="d-1", file="log", offset=0, limit=5),
        request("read", run="d-1", file="other", offset=0, limit=5),
        request("identify", path="/dev/other"),
    )
    assert len(log.content) == 5
    assert [type(each.error) for each in (missing, unknown)] == [ERRORS["file-missing"], ERRORS["device-unknown"]]
    assert events.requests == 11


def test_what_did_not_happen_misses_the_target():
    ordered = {f"d-{number}": 100.0 for number in range(200)}
    started = dict.fromkeys(ordered, 101.0) | {"d-0": 190.0}
    assert delay_row("start", ordered, started, 5, 200).is_met
    assert not delay_row("start", ordered, started | {"d-1": 190.0, "d-2": 190.0}, 5, 200).is_met
    row = delay_row("start", ordered, {run: at for run, at in started.items() if run != "d-3"}, 5, 200)
    assert (row.is_met, row.found[-10:]) == (False, "199 of 200")
    assert delay_row("start", {}, started, 5, 200).found == "0 of 200"
