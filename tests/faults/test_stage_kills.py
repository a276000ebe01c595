"""Workers killed at each commit of a dispatch with several stages."""

import pytest

from runners.dispatch.orders import Order, order
from runners.lifecycle.stages import stages_of
from runners.models.states import State
from tests.faults.simulated import data_dir, device_on, kill_one_after_the_other, new_lab, new_worker, sim_lab
from tests.runners.lab import drivetest

__all__ = ["data_dir", "drivetest", "new_lab", "new_worker", "sim_lab"]

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True)]

LEAST_DEATHS = 10
SWEEP = {"preset": "micron-7450-rocksdb", "record_count": 10, "operation_count": 20, "threads": [1, 2]}


def test_a_sweep_whose_workers_are_killed_at_each_commit_starts_each_stage_once(
    new_lab, new_worker, sim_lab, staff, drivetest
):
    lab = new_lab(hosts_count=1, speed=600)
    sweep = order(device_on(lab, "sim-0", staff), sim_lab, Order(recipe="ycsb", options=SWEEP), staff)
    names = [stage.name for stage in stages_of(sweep)]
    assert kill_one_after_the_other(new_worker(lab)) > LEAST_DEATHS
    sweep.refresh_from_db()
    assert (sweep.state, sweep.reason) == (State.DONE, "all stages finished")
    assert list(sweep.stage_ends.values_list("name", "exit_status")) == [(name, 0) for name in names]
    truth = lab.truth()
    assert (truth["starts_count"], truth["most_loads"], truth["overlaps"]) == (len(names), 1, [])
