"""A dispatch from its order to its evidence, on a lab host over a real sshd or with an agent."""

import hashlib
import signal
import time
from contextlib import ExitStack
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from django.utils import timezone

from results.models import Evidence, Submission
from runners.dispatch.orders import Order, order
from runners.hosts import connect
from runners.inventory import health
from runners.inventory.agents import enrol_agent_host
from runners.inventory.devices import bind
from runners.models import Dispatch, Host, HostOutage
from runners.models.states import FINAL, State
from runners.retention.cleanup import remove_old_run_dirs
from tests.runners.hosts.test_local import wait_until
from tests.runners.lab import poll

pytestmark = [pytest.mark.lab_hosts, pytest.mark.django_db(transaction=True)]


BOTH_KINDS = pytest.mark.parametrize("enrolled", [Host.Kind.SSH, Host.Kind.AGENT], indirect=True)


def join_agent(there, register):
    """Let a host join as an agent host that no register reaches, and return its row."""
    host, code = enrol_agent_host("lab-host", None)
    there.stop_sshd()
    there.join(f"http://127.0.0.1:{register[0]}", code)
    host.refresh_from_db()
    return host


@pytest.fixture
def enrolled(request, new_enrolled):
    """Yield a host that passed its check, and its row: over SSH unless the test states the other kind."""
    there, row = new_enrolled(drive_mib=getattr(request.module, "DRIVE_MIB", 64))
    with ExitStack() as until_end:
        if getattr(request, "param", Host.Kind.SSH) == Host.Kind.AGENT:
            row.delete()
            row = join_agent(there, request.getfixturevalue("register"))
            until_end.enter_context(there.agent())
        assert health.check(row) == []
        yield there, row


@pytest.fixture
def ordered(enrolled, staff, a_lab):
    row = enrolled[1]
    device = bind(row, connect(row).identify("/dev/nvme0n1"), "a drive", staff)
    wanted = Order(Decimal("0.1"), 3, 1, {"report_interval_s": 1})
    return order(device, a_lab, wanted, staff)


def run_to_its_end(dispatch, for_s=180):
    return run_to_state(dispatch, *FINAL, for_s=for_s)


def run_to_state(dispatch, *states, for_s=180):
    deadline = time.monotonic() + for_s
    while dispatch.state not in states:
        assert time.monotonic() < deadline, f"{dispatch.state}: {dispatch.reason}"
        poll(dispatch.pk)
        dispatch.refresh_from_db()
        time.sleep(0.1)
    return dispatch


@BOTH_KINDS
def test_a_dispatch_leaves_the_host_s_log_as_evidence(enrolled, ordered):
    there, _ = enrolled
    run_to_its_end(ordered)
    assert (ordered.state, ordered.reason) == (State.DONE, "the program finished")
    log = there.path(f"/var/lib/drivecert/{ordered.public_id}/log").read_bytes()
    assert Submission.objects.get().log.sha256 == hashlib.sha256(log).hexdigest()
    assert ordered.progress["tail"]
    assert not HostOutage.objects.exists()


@pytest.mark.parametrize("ended_by", [signal.SIGTERM, signal.SIGKILL])
def test_a_run_continues_while_its_agent_is_away(new_enrolled, register, staff, a_lab, settings, ended_by):
    there, row = new_enrolled()
    row.delete()
    row = join_agent(there, register)
    with there.agent(ended_by):
        assert health.check(row) == []
        device = bind(row, connect(row).identify("/dev/nvme0n1"), "a drive", staff)
        dispatch = order(device, a_lab, Order(Decimal("0.1"), 4, 1, {"report_interval_s": 1}), staff)
        run_to_state(dispatch, State.RUNNING)
    settings.HOST_ANSWER_TIMEOUT_S = 1
    poll(dispatch.pk)
    dispatch.refresh_from_db()
    assert (dispatch.state, dispatch.silent_since is not None) == (State.RUNNING, True)
    settings.HOST_ANSWER_TIMEOUT_S = 20
    with there.agent():
        run_to_its_end(dispatch)
    assert (dispatch.state, dispatch.reason) == (State.DONE, "the program finished")
    assert dispatch.generation == 1


