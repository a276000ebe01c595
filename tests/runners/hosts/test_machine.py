import threading

import pytest

from runners.dispatch.poll_scheduler import run_due, take_due_batches
from runners.errors import HostElsewhereError, MachineUnknownError
from runners.hosts import connect as connect_really
from runners.hosts import machine
from runners.hosts.machine import machine_id
from runners.inventory.devices import add_local_host
from runners.inventory.health import no_work_message
from runners.models import Host
from runners.models.states import State
from tests.runners.lab import poll, poll_all

GIVEN = "0123456789abcdef0123456789abcdef\n"


@pytest.fixture
def named(monkeypatch, tmp_path):
    def name(content):
        path = tmp_path / "machine-id"
        path.write_text(content)
        monkeypatch.setattr(machine, "MACHINE_ID", path)

    return name


def test_the_machine_id_is_stable_and_unique(named):
    named(GIVEN)
    first = machine_id()
    assert machine_id() == first
    assert GIVEN.strip() not in first
    named(GIVEN.replace("0", "1"))
    assert machine_id() != first


@pytest.mark.parametrize("content", ["", "uninitialized\n", GIVEN * 2])
def test_without_a_machine_id_the_data_directory_stores_one(named, settings, tmp_path, content):
    named(content)
    first = machine_id()
    assert machine_id() == first
    assert [path.name for path in (tmp_path / "lab").iterdir()] == ["host-id"]
    settings.LAB_DIR = tmp_path / "other-lab"
    assert machine_id() != first


def test_processes_that_create_the_machine_id_at_once_get_the_same(named):
    named("")
    ids = []
    threads = [threading.Thread(target=lambda: ids.append(machine_id())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ids) == 8
    assert len(set(ids)) == 1


@pytest.fixture
def unreadable(monkeypatch, tmp_path):
    """Return a machine whose id cannot be read."""
    path = tmp_path / "machine-id"
    path.mkdir()
    monkeypatch.setattr(machine, "MACHINE_ID", path)
    return path


def test_an_id_that_cannot_be_read_is_not_replaced_by_another(unreadable, tmp_path):
    with pytest.raises(MachineUnknownError, match=r"machine-id: cannot be read .*expected a file .*chmod 0444"):
        machine_id()
    assert not (tmp_path / "lab" / "host-id").exists()
    assert "cannot be read" in machine.machine_id_error()


def test_a_data_directory_without_write_access_is_named_in_the_error(named, settings, tmp_path):
    named("")
    settings.LAB_DIR = tmp_path / "a-file"
    settings.LAB_DIR.write_text("")
    with pytest.raises(MachineUnknownError, match="host-id: cannot be read or made"):
        machine_id()


def test_bytes_that_are_no_text_are_no_machine_id(named, tmp_path):
    named("")
    machine.MACHINE_ID.write_bytes(b"\xff" * 32)
    machine_id()
    assert (tmp_path / "lab" / "host-id").exists()


def test_a_machine_without_an_id_matches_only_unassigned_hosts(unreadable):
    assert machine.own_machine_ids() == [machine.UNASSIGNED]
    assert machine.is_this_machine(machine.UNASSIGNED)
    assert not machine.is_this_machine("of-another")


@pytest.mark.django_db
def test_a_machine_without_an_id_polls_hosts_over_ssh(in_state, connect, unreadable):
    dispatch = in_state(State.RUNNING)
    Host.objects.update(machine_id="this-one")
    run_due(connect)
    assert take_due_batches(is_silent=False, limit=9, running_period_s=0) == []
    pins = {"address": "lab", "user": "drivecert", "host_key": "k", "program_sha256": "5e" * 32}
    Host.objects.update(kind="ssh", machine_id="", **pins)
    (batch,) = take_due_batches(is_silent=False, limit=9, running_period_s=0)
    assert batch.dispatch_ids == (dispatch.pk,)


@pytest.mark.django_db
def test_a_local_host_without_a_machine_id_gets_no_work_and_names_the_cause(device, unreadable):
    device.host.machine_id = "this-one"
    assert "machine-id: cannot be read" in no_work_message(device.host)
    with pytest.raises(MachineUnknownError, match="chmod"):
        connect_really(device.host)


@pytest.mark.django_db
def test_the_local_host_has_the_id_of_its_machine(staff):
    assert add_local_host(staff).machine_id == machine_id()


@pytest.mark.django_db
@pytest.mark.parametrize("state", [State.QUEUED, State.RUNNING, State.COLLECTING])
def test_a_run_of_another_machine_waits_for_its_worker(in_state, connect, fake, state):
    dispatch = in_state(state)
    Host.objects.update(machine_id="of-another")
    poll_all(connect)
    poll(dispatch.pk, connect)
    dispatch.refresh_from_db()
    assert (dispatch.state, dispatch.silent_since, dispatch.reason) == (state, None, "")
    assert fake.starts_count == 0


@pytest.mark.django_db
def test_an_unassigned_local_host_is_assigned_to_the_polling_machine(dispatch, connect):
    poll_all(connect)
    dispatch.refresh_from_db()
    assert dispatch.state == State.RUNNING
    assert Host.objects.get().machine_id == machine_id()


@pytest.mark.django_db
def test_the_local_host_of_another_machine_gets_no_request(device):
    connect_really(device.host)
    device.host.machine_id = "of-another"
    with pytest.raises(HostElsewhereError, match="of-another"):
        connect_really(device.host)


@pytest.mark.django_db
def test_a_lost_run_of_another_machine_keeps_its_drive(in_state, new_dispatch, fake):
    lost = in_state(State.LOST)
    second = new_dispatch()

    def connect(host):
        raise HostElsewhereError("elsewhere")

    poll(second.pk, connect)
    second.refresh_from_db()
    assert second.state == State.QUEUED
    assert lost.public_id in second.reason
