"""SIGKILL of a worker just before and just after every commit that one dispatch takes, from its order to its run."""

import pytest

from results.models import Reading, Run, Submission
from runners.models import Dispatch
from runners.models.states import State
from tests.faults.simulated import data_dir, new_lab, new_order, new_worker, sim_lab
from tests.runners.lab import drivetest

__all__ = ["data_dir", "drivetest", "new_lab", "new_order", "new_worker", "sim_lab"]

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True)]

KILLED, ENDED = -9, 0
LEAST_MOMENTS = 20  # an order takes at least ten commits to its run; fewer would mean that the kill points do not count
MOST_MOMENTS = 300


def test_a_worker_killed_at_any_commit_leaves_one_load_and_one_run(new_lab, new_worker, new_order, drivetest):
    lab = new_lab(hosts_count=1, speed=600)
    worker = new_worker(lab)
    for moment in range(1, MOST_MOMENTS):
        dispatch = new_order(lab, "sim-0")
        worker.start(kill_at=moment)
        was_killed = worker.wait() == KILLED
        worker.start()
        assert worker.wait() == ENDED, worker.log.read_text()
        check_one_of_everything(dispatch, lab, moment)
        if not was_killed:
            break
    assert not was_killed
    assert moment > LEAST_MOMENTS


def check_one_of_everything(dispatch, lab, moment):
    """Check that every order so far made one load, one submission, one evidence file, one reading and one run."""
    dispatch.refresh_from_db()
    assert (dispatch.state, dispatch.reason) == (State.DONE, "the program finished"), moment
    counts = [model.objects.count() for model in (Dispatch, Submission, Reading, Run)]
    assert counts == [moment] * 4
    truth = lab.truth()
    assert (truth["starts_count"], truth["most_loads"], truth["overlaps"]) == (moment, 1, [])
