import json
import os
import resource
import subprocess
import time
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path

import pytest
from django.conf import settings as django_settings

from results.models import Submission
from runners.dispatch.orders import Order, order
from runners.errors import (
    DeviceUnknownError,
    FileExistsOnHostError,
    FileMissingError,
    HostUnavailableError,
    ProgramMissingError,
    StartFailedError,
    StartRefusedError,
)
from runners.hosts import connect
from runners.hosts import local as local_host
from runners.hosts.local import LocalHost
from runners.hosts.protocol import FoundDrive, ProgramState, parse_drives
from runners.inventory.devices import add_local_host, bind
from runners.models import Dispatch, Host
from runners.models.states import State
from runners.recipes.act import STORAGE
from tests.runners.lab import poll

MIB = 1024 * 1024
ARGV = ["storage", "config", "--log", "log", "--side-file", "side.jsonl"]


@pytest.fixture
def local(drivetest):
    return LocalHost()


@pytest.fixture
def left(settings, tmp_path):
    """Return the output of a program of another user in its own directory, next to a file of the register."""
    settings.LAB_DIR = str(tmp_path / "lab")
    out = tmp_path / "lab/d-1.load/out"
    out.mkdir(parents=True)
    (tmp_path / "ssh_key").write_text("secret")
    (out / "hdr-READ.hdr").write_text("counts")
    (out / "hdr-UPDATE.hdr").symlink_to(tmp_path / "ssh_key")
    os.mkfifo(out / "hdr-SCAN.hdr")
    (out / "hdr-INSERT.hdr").mkdir()
    (out.parent / "linked").symlink_to(tmp_path)
    return LocalHost()


def test_a_plain_file_of_a_run_is_fetched(left):
    with left.fetch("d-1.load", "out/hdr-READ.hdr") as stream:
        assert stream.read() == b"counts"


@pytest.mark.parametrize("file", ["out/hdr-UPDATE.hdr", "out/hdr-SCAN.hdr", "out/hdr-INSERT.hdr", "linked/ssh_key"])
def test_links_are_not_followed_and_pipes_do_not_block(left, file):
    with pytest.raises(FileMissingError, match="expected a plain file"):
        left.fetch("d-1.load", file)


@pytest.fixture
def drive(local, tmp_path):
    path = str(tmp_path / "drive.img")
    local.create_file(path, 64 * MIB)
    return local.identify(path)


@pytest.fixture
def config(drive):
    return (
        f"device-names: {drive.path}\nfile-size-mbytes: 64\ntest-duration-sec: 60\n"
        "read-reqs-per-sec: 100\nwrite-reqs-per-sec: 50\nmicrosecond-histograms: yes\n"
    ).encode()


@pytest.fixture
def started(local, drive, config):
    """Yield a run directory with its program, which ends with the test."""
    names = []

    def start(run, generation):
        local.put(run, {"config": config})
        names.append(run)
        return local.start(run, drive.drive_key, generation, ARGV)

    yield start
    for name in names:
        local.stop(name)
        wait_until(lambda name=name: local.status(name).state is not ProgramState.RUNNING)


def wait_until(is_so, for_s=90):
    deadline = time.monotonic() + for_s
    while not is_so():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


def test_a_created_file_has_its_size_and_is_virtual(drive):
    assert (drive.size_bytes, drive.kind, drive.refusals) == (64 * MIB, "virtual", ())
    assert Path(drive.path).stat().st_blocks * 512 >= 64 * MIB


def test_an_existing_file_is_never_created_again(local, tmp_path):
    path = tmp_path / "letters.txt"
    path.write_text("dear")
    with pytest.raises(FileExistsOnHostError, match=r"letters\.txt"):
        local.create_file(str(path), MIB)
    assert path.read_text() == "dear"


