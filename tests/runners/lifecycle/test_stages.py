import tarfile

import pytest
from django.db import DatabaseError

from results.evidence.store import open_evidence
from runners.dispatch.claim import settle_lost
from runners.dispatch.orders import Order, cancel, order
from runners.errors import RequestRefusedError
from runners.lifecycle.transitions import transition
from runners.models import Dispatch, Host, StageEnd
from runners.models.states import State
from tests.runners.fake_host import WorkerKilledError
from tests.runners.lab import poll, poll_state
from tests.runners.ssh_host import ssh_host
from tests.runners.sweeps import ALL, OPTIONS, finish, go_through

pytestmark = pytest.mark.django_db


@pytest.fixture
def sweep(device, a_lab, staff):
    return order(device, a_lab, Order(recipe="ycsb", options=OPTIONS), staff)


def members(dispatch):
    with open_evidence(dispatch.submission.log) as stream, tarfile.open(fileobj=stream) as tar:
        return {member.name: member.size for member in tar}


def test_a_sweep_goes_through_its_stages_each_started_once(sweep, connect, fake):
    assert go_through(sweep, connect, fake) == ALL
    assert (sweep.state, sweep.reason, sweep.exit_status) == (State.DONE, "all stages finished", 0)
    assert (fake.starts_count, fake.most_loads, sweep.generation) == (len(ALL), 1, len(ALL))
    assert list(sweep.stage_ends.values_list("name", "exit_status")) == [(name, 0) for name in ALL]


def test_all_outputs_are_one_submission(sweep, connect, fake):
    go_through(sweep, connect, fake)
    found = members(sweep)
    assert {"load.log", "load.stderr", "load.cmd", "load.jsonl", "load/workloada", "run-a-t002.log"} <= set(found)
    assert {"format.txt", "unmount.cmd"} <= set(found)
    assert not {name for name in found if name.endswith(".log")} - {"load.log", "run-a-t001.log", "run-a-t002.log"}


def test_hdr_files_are_collected_below_their_log(sweep, connect, fake):
    while poll_state(sweep, connect) == State.RUNNING:
        name = finish(sweep, fake)
        fake.files[f"{sweep.public_id}.{name}"]["out/hdr-READ.hdr"] = b"#[Logging for: READ]\n"
    assert "run-a-t001/READ.hdr" in members(sweep)


def test_a_stage_that_failed_leads_to_cleanup_and_its_outputs_are_stored(sweep, connect, fake):
    assert go_through(sweep, connect, fake, failing="load") == ["format", "mount", "load", "unmount"]
    assert sweep.state == State.FAILED
    assert sweep.reason.startswith("stage load: the program reported a failure")
    assert "load.log" in members(sweep)


def test_a_format_that_failed_leaves_no_submission_and_a_drive_that_counts_as_reset(sweep, connect, fake):
    assert go_through(sweep, connect, fake, failing="format", exit_status=3) == ["format", "unmount"]
    assert (sweep.state, sweep.submission) == (State.FAILED, None)
    assert sweep.resets_drive_at is not None


def test_an_unobserved_end_of_a_program_ends_the_sweep(sweep, connect, fake):
    go_through(sweep, connect, fake, failing="run-a-t001", exit_status=None)
    assert sweep.state == State.FAILED
    assert "ended unobserved" in sweep.reason


def test_a_cancel_stops_the_stage_and_cleans_up(sweep, connect, fake, staff):
    poll_state(sweep, connect)
    finish(sweep, fake)
    poll_state(sweep, connect)
    cancel(sweep, staff)
    assert poll_state(sweep, connect) == State.RUNNING
    assert list(sweep.stage_ends.values_list("name", flat=True)) == ["format", "mount"]
    assert fake.programs[f"{sweep.public_id}.unmount"].is_running
    finish(sweep, fake)
    assert poll_state(sweep, connect) == State.CANCELLED


@pytest.mark.parametrize("call", ["identify", "put", "start", "status", "fetch", "hand in"])
def test_a_worker_killed_after_any_call_of_any_stage_starts_none_twice(sweep, connect, fake, call):
    for _ in range(60):
        fake.dies_after = call
        try:
            state = poll_state(sweep, connect)
        except WorkerKilledError:
            fake.dies_after = ""
            state = poll_state(sweep, connect)
        if state != State.RUNNING:
            break
        finish(sweep, fake)
    assert (sweep.state, fake.starts_count, fake.most_loads) == (State.DONE, len(ALL), 1)


def test_a_drive_that_became_another_one_between_stages_is_left_alone(sweep, connect, fake):
    poll_state(sweep, connect)
    fake.add_drive(drive_key="loop:9:9")
    finish(sweep, fake)
    poll_state(sweep, connect)
    assert fake.starts_count == 1
    assert "expected drive loop:1:2 at /dev/fake0, found drive loop:9:9" in sweep.stage_ends.get(name="mount").reason


def test_a_late_start_of_a_skipped_stage_starts_nothing(sweep, connect, fake):
    poll_state(sweep, connect)
    fake.add_drive(drive_key="loop:9:9")
    finish(sweep, fake)
    poll_state(sweep, connect)
    assert fake.start(f"{sweep.public_id}.mount", sweep.drive_key, 2, []).state == "ended"
    assert fake.starts_count == 1


def test_a_stage_that_was_cancelled_before_its_start_is_sealed(sweep, connect, fake, staff):
    poll_state(sweep, connect)
    finish(sweep, fake)
    fake.dies_after = "identify"
    with pytest.raises(WorkerKilledError):  # the next stage is due, and not begun
        poll(sweep.pk, connect)
    cancel(sweep, staff)
    poll_state(sweep, connect)
    assert fake.start(f"{sweep.public_id}.mount", sweep.drive_key, 99, []).pid is None


