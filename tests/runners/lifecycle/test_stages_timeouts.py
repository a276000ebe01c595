"""Programs beyond their time limit: they are stopped, and the reason names that only if it ended them."""

from datetime import timedelta

import pytest
from django.utils import timezone

from runners.dispatch.orders import Order, cancel, order
from runners.models import Dispatch
from runners.models.states import State
from runners.recipes import RECIPES
from tests.runners.fake_host import DRIVE_BYTES
from tests.runners.lab import poll

pytestmark = pytest.mark.django_db
SWEEP = {"preset": "micron-7450-rocksdb", "record_count": 10, "operation_count": 20, "threads": [1]}


@pytest.fixture
def overdue(dispatch, connect, fake, settings):
    """Return a run that exceeded its time limit and was not polled since."""
    poll(dispatch.pk, connect)
    fake.write_log(dispatch.public_id)
    begun = timezone.now() - timedelta(seconds=dispatch.duration_s + settings.RUN_OVERDUE_S + 1)
    Dispatch.objects.update(started_at=begun)
    return dispatch


def end_of(dispatch, connect):
    poll(dispatch.pk, connect)
    dispatch.refresh_from_db()
    return dispatch.state, dispatch.reason


@pytest.mark.parametrize(
    ("exit_status", "end"), [(0, State.DONE), (4, State.DONE), (3, State.FAILED), (5, State.FAILED)]
)
def test_a_run_that_ended_while_the_register_was_down_was_not_stopped(overdue, connect, fake, exit_status, end):
    fake.end(overdue.public_id, exit_status)
    state, reason = end_of(overdue, connect)
    assert state == end
    assert "the register stopped the program" not in reason
    assert not any("the register stopped the program" in step.reason for step in overdue.steps.all())


def test_the_reason_of_a_stopped_run_names_the_stop(overdue, connect, settings):
    state, reason = end_of(overdue, connect)
    assert state == State.FAILED
    assert (
        f"the register stopped the program {settings.RUN_OVERDUE_S} s after the ordered {overdue.duration_s} s"
        in reason
    )


def test_a_run_that_ended_by_itself_after_a_stop_request_was_not_stopped(overdue, connect, fake):
    fake.ignores_stop = True
    assert end_of(overdue, connect)[0] == State.RUNNING
    fake.end(overdue.public_id, 0)
    assert end_of(overdue, connect) == (State.DONE, "the program finished")


@pytest.fixture
def ordered(device, a_lab, staff):
    return lambda **options: order(device, a_lab, Order(**options), staff)


def limits_of(dispatch):
    return {stage.name: stage.limit_s for stage in RECIPES[dispatch.recipe].stages(dispatch)}


def test_every_program_of_every_recipe_has_a_limit(dispatch, ordered, settings):
    prep = ordered(recipe="prep")
    index = ordered(nx_load=1, duration_s=60, recipe="act-index")
    assert limits_of(dispatch) == limits_of(index) == {"": 60}
    settings.PREP_BYTES_PER_S_MIN = DRIVE_BYTES // 50
    assert limits_of(prep) == {"": 100}
    limits = limits_of(ordered(recipe="ycsb", options=SWEEP | {"max_execution_s": 30}))
    assert limits["run-a-t001"] == 30
    assert limits["load"] == settings.CLIENT_LIMIT_S
    assert {limits[name] for name in ("format", "mount", "unmount")} == {settings.STAGE_LIMIT_S}


@pytest.mark.parametrize(("late_s", "is_asked"), [(-5, False), (5, True)])
@pytest.mark.usefixtures("frozen_clock")
def test_a_preparation_beyond_its_limit_is_stopped(ordered, connect, settings, late_s, is_asked):
    settings.PREP_BYTES_PER_S_MIN = DRIVE_BYTES // 50
    prep = ordered(recipe="prep")
    poll(prep.pk, connect)
    begun = timezone.now() - timedelta(seconds=100 + settings.RUN_OVERDUE_S + late_s)
    Dispatch.objects.update(started_at=begun)
    state, reason = end_of(prep, connect)
    assert (state == State.FAILED, "after its limit of 100 s" in reason) == (is_asked, is_asked)


@pytest.mark.parametrize("stage", ["load", "unmount"])
def test_a_stage_beyond_its_limit_is_stopped_also_a_cleanup_stage(ordered, connect, fake, settings, stage):
    sweep = ordered(recipe="ycsb", options=SWEEP)
    while running_stage(sweep, connect, fake) != stage:
        (run,) = [name for name, program in fake.programs.items() if program.is_running]
        fake.files[run] |= {"log": b"[OVERALL], RunTime(ms), 10\n"}
        fake.end(run, 0)
    settings.STAGE_LIMIT_S = settings.CLIENT_LIMIT_S = 1
    settings.RUN_OVERDUE_S = -2
    poll(sweep.pk, connect)
    end = sweep.stage_ends.get(name=stage) if stage == "load" else None
    sweep.refresh_from_db()
    reason = end.reason if end else sweep.reason
    assert "the register stopped the program" in reason
    assert fake.programs[f"{sweep.public_id}.{stage}"].exit_status == 5


def test_a_cleanup_that_does_not_end_loses_the_dispatch(ordered, connect, fake, settings, staff):
    sweep = ordered(recipe="ycsb", options=SWEEP)
    poll(sweep.pk, connect)
    cancel(sweep, staff)
    poll(sweep.pk, connect)
    sweep.refresh_from_db()
    fake.ignores_stop, settings.STAGE_LIMIT_S, settings.RUN_OVERDUE_S, settings.HOST_SILENCE_S = True, 1, -2, 0
    assert end_of(sweep, connect)[0] == State.LOST


def running_stage(sweep, connect, fake):
    poll(sweep.pk, connect)
    (run,) = [name for name, program in fake.programs.items() if program.is_running]
    return run.partition(".")[2]
