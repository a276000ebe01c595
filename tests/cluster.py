"""PostgreSQL and Redis of the test session, started by the code of `manage.py up`.

They are started only if DATABASE_URL or REDIS_URL is unset. Under xdist the controller starts one pair. Its workers
inherit the addresses, and each worker uses its own database in both servers.
"""

import atexit
import os
import re
import shutil
import tempfile
from pathlib import Path

from django.conf import settings

from webapp.embedded import Postgres, Redis
from webapp.supervisor.data_directory import DataDirectory

STARTED_HERE = "DRIVECERT_TEST_REDIS_URL"
REDIS_DATABASES = 16  # the default of redis-server and valkey-server


class Cluster:
    """The servers that this process started, if any."""

    def __init__(self) -> None:
        self.directory: DataDirectory | None = None
        self.servers: list[Postgres | Redis] = []
        self.owner = os.getpid()

    def provide(self) -> None:
        """Start the servers that the environment lacks, and set their addresses there before the settings are read."""
        for variable, kind in (("DATABASE_URL", Postgres), ("REDIS_URL", Redis)):
            if not os.environ.get(variable):
                os.environ[variable] = self._start(kind)
                if kind is Redis:
                    os.environ[STARTED_HERE] = os.environ[variable]
        atexit.register(self.stop)  # not a hook of pytest: a mistyped option ends the session before any hook is called
        take_redis_database(os.environ.get("PYTEST_XDIST_WORKER", ""))

    def stop(self) -> None:
        """Stop the servers that this process started, and remove their data."""
        if self.owner != os.getpid():
            return  # a copy that a test forked
        for server in reversed(self.servers):
            server.child.stop()
        if self.directory is not None:
            self.directory.remove_sockets()
            shutil.rmtree(self.directory.path)

    def _start(self, kind: type[Postgres | Redis]) -> str:
        if self.directory is None:
            self.directory = DataDirectory(Path(tempfile.mkdtemp(prefix="drivecert-tests-")), durable=False)
            self.directory.create()
        server = kind(self.directory)
        self.servers.append(server)
        server.start()
        return server.url


def take_redis_database(worker: str) -> None:
    """Give each xdist worker its own Redis database: gw0 uses 1, gw1 uses 2; the controller uses 0."""
    url = os.environ.get(STARTED_HERE)
    if not url or not worker:
        return
    number = int(worker.removeprefix("gw")) + 1
    if number >= REDIS_DATABASES:
        raise ValueError(f"pytest -n: at most {REDIS_DATABASES - 1} workers share one Redis, got {worker}")
    own_url = re.sub(r"virtual_host=\d+", f"virtual_host={number}", url)
    os.environ["REDIS_URL"] = own_url
    # A worker inherits the name of the settings, so pytest-django reads them before this function is called.
    if settings.configured:
        settings.REDIS_URL = settings.CELERY_BROKER_URL = own_url
