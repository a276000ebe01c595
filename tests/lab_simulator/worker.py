"""A worker on simulated hosts that can be killed at any transaction: it runs the register's own tasks in a loop.

python -m tests.lab_simulator.worker SOCKET forks a worker for each JSON line it is told (`kill_at`, `settings`), and
says with which status it ended; `kill_at` N ends it with SIGKILL at the Nth moment beside a commit.
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
    """Teach this process one more way to a host."""
    client = LabClient(path)
    hosts.CONNECTORS[KIND] = lambda host: RemoteHost(client, host.name)


class KillPoints:
    """Counts the moments just before and just after each commit of this process, and ends it at one of them."""

    def __init__(self, kill_at):
        self.kill_at, self.passed_count = kill_at, 0
        self.lock = threading.Lock()

    def watch(self):
        """Stand beside every commit: those of blocks, and statements that are transactions of their own."""
        commit = DatabaseWrapper._commit
        DatabaseWrapper._commit = lambda wrapper: self._beside(commit, wrapper)
        connection_created.connect(self._wrap, weak=False)

    def _wrap(self, connection, **_):
        if self._execute not in connection.execute_wrappers:  # a connection that is opened again keeps them
            connection.execute_wrappers.append(self._execute)

    def _execute(self, execute, sql, params, many, context):
        is_transaction = not context["connection"].in_atomic_block and str(sql).startswith(WRITES)
        if is_transaction:
            return self._beside(execute, sql, params, many, context)
        return execute(sql, params, many, context)

    def _beside(self, act, *told):
        self._pass()
        answer = act(*told)
        self._pass()
        return answer

    def _pass(self):
        with self.lock:
            self.passed_count += 1
            if self.passed_count == self.kill_at:
                os.kill(os.getpid(), signal.SIGKILL)


def work(path, kill_at=0, until_idle=True, **own_settings):
    """Run the tasks as a worker does, until nothing is left to do. Celery is the alarm clock: here it rings always."""
    for name, value in own_settings.items():
        setattr(settings, name, value)
    reach_simulated_hosts(path)
    KillPoints(kill_at).watch()
    while not until_idle or is_work_left():
        tasks.watch_dispatches()
        sweep_readings()
        tasks.watch_campaigns()
        for host in Host.objects.filter(kind=KIND):
            cleanup.remove_old_run_dirs(host, hosts.connect)
        time.sleep(PAUSE_S)


def is_work_left():
    is_climbing = Campaign.objects.filter(state__in=(Campaign.State.ACTIVE, Campaign.State.CANCELLING)).exists()
    is_running = Dispatch.objects.exclude(state__in=FINAL).exists()
    return is_climbing or is_running or Reading.objects.unfinished().exists()


def main():
    """Fork a worker for each line; a process that was never a worker holds no connection to be shared."""
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
