"""Workers killed at random on simulated hosts that fail in every way at once: the end of every dispatch.

Needs DATABASE_URL (a PostgreSQL where it may create and drop its own database) and the built drivetest.
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

from simulated_register import simulated_register

from results.models import Run, Submission
from runners.models import Dispatch
from tests.faults.chaos import FAULTS, Chaos, ends
from tests.faults.simulated import LabProcess, WorkerParent, order_on

HOSTS_COUNT = 20
SETTLE_S = 120


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--kills", type=int, default=1000)
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    with simulated_register() as (lab_organisation, staff), tempfile.TemporaryDirectory() as directory:
        lab = LabProcess(Path(directory), HOSTS_COUNT, faults=FAULTS | {"seed": options.seed}, shared_drives=True)
        parents = [WorkerParent(lab, Path(directory)) for _ in range(2)]

        def order_one(where: LabProcess, name: str) -> Dispatch:
            return order_on(where, name, lab_organisation, staff)

        chaos = Chaos(lab, parents, order_one, options.seed, queued_at_most=40)
        try:
            began_s = time.monotonic()
            chaos.play(options.kills)
            is_settled = chaos.settle(SETTLE_S)
            report(options.kills, time.monotonic() - began_s, lab.truth(), is_settled)
        finally:
            for parent in parents:
                parent.end()
            lab.end()


def report(kills_count: int, seconds: float, truth: dict[str, Any], is_settled: bool) -> None:
    """Print the counts of the hosts and of the register."""
    print(f"kills {kills_count} in {seconds:.0f} s; dispatches {Dispatch.objects.count()}: {ends()}")
    print(f"by the hosts: starts {truth['starts_count']}, most loads on a drive {truth['most_loads']}")
    print(f"overlaps {truth['overlaps']}; faults that happened {truth['happened']}")
    print(f"all ended {is_settled}; without a reason {Dispatch.objects.filter(reason='').count()}")
    print(f"submissions {Submission.objects.count()}, runs {Run.objects.count()}")


if __name__ == "__main__":
    main()
