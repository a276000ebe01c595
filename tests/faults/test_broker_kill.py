"""kill -9 of the broker under a busy worker: the same worker goes on, and takes the next message."""

import os
import secrets
import socket
import subprocess
import threading

import pytest

from tests.register import GIVEN_BY_THE_SESSION, ROOT, wait_for
from webapp.celery import HEARTBEAT_KEY, PARTS, app
from webapp.deployment.servers import WITHOUT_CHECKS, WORKER, command_of
from webapp.embedded import Redis
from webapp.supervisor.data_directory import DataDirectory

pytestmark = pytest.mark.faults
TASK = "monitoring.count"
PROCESSES, WAITING = 2, 3  # fewer messages than a worker fetches ahead, so that it also waits for more of them
PATIENCE_S = 90
UNACKNOWLEDGED = "unacked"  # the key of kombu


class SilentDatabase:
    """A server that accepts connections and answers none: each task that needs the database waits for it."""

    def __init__(self, directory):
        self.directory, self.clients = directory, []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(directory / ".s.PGSQL.5432"))
        self.listener.listen()
        self.thread = threading.Thread(target=self._accept)
        self.thread.start()

    @property
    def url(self):
        return f"postgresql://drivecert:unused@/drivecert?host={self.directory}"

    def _accept(self):
        while True:
            try:
                self.clients.append(self.listener.accept()[0])
            except OSError:
                return

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        for each in (self.listener, *self.clients):
            each.close()


@pytest.fixture
def database(tmp_path_factory):
    database = SilentDatabase(tmp_path_factory.mktemp("d"))
    yield database
    database.close()


@pytest.fixture
def directory(tmp_path):
    directory = DataDirectory(tmp_path / "var", durable=False)
    directory.create()
    yield directory
    directory.remove_sockets()


@pytest.fixture
def broker(directory):
    broker = Redis(directory)
    broker.start()
    yield broker
    broker.child.stop()


@pytest.fixture
def log(tmp_path):
    return tmp_path / "worker.log"


@pytest.fixture
def worker(broker, database, directory, log, settings):
    settings.WORKER_PROCESSES = PROCESSES
    inherited = {name: value for name, value in os.environ.items() if name not in GIVEN_BY_THE_SESSION}
    own = {"DATABASE_URL": database.url, "REDIS_URL": broker.url, "DRIVECERT_DATA": str(directory.path)}
    own |= {"SECRET_KEY": secrets.token_hex(), "DJANGO_SETTINGS_MODULE": "webapp.settings"}
    with log.open("w") as output:
        environment = inherited | WITHOUT_CHECKS | own
        process = subprocess.Popen(command_of(WORKER), cwd=ROOT, env=environment, stdout=output, stderr=output)
    yield process
    process.kill()
    process.wait()


def test_a_worker_with_unacknowledged_messages_survives_the_broker(worker, broker, database, log):
    with app.connection_for_write(broker.url) as connection:
        redis = connection.channel().client

        def is_heard():
            assert worker.poll() is None, log.read_text()
            return redis.exists(HEARTBEAT_KEY.format(name=PARTS[WORKER]))

        wait_for(is_heard, log.read_text, PATIENCE_S)
        for _ in range(PROCESSES + WAITING):
            app.send_task(TASK, connection=connection)
        wait_for(lambda: len(database.clients) >= PROCESSES, log.read_text, PATIENCE_S)
        wait_for(lambda: redis.hlen(UNACKNOWLEDGED) > 0, log.read_text, PATIENCE_S)
        broker.child.process.kill()
        broker.child.process.wait()
        broker.start()
        assert redis.hlen(UNACKNOWLEDGED) == 0  # it is empty, as after each of its starts
        wait_for(is_heard, log.read_text, PATIENCE_S)
        app.send_task(TASK, connection=connection)
        wait_for(lambda: redis.llen(PARTS[WORKER]) == 0, log.read_text, PATIENCE_S)
