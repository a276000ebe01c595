import threading

import pytest

from runners import machine
from runners.errors import HostElsewhereError
from runners.hosts import connect as connect_really
from runners.looks import look
from runners.machine import machine_id
from runners.models import Host
from runners.orders import add_local_host
from runners.states import State
from tests.runners.lab import look_at_all

GIVEN = "0123456789abcdef0123456789abcdef\n"


@pytest.fixture
def named(monkeypatch, tmp_path):
    def name(content):
        path = tmp_path / "machine-id"
        path.write_text(content)
        monkeypatch.setattr(machine, "MACHINE_ID", path)

    return name


def test_a_machine_keeps_its_id_and_another_has_another(named):
    named(GIVEN)
    first = machine_id()
    assert machine_id() == first
    assert GIVEN.strip() not in first
    named(GIVEN.replace("0", "1"))
    assert machine_id() != first


@pytest.mark.parametrize("content", ["", "uninitialized\n", GIVEN * 2])
def test_without_an_id_of_the_machine_the_data_directory_has_one(named, settings, tmp_path, content):
    named(content)
    first = machine_id()
    assert machine_id() == first
    assert [path.name for path in (tmp_path / "lab").iterdir()] == ["host-id"]
    settings.LAB_DIR = tmp_path / "other-lab"
    assert machine_id() != first


def test_of_many_that_make_the_id_at_once_all_tell_the_same(named):
    named("")
    told = []
    threads = [threading.Thread(target=lambda: told.append(machine_id())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(told) == 8
    assert len(set(told)) == 1


@pytest.mark.django_db
def test_the_local_host_knows_which_machine_it_is(staff):
    assert add_local_host(staff).machine_id == machine_id()


@pytest.mark.django_db
@pytest.mark.parametrize("state", [State.QUEUED, State.RUNNING, State.COLLECTING])
def test_a_run_of_another_machine_waits_for_its_worker(in_state, connect, fake, state):
    dispatch = in_state(state)
    Host.objects.update(machine_id="of-another")
    look_at_all(connect)
    look(dispatch.pk, connect)
    dispatch.refresh_from_db()
    assert (dispatch.state, dispatch.silent_since, dispatch.reason) == (state, None, "")
    assert fake.starts_count == 0


@pytest.mark.django_db
def test_a_host_of_an_unnamed_machine_is_taken_by_the_worker_that_looks(dispatch, connect):
    look_at_all(connect)
    dispatch.refresh_from_db()
    assert dispatch.state == State.RUNNING
    assert Host.objects.get().machine_id == machine_id()


@pytest.mark.django_db
def test_another_machine_is_not_asked(device):
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

    look(second.pk, connect)
    second.refresh_from_db()
    assert second.state == State.QUEUED
    assert lost.public_id in second.reason
