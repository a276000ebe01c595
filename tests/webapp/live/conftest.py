"""A lab with a token, and the real process of waiting clients on the database of the test."""

import json

import pytest
from django.db import connection
from django.utils import timezone

from runners.models import Dispatch
from tests.register import wait_for
from tests.results.builders import make_user
from tests.runners.fake_host import FakeHost
from tests.runners.lab import a_lab, connect, device, dispatch, in_state, new_dispatch, separate_evidence
from tests.web_server import PATIENCE_S, web_server
from webapp.accounts.tokens.rules import issue_token
from webapp.live.changes import NAME

__all__ = ["a_lab", "connect", "device", "dispatch", "in_state", "new_dispatch", "separate_evidence"]


@pytest.fixture
def fake():
    host = FakeHost()
    host.add_drive(drive_key="file:lab1:8:5")
    return host


@pytest.fixture
def token(transactional_db, a_lab):
    """Return the token of an operator of the lab, and its secret."""
    olga = make_user("olga", is_operator=True)
    olga.memberships.create(organisation=a_lab, role="owner")
    return issue_token(olga, a_lab, "script", ("order", "read-own"))


class Request:
    """A request of a client that may wait for its response."""

    def __init__(self, server, path, method="GET", **headers):
        self.socket = server.connect()
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost", "Connection: close"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.received = ""

    def until(self, text):
        """Return what was received, once it has a text."""
        while text not in self.received:
            chunk = self.socket.recv(64 * 1024)
            assert chunk, f"expected {text!r}, got the end after {self.received!r}"
            self.received += chunk.decode()
        return self.received

    def response(self):
        """Return status, headers and body, once the server has closed the connection."""
        with self.socket:
            while chunk := self.socket.recv(64 * 1024):
                self.received += chunk.decode()
        head, _, body = self.received.partition("\r\n\r\n")
        first, *lines = head.split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        return int(first.split()[1]), headers, body

    def close(self):
        self.socket.close()


class Live:
    """The process of waiting clients."""

    def __init__(self, server, secret):
        self.server, self.secret, self.requests = server, secret, []

    def get(self, path, **headers):
        """Start a request with the token."""
        request = Request(self.server, f"/api/v1/live/{path}", **{"Authorization": f"Bearer {self.secret}"} | headers)
        self.requests.append(request)
        return request

    def health(self):
        return json.loads(Request(self.server, "/healthz").response()[2])

    def wait_for_clients(self, count):
        """Wait until so many clients wait."""
        wait_for(lambda: self.health()["waiting"] == count, lambda: str(self.health()), PATIENCE_S)

    def wait_until_listening(self):
        wait_for(lambda: self.health()["listening"], lambda: str(self.health()), PATIENCE_S)

    def etag(self, path):
        """Return the ETag of the present state."""
        return self.get(path).response()[1]["etag"]


@pytest.fixture(scope="module")
def process(tmp_path_factory, django_db_setup):
    """Return the process of waiting clients, which outlives the rows of a test."""
    with web_server(tmp_path_factory.mktemp("live"), "webapp.asgi:application", interface="asgi") as server:
        yield server


@pytest.fixture
def live(process, token):
    """Return the process, for requests with a token."""
    live = Live(process, token[1])
    live.wait_until_listening()
    yield live
    for request in live.requests:
        request.close()
    live.wait_for_clients(0)


def change(dispatch, **columns):
    Dispatch.objects.filter(pk=dispatch.pk).update(**columns)


def note_poll(dispatch):
    """Write what every poll writes."""
    change(dispatch, heartbeat_at=timezone.now(), next_poll_at=timezone.now())


def listeners():
    """Return the backend processes of connections that listen for changes."""
    with connection.cursor() as cursor:
        found = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = %s"
        cursor.execute(found, [NAME])
        return [pid for (pid,) in cursor.fetchall()]
