"""A worker on simulated hosts that can be killed at any transaction: it runs the register's own tasks in a loop.

python -m tests.lab_simulator.worker SOCKET forks a worker for each JSON line on standard input (`kill_at`, `settings`)
and prints its exit status. `kill_at` N kills it with SIGKILL at the Nth moment just before or after a commit.
"""

import json
import os
import signal
import sys
import threading
import time
from datetime import UTC, datetime

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.db.backends.postgresql.base import DatabaseWrapper  # noqa: E402
from django.db.backends.signals import connection_created  # noqa: E402

from results.models import Reading  # noqa: E402
from results.tasks import sweep_readings  # noqa: E402
from runners import hosts, tasks  # noqa: E402
from runners.models import Dispatch, Host  # noqa: E402
from runners.models.campaign import Campaign  # noqa: E402
from runners.models.states import FINAL  # noqa: E402
from runners.retention import cleanup  # noqa: E402
from tests.lab_simulator.server import LabClient, RemoteHost  # noqa: E402

KIND = "simulated"
FOUND_FIT = datetime(2100, 1, 1, tzinfo=UTC)  # these hosts have no health to be checked
WRITES = ("INSERT", "UPDATE", "DELETE", "\nWITH")
PAUSE_S = 0.02


def reach_simulated_hosts(path):
    """Register a connector for simulated hosts in this process."""
    client = LabClient(path)
    hosts.CONNECTORS[KIND] = lambda host: RemoteHost(client, host.name)


class KillPoints:
    """A counter of the moments just before and after each commit; it kills this process at one of them."""

    def __init__(self, kill_at):
        self.kill_at, self.passed_count = kill_at, 0
        self.lock = threading.Lock()

    def watch(self):
        """Wrap every commit: those of blocks, and statements that are separate transactions."""
        commit = DatabaseWrapper._commit
        DatabaseWrapper._commit = lambda wrapper: self._count_around(commit, wrapper)
        connection_created.connect(self._wrap, weak=False)

    def _wrap(self, connection, **_):
        if self._execute not in connection.execute_wrappers:  # a reopened connection still has its wrappers
            connection.execute_wrappers.append(self._execute)

    def _execute(self, execute, sql, params, many, context):
        is_transaction = not context["connection"].in_atomic_block and str(sql).startswith(WRITES)
        if is_transaction:
            return self._count_around(execute, sql, params, many, context)
        return execute(sql, params, many, context)

    def _count_around(self, execute, *arguments):
        self._pass()
        answer = execute(*arguments)
        self._pass()
        return answer

    def _pass(self):
        with self.lock:
            self.passed_count += 1
            if self.passed_count == self.kill_at:
                os.kill(os.getpid(), signal.SIGKILL)


def work(path, kill_at=0, until_idle=True, **own_settings):
    """Run the tasks as a worker does, until no work is left. This loop replaces Celery's schedule."""
    for name, value in own_settings.items():
        setattr(settings, name, value)
    reach_simulated_hosts(path)
    KillPoints(kill_at).watch()
    while not until_idle or is_work_left():
        tasks.poll_dispatches()
        sweep_readings()
        tasks.advance_campaigns()
        for host in Host.objects.filter(kind=KIND):
            cleanup.remove_old_run_dirs(host, hosts.connect)
        time.sleep(PAUSE_S)


def is_work_left():
    is_climbing = Campaign.objects.filter(state__in=(Campaign.State.ACTIVE, Campaign.State.CANCELLING)).exists()
    is_running = Dispatch.objects.exclude(state__in=FINAL).exists()
    return is_climbing or is_running or Reading.objects.unfinished().exists()


def main():
    """Fork a worker for each line. This process is never a worker, so it shares no connection."""
    path = sys.argv[1]
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            work(path, **json.loads(line))
            os._exit(0)
        print(pid, flush=True)  # noqa: T201 - the answer
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201 - the answer


if __name__ == "__main__":
    main()