@pytest.mark.parametrize("stage", ["mount", "load", "run-a-t002"])
def test_a_stage_whose_start_is_refused_is_named_and_cleanup_still_runs(sweep, connect, fake, stage):
    fake.refused_stages = (stage,)
    ended = go_through(sweep, connect, fake)
    assert ended == [*ALL[: ALL.index(stage)], "unmount"]
    assert (sweep.state, sweep.reason) == (State.FAILED, f"stage {stage}: {sweep.public_id}.{stage}: refused")


def test_a_cleanup_that_is_refused_ends_the_sweep_and_is_named(sweep, connect, fake):
    fake.refused_stages = ("unmount",)
    assert go_through(sweep, connect, fake) == ALL[:-1]
    assert (sweep.state, sweep.reason) == (State.FAILED, f"stage unmount: {sweep.public_id}.unmount: refused")


def test_a_sweep_of_two_hosts_is_refused(device, a_lab, staff):
    other = Host.objects.create(name="sender", kind="local", machine_id="of-another")
    with pytest.raises(ValueError, match="no worker can reach both"):
        order(device, a_lab, Order(recipe="ycsb", options=OPTIONS, load_host=other), staff)


def test_a_sweep_whose_database_the_second_host_cannot_reach_is_refused(device, a_lab, staff):
    with pytest.raises(RequestRefusedError, match="RocksDB is part of the client") as refused:
        order(device, a_lab, Order(recipe="ycsb", options=OPTIONS, load_host=ssh_host("sender")), staff)
    assert refused.value.code == "host-unfit"
    assert not Dispatch.objects.exists()
    assert order(device, a_lab, Order(recipe="ycsb", options=OPTIONS, load_host=device.host), staff)


def test_a_stage_that_runs_though_its_start_was_not_saved_is_seen(sweep, connect, fake):
    poll_state(sweep, connect)
    finish(sweep, fake)
    fake.dies_after = "start"
    with pytest.raises(WorkerKilledError):
        poll(sweep.pk, connect)
    for _ in range(2):
        poll_state(sweep, connect)
    assert (sweep.pid, sweep.boot_ids) == (4002, ["first start"])


def lose(sweep):
    """Lose a sweep by a long outage of its host."""
    transition(sweep, State.RUNNING, State.LOST, "no answer")


def settle(sweep, connect):
    """Poll until the end: one poll advances an ended stage, and the next one starts the next stage."""
    for _ in range(3):
        settle_lost(sweep, connect)
        sweep.refresh_from_db()
    return sweep.ended_at is not None


def test_a_sweep_that_was_lost_is_unmounted_before_its_drive_is_free(sweep, connect, fake):
    while poll_state(sweep, connect) == State.RUNNING and sweep.stage < ALL.index("load"):
        finish(sweep, fake)
    lose(sweep)
    assert not settle(sweep, connect)
    assert sweep.stage == ALL.index("load")  # the load still runs
    finish(sweep, fake)
    assert not settle(sweep, connect)
    assert fake.programs[f"{sweep.public_id}.unmount"].is_running
    assert fake.starts_count == ALL.index("load") + 2
    finish(sweep, fake)
    assert settle(sweep, connect)
    assert (sweep.state, fake.starts_count, fake.most_loads) == (State.LOST, ALL.index("load") + 2, 1)


def test_a_cleanup_that_the_host_refuses_still_frees_the_drive(sweep, connect, fake):
    poll_state(sweep, connect)
    lose(sweep)
    finish(sweep, fake)
    fake.refused_stages = ("unmount",)
    assert settle(sweep, connect)
    assert fake.starts_count == 1


def test_a_worker_killed_before_the_cleanup_of_a_lost_sweep_leaves_it_to_the_next(sweep, connect, fake):
    poll_state(sweep, connect)
    lose(sweep)
    finish(sweep, fake)
    fake.dies_after = "put"
    with pytest.raises(WorkerKilledError):
        settle(sweep, connect)
    assert not settle(sweep, connect)
    assert fake.programs[f"{sweep.public_id}.unmount"].is_running


def test_a_sweep_waits_for_its_hosts_and_blocks_them_for_others(sweep, connect, fake, other_drive, a_lab, staff):
    act = order(other_drive, a_lab, Order(1, 60, 10), staff)
    assert poll_state(act, connect) == State.RUNNING
    assert poll_state(sweep, connect) == State.QUEUED
    assert f"{act} uses the host" in sweep.reason
    fake.write_log(act.public_id)
    fake.end(act.public_id, 0)
    poll_state(act, connect)
    assert poll_state(sweep, connect) == State.RUNNING
    late = order(other_drive, a_lab, Order(1, 60, 10), staff)
    assert poll_state(late, connect) == State.QUEUED


def test_act_loads_share_a_host(dispatch, connect, other_drive, a_lab, staff):
    other = order(other_drive, a_lab, Order(1, 60, 10), staff)
    assert {poll_state(dispatch, connect), poll_state(other, connect)} == {State.RUNNING}


def test_a_stage_end_is_never_changed(sweep, connect, fake):
    poll_state(sweep, connect)
    finish(sweep, fake)
    poll_state(sweep, connect)
    assert StageEnd.objects.get().name == "format"
    with pytest.raises(DatabaseError, match="append-only"):
        StageEnd.objects.update(exit_status=9)


def test_a_client_that_wrote_nothing_failed_with_any_exit_status(sweep, connect, fake):
    while poll_state(sweep, connect) == State.RUNNING:
        finish(sweep, fake, output=b"")
    assert (sweep.state, sweep.reason) == (State.FAILED, "stage load: the program finished; the program wrote no log")
