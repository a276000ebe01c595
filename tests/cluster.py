"""A PostgreSQL and a Redis of the test session's own, by the code that `manage.py up` starts them with.

Only where DATABASE_URL or REDIS_URL is unset. Under xdist the controller starts one pair; its workers inherit the
addresses, and each takes a database of its own in both.
"""

import atexit
import os
import re
import shutil
import tempfile
from pathlib import Path

from webapp.embedded import Embedded, Postgres, Redis

STARTED_HERE = "DRIVECERT_TEST_REDIS_URL"
REDIS_DATABASES = 16  # what redis-server offers unless told otherwise


class Cluster:
    """The servers that this process started, if any."""

    def __init__(self) -> None:
        self.embedded: Embedded | None = None
        self.servers: list[Postgres | Redis] = []
        self.owner = os.getpid()

    def provide(self) -> None:
        """Start what the environment does not name, and name it there; to be called before the settings are read."""
        for variable, kind in (("DATABASE_URL", Postgres), ("REDIS_URL", Redis)):
            if not os.environ.get(variable):
                os.environ[variable] = self._start(kind)
                if kind is Redis:
                    os.environ[STARTED_HERE] = os.environ[variable]
        atexit.register(self.stop)  # not a hook of pytest: a mistyped option ends the session before any is called
        take_redis_database(os.environ.get("PYTEST_XDIST_WORKER", ""))

    def stop(self) -> None:
        """End what this process started, and forget its data."""
        if self.owner != os.getpid():
            return  # a copy that a test forked
        for server in reversed(self.servers):
            server.child.stop()
        if self.embedded is not None:
            self.embedded.remove_sockets()
            shutil.rmtree(self.embedded.data_dir)

    def _start(self, kind: type[Postgres | Redis]) -> str:
        if self.embedded is None:
            self.embedded = Embedded(Path(tempfile.mkdtemp(prefix="drivecert-tests-")), durable=False)
            self.embedded.make_places()
        server = kind(self.embedded)
        self.servers.append(server)
        server.start()
        return server.url


def take_redis_database(worker: str) -> None:
    """Give each xdist worker a Redis database of its own: gw0 takes 1, gw1 takes 2; the controller keeps 0."""
    ours = os.environ.get(STARTED_HERE)
    if not ours or not worker:
        return
    number = int(worker.removeprefix("gw")) + 1
    if number >= REDIS_DATABASES:
        raise ValueError(f"pytest -n: at most {REDIS_DATABASES - 1} workers share one Redis, got {worker}")
    os.environ["REDIS_URL"] = re.sub(r"virtual_host=\d+", f"virtual_host={number}", ours)