def test_a_drive_that_was_renamed_since_the_order_is_loaded_and_the_other_keeps_its_bytes(
    enrolled, ordered, loop_drives
):
    """The names are exchanged between order and start, as after a reboot. Only the bound drive may be written."""
    there, _ = enrolled
    other, bound = loop_drives.add("other"), there.devices["nvme0n1"]
    there.give("nvme0n1", other)
    there.give("nvme1n1", bound)
    run_to_its_end(ordered)
    assert ordered.state == State.DONE
    assert Dispatch.objects.get().device.path == "/dev/nvme1n1"
    assert any(content_of(loop_drives, bound))
    assert not any(content_of(loop_drives, other))


def test_a_drive_that_went_away_since_the_order_refuses_the_dispatch(enrolled, ordered, loop_drives):
    there, _ = enrolled
    other = loop_drives.add("other")
    there.give("nvme0n1", other)
    run_to_its_end(ordered)
    assert ordered.state == State.REFUSED
    assert not any(content_of(loop_drives, other))


@pytest.fixture
def prep_ordered(enrolled, staff, a_lab):
    row = enrolled[1]
    device = bind(row, connect(row).identify("/dev/nvme0n1"), "a drive", staff)
    return lambda **options: order(device, a_lab, Order(recipe="prep", options=options), staff)


@BOTH_KINDS
def test_a_drive_is_prepared_with_evidence(enrolled, prep_ordered, loop_drives):
    dispatch = run_to_its_end(prep_ordered())
    assert (dispatch.state, dispatch.reason) == (State.DONE, "the program finished")
    assert dispatch.preparation.evidence.kind == Evidence.Kind.PREP
    assert len(set(content_of(loop_drives, enrolled[0].devices["nvme0n1"]))) == 256, "random data holds every byte"


def test_a_preparation_over_ssh_refuses_data_of_others_even_with_consent(enrolled, prep_ordered, loop_drives):
    """Only the operator of the host may give consent; the consent of the register has no effect."""
    device = Path(enrolled[0].devices["nvme0n1"])
    with device.open("r+b") as stream:
        stream.seek(0x438)
        stream.write(b"\x53\xef")  # ext4's magic number
    before = content_of(loop_drives, str(device))
    found = run_to_its_end(prep_ordered())
    assert (found.state, "ext" in found.reason) == (State.REFUSED, True)
    consented = run_to_its_end(prep_ordered(i_know_this_destroys_data="an ext2, ext3 or ext4 file system"))
    assert consented.state == State.REFUSED
    assert "--i-know-this-destroys-data" in consented.reason
    assert content_of(loop_drives, str(device)) == before


def content_of(loop_drives, device):
    return Path(loop_drives.devices[device]).read_bytes()


def test_a_dispatch_waits_for_a_host_that_fails_its_check(enrolled, ordered):
    there, row = enrolled
    there.write("/etc/drivecert/host.toml", "drives = []\n")
    health.check(row)
    poll(ordered.pk)
    ordered.refresh_from_db()
    assert ordered.state == State.QUEUED
    assert "listed no drive" in ordered.reason


def test_a_host_passes_its_check_after_its_operator_fixed_it(enrolled):
    there, row = enrolled
    there.stop_sshd()
    assert "lab-host" in health.check(row)[0]
    there.start_sshd()
    wait_until(lambda: health.check(row) == [])


def test_a_program_that_differs_from_the_pinned_one_is_reported(enrolled, ordered):
    there, row = enrolled
    with there.path("/usr/local/sbin/drivetest").open("ab") as program:
        program.write(b"\n")
    assert "the pinned one" in health.check(row)[0]
    poll(ordered.pk)
    ordered.refresh_from_db()
    assert ordered.state == State.QUEUED


def left_after_a_turn(there, row):
    """Run a turn and return the run directories. A monitor may outlive its end record: then a second turn is needed."""
    remove_old_run_dirs(row)
    return {path.name for path in there.path("/var/lib/drivecert").iterdir()}


@BOTH_KINDS
def test_run_directories_are_removed_once_they_are_old(enrolled, staff, a_lab, settings):
    there, row = enrolled
    device = bind(row, connect(row).identify("/dev/nvme0n1"), "a drive", staff)
    first, second = (run_to_its_end(order(device, a_lab, Order(Decimal("0.1"), 2, 2), staff)) for _ in range(2))
    settings.RUN_DIR_RETENTION_S = 1
    Dispatch.objects.update(ended_at=timezone.now() - timedelta(seconds=2))
    wait_until(lambda: left_after_a_turn(there, row) == {"locks"})
    assert set(Dispatch.objects.filter(run_dirs_removed_at__isnull=False)) == {first, second}
    assert first.boot_ids