@pytest.fixture
def files_of_a_mib_at_most():
    """Limit the file size of this process. Without a limit, some file systems fill up first and other tests fail."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MIB, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_file_that_does_not_fit_leaves_nothing(local, tmp_path, files_of_a_mib_at_most):
    path = tmp_path / "huge.img"
    with pytest.raises(DeviceUnknownError, match=r"huge\.img"):
        local.create_file(str(path), 2 * MIB)
    assert not path.exists()


def test_a_path_that_leads_nowhere_is_unknown(local, tmp_path):
    with pytest.raises(DeviceUnknownError, match="nothing-here"):
        local.identify(str(tmp_path / "nothing-here"))


def test_a_run_that_was_never_started_is_absent(local):
    assert local.status("d-nothing").state is ProgramState.ABSENT
    assert local.stop("d-nothing").state is ProgramState.ABSENT


def test_a_repeated_start_reports_the_same_process(local, started):
    first, again = started("d-one", 1), started("d-one", 1)
    assert first.state is again.state is ProgramState.RUNNING
    assert first.pid == again.pid == local.status("d-one").pid


def test_a_load_gets_no_secret_of_the_register(local, started, monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "of-the-register")
    environment = Path(f"/proc/{started('d-one', 1).pid}/environ").read_text().split("\0")
    names = {each.partition("=")[0] for each in environment if each}
    assert "PATH" in names
    assert names <= {"PATH", "LANG", "HOME"}


def test_a_drive_that_is_busy_refuses_the_second_start(local, started):
    started("d-one", 1)
    with pytest.raises(StartRefusedError, match="d-one"):
        started("d-two", 2)
    assert local.status("d-two").state is ProgramState.ABSENT


def test_a_directory_stopped_before_its_start_never_starts(local, started):
    local.put("d-one", {})
    local.stop("d-one")
    assert started("d-one", 1).state is ProgramState.ENDED


def test_a_stopped_program_ends_as_interrupted_and_leaves_its_log(local, started):
    started("d-one", 1)
    wait_until(lambda: local.status("d-one").log_bytes > 0)
    local.stop("d-one")
    wait_until(lambda: local.status("d-one").state is ProgramState.ENDED)
    assert local.status("d-one").exit_status == 5
    with local.fetch("d-one", "log") as log:
        assert b"ACT version 6.6" in log.read()
    assert b"ACT version" in local.read("d-one", "log", 1, 20)


def test_a_file_that_does_not_exist_is_missing(local, started):
    started("d-one", 1)
    with pytest.raises(FileMissingError, match="no-such"):
        local.fetch("d-one", "no-such")


def test_drive_locks_of_two_drives_are_two_files(local):
    assert local._drive_lock("file:1:2") != local._drive_lock("file:1:3")
    assert local._drive_lock("wwn/with/slashes").parent == Path(django_settings.LAB_DIR) / "locks"


def test_the_error_of_a_host_without_the_program_names_how_to_get_it(settings, tmp_path):
    settings.DRIVETEST = tmp_path / "absent"
    with pytest.raises(ProgramMissingError, match="cargo build"):
        LocalHost().identify("/dev/null")


@pytest.fixture
def program(settings, tmp_path):
    """Replace drivetest by a shell script."""
    settings.DRIVETEST = tmp_path / "program"

    def write(script):
        settings.DRIVETEST.write_text(f"#!/bin/sh\n{script}\n")
        settings.DRIVETEST.chmod(0o700)
        return LocalHost()

    return write


def test_a_late_answer_of_the_program_makes_the_host_unavailable(program, settings):
    settings.HOST_ANSWER_TIMEOUT_S = 0.2
    with pytest.raises(HostUnavailableError, match=r"within 0\.2 s"):
        program("exec sleep 60").status("d-one")


@pytest.mark.parametrize("script", ["echo nonsense", "echo []", "echo '{}'", "exit 3", "kill -9 $$"])
def test_an_unreadable_answer_makes_the_host_unavailable(program, script):
    with pytest.raises(HostUnavailableError):
        program(script).status("d-one")


def test_a_start_between_two_states_makes_the_host_unavailable(program):
    with pytest.raises(HostUnavailableError, match="between two states"):
        program("echo 'drivetest: between two states' >&2; exit 3").start("d-two", "key", 2, ARGV)


def test_a_start_that_drivetest_does_not_understand_fails(program):
    with pytest.raises(StartFailedError, match="unexpected argument"):
        program("echo 'unexpected argument' >&2; exit 64").start("d-two", "key", 2, ARGV)


def test_a_refusal_is_shown_in_the_text_of_the_host(program):
    answer = json.dumps({"state": "absent", "reason": "drive busy with /lab/d-one"})
    with pytest.raises(StartRefusedError, match="drive busy with /lab/d-one"):
        program(f"echo '{answer}'; exit 2").start("d-two", "key", 2, ARGV)


@pytest.mark.django_db
def test_an_order_runs_on_this_machine_from_start_to_submission(local, drive, staff, a_lab):
    device = bind(add_local_host(staff), drive, "a file", staff)
    dispatch = order(device, a_lab, Order(Decimal("0.05"), 2, 1), staff)
    poll(dispatch.pk, connect)
    dispatch.refresh_from_db()
    assert dispatch.state in {State.RUNNING, State.DONE}, dispatch.reason  # done if the poll itself took 2 s
    wait_until(lambda: local.status(dispatch.public_id).state is ProgramState.ENDED)
    poll(dispatch.pk, connect)
    dispatch.refresh_from_db()
    assert (dispatch.state, dispatch.reason) == (State.DONE, "the program finished")
    assert dispatch.progress["reads_count"] == 200
    submission = Submission.objects.get()
    assert (dispatch.submission, submission.side_file is not None) == (submission, True)


@pytest.mark.django_db
def test_a_file_that_replaced_another_is_refused(local, drive, staff, a_lab):
    device = bind(add_local_host(staff), drive, "a file", staff)
    dispatch = order(device, a_lab, Order(Decimal("0.05"), 2, 1), staff)
    Path(drive.path).rename(f"{drive.path}.old")
    local.create_file(drive.path, drive.size_bytes)
    poll(dispatch.pk, connect)
    dispatch.refresh_from_db()
    assert dispatch.state == State.REFUSED
    assert local.status(dispatch.public_id).state is ProgramState.ABSENT


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a loop device")
def test_a_loop_device_and_its_file_are_one_drive(local, drive):
    made = subprocess.run(["losetup", "-f", "--show", drive.path], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        pytest.skip(f"no loop device here: {made.stderr.strip()}")
    loop = made.stdout.strip()
    try:
        assert local.identify(loop).drive_key == drive.drive_key
    finally:
        subprocess.run(["losetup", "-d", loop], check=True)


def test_the_recipe_uses_the_file_names_of_the_host():
    assert STORAGE.argv(Dispatch(drive_key="file:1:2"))[: len(ARGV)] == ARGV


@pytest.mark.django_db
def test_this_machine_is_added_once(staff):
    assert add_local_host(staff) == add_local_host(staff) == Host.objects.get()


def test_a_removed_run_directory_refuses_every_start(drivetest):
    local = LocalHost()
    lock = local._drive_lock("file:1:2")
    local.put("d-one", {"log": b"a line"})
    assert local.remove("d-one", "file:1:2", 1) == local.remove("d-one", "file:1:2", 1) == ""
    local.put("d-one", {})
    with pytest.raises(StartRefusedError, match="already has generation 1"):
        local.start("d-one", "file:1:2", 1, ["storage", "config"])
    assert local.remove("d-one", "file:1:2", 1) == ""
    assert json.loads(lock.read_text().splitlines()[0])["generation"] == 1
    assert not local._run_dir("d-one").exists()


def test_the_real_program_lists_the_drives_of_this_machine(drivetest):
    for drive in LocalHost().list_drives():
        assert drive.path.startswith("/dev/")
        assert drive.drive_key
        assert drive.size_bytes > 0


def test_a_list_of_drives_that_lacks_a_field_is_invalid():
    record = asdict(FoundDrive("/dev/sda", "scsi", "scsi:naa.5", 512))
    assert parse_drives({"drives": [record | {"new": 1}]}) == [FoundDrive("/dev/sda", "scsi", "scsi:naa.5", 512)]
    with pytest.raises(HostUnavailableError, match=r"drivecert.drives/1"):
        parse_drives({"drives": [{"path": "/dev/sda"}]})


def test_a_list_of_drives_reports_their_use_and_where_they_are_mounted():
    record = asdict(FoundDrive("/dev/sda", "scsi", "scsi:naa.5", 512))
    free = record | {"mounts": [], "holders": [], "is_swap": False, "is_open": False}
    system = free | {"mounts": [{"device": "/dev/sda1", "point": "/"}], "is_open": True}
    unknown, empty, used = parse_drives({"drives": [record, free, system]})
    assert (unknown.uses, unknown.mount_points) == (None, None)
    assert (empty.uses, empty.mount_points) == ([], [])
    assert (used.uses, used.mount_points) == (["mounted", "open"], ["/"])
    assert parse_drives({"drives": [asdict(used)]}) == [used]


@pytest.mark.parametrize(("field", "value"), [("drive_key", None), ("path", 5), ("size_bytes", "512"), ("model", 1)])
def test_a_list_of_drives_with_a_field_of_another_type_is_invalid(field, value):
    record = asdict(FoundDrive("/dev/sda", "scsi", "scsi:naa.5", 512)) | {field: value}
    with pytest.raises(HostUnavailableError, match=rf"drivecert.drives/1, got .* \({field}: {value!r}\)"):
        parse_drives({"drives": [record]})


@pytest.mark.parametrize(
    "use", [{"uses": ["unknown"]}, {"uses": [5]}, {"uses": [[]]}, {"uses": ["mounted"], "mount_points": [None]}]
)
def test_a_list_of_drives_with_an_unknown_use_is_invalid(use):
    record = asdict(FoundDrive("/dev/sda", "scsi", "scsi:naa.5", 512)) | use
    with pytest.raises(HostUnavailableError, match=r"drivecert.drives/1, got"):
        parse_drives({"drives": [record]})


def test_a_device_that_disappears_while_devices_are_listed_is_skipped(local, monkeypatch, tmp_path):
    (tmp_path / "gone/size").mkdir(parents=True)  # listed, and cannot be read
    (tmp_path / "found").mkdir()
    (tmp_path / "found/size").write_text("16\n")
    monkeypatch.setattr(local_host, "BLOCK_DEVICES", tmp_path)
    monkeypatch.setattr(LocalHost, "_is_drive", lambda _self, path, _key: path == "/dev/found")
    assert local.find("nvme:M:S", 16 * local_host.SECTOR_BYTES) == ["/dev/found"]
