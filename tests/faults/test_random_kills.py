"""Workers killed at random moments while hosts fail: no two loads on a drive, and every end is recorded."""

import pytest

from results.models import Submission
from runners.models import Dispatch
from runners.models.states import State
from tests.faults.chaos import FAULTS, Chaos, ends
from tests.faults.simulated import data_dir, new_lab, new_order, new_worker, sim_lab
from tests.runners.lab import drivetest

__all__ = ["data_dir", "drivetest", "new_lab", "new_order", "new_worker", "sim_lab"]

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True)]

KILLS_COUNT = 50
# Time for outages, runs and logs of all waiting dispatches on two busy processors.
LIMIT_S = 300


@pytest.mark.parametrize("seed", [1])
def test_random_kills_among_random_faults_never_load_a_drive_twice(seed, new_lab, new_worker, new_order, drivetest):
    lab = new_lab(hosts_count=6, faults=FAULTS | {"seed": seed}, shared_drives=True)
    chaos = Chaos(lab, [new_worker(lab), new_worker(lab)], new_order, seed)
    chaos.play(KILLS_COUNT)
    assert chaos.settle(LIMIT_S), (ends(), chaos.parents[0].log.read_text()[-2000:])
    truth = lab.truth()
    assert truth["overlaps"] == []
    assert (truth["most_loads"], truth["starts_count"] > 0) == (1, True)
    assert not Dispatch.objects.filter(reason="").exists()
    # A worker may be killed right after it submitted a log, and the host may lose or cut the log before the next poll.
    # (Logs that were cut before their first interval may be identical; the register stores them once.)
    unnamed = Submission.objects.filter(dispatches__isnull=True).values_list("log__filename", flat=True)
    of_them = {name.removesuffix(".log") for name in unnamed}
    found = Dispatch.objects.filter(public_id__in=of_them)
    assert found.count() == len(of_them)
    assert not found.filter(state=State.DONE).exists()
