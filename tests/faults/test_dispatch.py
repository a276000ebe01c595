"""A dispatch survives the death of its worker at any moment: one process, one run, one evidence file."""

import json
import time
from decimal import Decimal
from pathlib import Path

import pytest
from django.conf import settings as django_settings

from results.models import Evidence, Reading, Run, Submission
from runners.dispatch.orders import Order, cancel, order
from runners.hosts.local import LocalHost
from runners.hosts.protocol import ProgramState
from runners.inventory.devices import add_local_host, bind
from runners.models import Dispatch
from runners.models.states import FINAL, State
from runners.tasks import advance_dispatch
from tests.faults.worker import Worker
from tests.results.stored_files import use_directory
from tests.runners.lab import a_lab, drivetest  # noqa: F401 - shared fixtures

pytestmark = [
    pytest.mark.faults,
    pytest.mark.django_db(transaction=True),
]

PATIENCE_S = 300  # two busy cores may take long
MIB = 1024 * 1024
RUN_S = 6
# Long enough that the run has not ended when the test observes its start on a busy machine.
long_enough_to_observe = pytest.mark.parametrize("run_s", [20])


@pytest.fixture
def data_dir(settings, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    settings.LAB_DIR = data / "lab"
    use_directory(settings, data / "evidence")
    return data


@pytest.fixture
def worker(data_dir, drivetest):  # noqa: F811
    worker = Worker(data_dir)
    yield worker
    worker.kill()


@pytest.fixture
def host(worker):
    return LocalHost()


@pytest.fixture
def run_s():
    return RUN_S


@pytest.fixture
def path(host, tmp_path, data_dir):
    path = str(tmp_path / "drive.img")  # outside the data directory, where no file may be a drive
    host.create_file(path, 64 * MIB)
    return path


@pytest.fixture
def ordered(host, path, staff, a_lab, worker, run_s):  # noqa: F811
    device = bind(add_local_host(staff), host.identify(path), "a file", staff)
    dispatch = order(device, a_lab, Order(Decimal("0.1"), run_s, 2), staff)
    yield dispatch
    if host.stop(dispatch.public_id).state is ProgramState.RUNNING:
        wait_for(lambda: host.status(dispatch.public_id).state is ProgramState.ENDED, worker)


def wait_for(is_so, worker):
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline, (list(Dispatch.objects.values_list("state", "reason")), worker.log())
        time.sleep(0.1)


def wait_for_state(dispatch, states, worker):
    wait_for(lambda: Dispatch.objects.get(pk=dispatch.pk).state in states, worker)
    dispatch.refresh_from_db()


def restart(worker):
    worker.kill()
    worker.start()


def check_one_of_everything(dispatch, worker, pid):
    wait_for_state(dispatch, FINAL, worker)
    assert (dispatch.state, dispatch.pid) == (State.DONE, pid), (dispatch.reason, worker.log())
    wait_for(Run.objects.exists, worker)
    wait_for(lambda: not Reading.objects.unfinished().exists(), worker)
    assert Submission.objects.get() == dispatch.submission
    assert Evidence.objects.filter(sha256=dispatch.submission.log.sha256).count() == 1
    assert (Run.objects.count(), Reading.objects.count()) == (1, 1)
    assert records(dispatch) == {"start": 1, "interval": dispatch.duration_s, "end": 1}


def records(dispatch):
    """Count the records of the side file: a second start would have written a second record."""
    lines = (Path(django_settings.LAB_DIR) / dispatch.public_id / "side.jsonl").read_text().splitlines()
    kinds = [json.loads(line)["record"] for line in lines]
    return {kind: kinds.count(kind) for kind in kinds}


def test_a_worker_killed_before_the_start_leaves_one_run(ordered, worker, host):
    worker.kill_at("before start")
    worker.start()
    wait_for(lambda: not worker.is_alive(), worker)
    assert host.status(ordered.public_id).state is ProgramState.ABSENT
    restart(worker)
    wait_for_state(ordered, {State.RUNNING}, worker)
    check_one_of_everything(ordered, worker, host.status(ordered.public_id).pid)


@long_enough_to_observe
def test_a_worker_killed_between_start_and_save_finds_the_same_process(ordered, worker, host):
    worker.kill_at("after start")
    worker.start()
    wait_for(lambda: not worker.is_alive(), worker)
    ordered.refresh_from_db()
    pid = host.status(ordered.public_id).pid
    assert (ordered.state, ordered.pid) == (State.PREPARING, None)
    assert host.status(ordered.public_id).state is ProgramState.RUNNING
    restart(worker)
    check_one_of_everything(ordered, worker, pid)


@long_enough_to_observe
def test_a_worker_killed_in_mid_run_leaves_the_program_running(ordered, worker, host):
    worker.start()
    wait_for(lambda: Dispatch.objects.get(pk=ordered.pk).last_label_s >= 1, worker)
    pid = Dispatch.objects.get(pk=ordered.pk).pid
    worker.kill()
    assert (host.status(ordered.public_id).state, host.status(ordered.public_id).pid) == (ProgramState.RUNNING, pid)
    worker.start()
    check_one_of_everything(ordered, worker, pid)


def test_a_program_that_ended_while_no_worker_lived_is_collected(ordered, worker, host):
    worker.start()
    wait_for_state(ordered, {State.RUNNING}, worker)
    worker.kill()
    wait_for(lambda: host.status(ordered.public_id).state is ProgramState.ENDED, worker)
    worker.start()
    check_one_of_everything(ordered, worker, ordered.pid)


def test_a_worker_killed_while_reading_leaves_one_run(ordered, worker):
    worker.kill_at("before read")
    worker.start()
    wait_for(lambda: not worker.is_alive(), worker)
    ordered.refresh_from_db()
    assert Reading.objects.unfinished().count() == 1
    restart(worker)
    check_one_of_everything(ordered, worker, Dispatch.objects.get(pk=ordered.pk).pid)


@pytest.mark.parametrize("run_s", [60])  # a new worker may take long, and must still find the run
def test_a_cancel_reaches_the_program_through_a_new_worker(ordered, worker, host, staff):
    worker.start()
    wait_for_state(ordered, {State.RUNNING}, worker)
    worker.kill()
    cancel(ordered, staff)
    worker.start()
    wait_for_state(ordered, FINAL, worker)
    assert ordered.state == State.CANCELLED
    assert host.status(ordered.public_id).state is ProgramState.ENDED
    assert not Evidence.objects.exists()


def test_two_schedulers_and_doubled_and_late_tasks_make_one_run(ordered, worker, data_dir, host):
    second = Worker(data_dir)
    for number in range(20):
        advance_dispatch.apply_async(
            args=(ordered.pk,), countdown=number % 4
        )  # some run long after the start of the run
    try:
        worker.start()
        second.start()
        wait_for_state(ordered, {State.RUNNING}, worker)
        pid = host.status(ordered.public_id).pid
        check_one_of_everything(ordered, worker, pid)
        advance_dispatch.apply_async(args=(ordered.pk,))  # as the broker redelivers an unacknowledged task
        check_one_of_everything(ordered, worker, pid)
        begun = ordered.steps.filter(to_state=State.RUNNING).exclude(from_state=State.RUNNING)
        assert begun.count() == 1
    finally:
        second.kill()


def test_new_code_is_deployed_in_mid_run(ordered, worker, host):
    worker.start()
    wait_for_state(ordered, {State.RUNNING}, worker)
    pid = host.status(ordered.public_id).pid
    worker.process.terminate()  # with SIGTERM, as a service manager stops it
    worker.process.wait(PATIENCE_S)  # its shutdown may take longer than the rest of the run
    worker.start()
    check_one_of_everything(ordered, worker, pid)
