"""A snapshot directory for one test, and a WSGI application that uses it as the web server does."""

import io
import os
import time

import pytest
from django.db import OperationalError
from django.test.client import Client

from webapp.register.snapshots import database_down, rendering, serving, store, updates
from webapp.register.snapshots.serving import SnapshotMiddleware
from webapp.register.syndication.public_addresses import EVERYTHING, public_addresses


@pytest.fixture(autouse=True)
def root(tmp_path, settings, monkeypatch):
    """Give each test a snapshot directory of its own."""
    settings.SNAPSHOT_DIR = tmp_path / "snapshots"
    monkeypatch.setattr(serving, "POLL_S", 0)
    return settings.SNAPSHOT_DIR


@pytest.fixture
def make_old(root):
    """Return a function that makes the last check look old, as if no worker ran."""

    def make():
        past = time.time() - serving.TRUSTED_S - 5
        os.utime(root / store.COMPARED_AT, (past, past))

    return make


class Answer:
    def __init__(self, status, headers, content):
        self.status, self.content = int(status[:3]), content
        self.headers = {name.lower(): value for name, value in headers}
        self.request_id = self.headers.pop("x-request-id", "")  # differs for each request that Django answers

    @property
    def is_from_snapshot(self):
        return "x-drivecert-snapshot" in self.headers


def django_application(environ, start_response, change_response=None):
    """Django without the signals that would close the test's connection."""
    response = rendering.respond(environ)
    if change_response is not None:
        change_response(response)
    start_response(f"{response.status_code} x", list(response.items()))
    return response


class Site:
    """The application of the web server, with requests as a browser sends them."""

    def __init__(self, root):
        self.reached_django = []
        self.change_response = None  # called with each response of Django
        self.application = SnapshotMiddleware(self._django, root)

    def _django(self, environ, start_response):
        self.reached_django.append(serving.address_of(environ))
        return django_application(environ, start_response, self.change_response)

    def get(self, path, method="GET", **headers):
        started = []
        path_info, _, query = path.partition("?")
        environ = rendering._environ("/") | {"PATH_INFO": path_info, "QUERY_STRING": query, "REQUEST_METHOD": method}
        environ |= {"wsgi.input": io.BytesIO()} | headers
        answer = self.application(environ, lambda status, headers, *_: started.append((status, headers)))
        content = b"".join(answer)
        assert len(started) == 1
        return Answer(*started[0], content)


@pytest.fixture
def site(root):
    return Site(root)


@pytest.fixture
def snapshot_of(make_published_run, root):
    """A run in a register with a snapshot."""
    run = make_published_run()
    updates.update_snapshot()
    return run


@pytest.fixture
def live():
    """Return a function that sends a request to Django itself."""
    return lambda path: Client().get(path)


FEW = {"/", "/robots.txt", "/drives/nvme-flash/"}


@pytest.fixture
def few_addresses(monkeypatch):
    """Limit snapshots to the pages of products and three others: storage does not depend on the other pages."""

    def of_products_and_few():
        return (each for each in public_addresses() if each.group != EVERYTHING or each.path in FEW)

    monkeypatch.setattr(updates, "public_addresses", of_products_and_few)


@pytest.fixture
def database_away(monkeypatch):
    """Make every query fail from now on, as if the database server were stopped."""

    def fail(*_, **__):
        raise OperationalError("connection refused")

    monkeypatch.setattr("django.db.models.sql.compiler.SQLCompiler.execute_sql", fail)
    monkeypatch.setattr(database_down, "ask_database", lambda: "does not answer")


def entry_bytes(root, path, place=0):
    snapshot = store.current(root)
    entry = snapshot.entries[path]
    start = sum(entry.sizes[:place])
    return (snapshot.directory / entry.file).read_bytes()[start : start + entry.sizes[place]]
