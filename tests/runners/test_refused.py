import json
import subprocess

import pytest

from results.models import Submission
from runners.dispatch.orders import Order, order
from runners.inventory.safety import MIB_BYTES
from runners.models import Host
from runners.models.exit_codes import REFUSED, REMEDIES_BY_HAND, with_lab_remedy
from runners.models.states import State
from runners.retention.leftover_archive import archive_event
from tests.runners.lab import poll_state
from tests.runners.ssh_host import PINNED

pytestmark = pytest.mark.django_db


def test_a_path_that_names_another_drive_now_is_refused(dispatch, connect, fake):
    fake.add_drive(drive_key="loop:1:99")
    assert poll_state(dispatch, connect) == State.REFUSED
    assert "expected drive loop:1:2, found loop:1:99" in dispatch.reason
    assert fake.starts_count == 0


def test_a_drive_that_was_exchanged_between_the_check_and_the_start_is_refused(in_state, connect, fake):
    dispatch = in_state(State.PREPARING)
    fake.add_drive(drive_key="loop:1:99")
    assert poll_state(dispatch, connect) == State.REFUSED
    assert fake.starts_count == 0


def test_a_refusal_of_the_host_is_shown(dispatch, connect, fake):
    fake.add_drive(refusals=["/dev/fake0: mounted at /mnt; unmount it", "/dev/fake0: swap"])
    assert poll_state(dispatch, connect) == State.REFUSED
    assert dispatch.reason == "/dev/fake0: mounted at /mnt; unmount it; /dev/fake0: swap"


def test_a_busy_drive_lock_on_the_host_refuses_the_start(dispatch, connect, fake):
    fake.start("of-another-register", "loop:1:2", 7, [])
    assert poll_state(dispatch, connect) == State.REFUSED
    assert "drive busy" in dispatch.reason
    assert fake.most_loads == 1


def test_a_program_that_was_refused_gives_its_own_reason(running, connect, fake):
    sentence = "/dev/fake0: holds an ext4 file system, which the load would overwrite; wipe it"
    fake.files[running.public_id]["stderr"] = f"a warning\ndrivetest: {sentence}\n".encode()
    fake.end(running.public_id, 2)
    poll_state(running, connect)
    running.refresh_from_db()
    assert running.reason.endswith(sentence)


@pytest.mark.parametrize("by_hand", REMEDIES_BY_HAND)
@pytest.mark.parametrize(("kind", "ways"), [("local", "type the device's label"), ("ssh", "; wipe it at the host, or")])
def test_a_refusal_names_what_the_orderer_can_do_and_no_flag(running, connect, fake, kind, ways, by_hand):
    Host.objects.update(kind=kind, **(PINNED if kind == "ssh" else {}))
    sentence = f"/dev/fake0: holds ext4, which the load would overwrite; {by_hand}"
    fake.files[running.public_id]["stderr"] = f"drivetest: {sentence}\n".encode()
    fake.end(running.public_id, 2)
    assert poll_state(running, connect) == State.REFUSED
    assert "holds ext4" in running.reason
    assert ways in running.reason
    assert by_hand not in running.reason


@pytest.mark.parametrize("command", ["prep", "storage", "index", "watch"])
def test_the_program_ends_its_refusal_of_data_with_the_remedy_that_the_register_replaces(drivetest, tmp_path, command):
    drive = tmp_path / "drive.img"
    drive.write_bytes(b"XFSB".ljust(MIB_BYTES, b"\0"))
    refusal = refused(drivetest, command, drive)
    assert "contains an XFS file system" in refusal
    assert "type the device's label" in with_lab_remedy(refusal, may_consent=True)
    assert drive.read_bytes().startswith(b"XFSB\0")


def refused(drivetest, command, drive):
    """Return the refusal of drivetest to overwrite a drive."""
    config, programs = drive.with_name("config"), drive.with_name("programs.json")
    config.write_text(f"device-names: {drive}\nfile-size-mbytes: 1\ntest-duration-sec: 1\nwrite-reqs-per-sec: 100\n")
    fill = {"fill": {"argv": ["/bin/true"], "lines": [["{device}"]]}}
    programs.write_text(json.dumps({"schema": "drivecert.programs/1", "programs": fill}))
    watched = ["--will-overwrite", "--programs", programs, "--side-file", drive.with_name("side")]
    arguments = {"prep": [drive], "watch": [drive, *watched, "--", "fill", "{device}"]}.get(command, [config])
    ended = subprocess.run(
        [drivetest, command, *arguments], cwd=drive.parent, capture_output=True, text=True, check=False
    )
    assert ended.returncode == REFUSED, ended.stderr
    return ended.stderr


def test_the_log_of_a_run_that_drivetest_refused_is_stored_and_is_no_submission(running, connect, fake):
    fake.end(running.public_id, 2)
    assert poll_state(running, connect) == State.REFUSED
    assert (running.submission, running.exit_status) == (None, 2)
    assert not Submission.objects.exists()
    assert archive_event(running) is not None
    assert running.collected_at is not None


def test_a_run_that_drivetest_refuses_before_its_log_begins_is_refused(dispatch, connect, fake):
    poll_state(dispatch, connect)
    fake.end(dispatch.public_id, 2)
    assert poll_state(dispatch, connect) == State.REFUSED
    assert dispatch.reason == "the program refused to start and wrote nothing to the drive"


SWEEP = {"preset": "micron-7450-rocksdb", "record_count": 10, "operation_count": 20, "threads": [1]}


@pytest.fixture
def sweep(device, a_lab, staff):
    return order(device, a_lab, Order(recipe="ycsb", options=SWEEP), staff)


@pytest.mark.parametrize(("stage", "end"), [("format", State.REFUSED), ("mount", State.FAILED)])
def test_a_sweep_is_refused_if_nothing_of_it_has_run(sweep, connect, fake, stage, end):
    while poll_state(sweep, connect) == State.RUNNING:
        (run,) = [name for name, program in fake.programs.items() if program.is_running]
        fake.files[run] |= {"log": b"a line\n", "stderr": b""}
        fake.end(run, 2 if run.endswith(stage) else 0)
    assert sweep.state == end
