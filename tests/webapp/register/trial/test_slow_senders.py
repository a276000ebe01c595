"""Visitors whose upload does not arrive, through the real web server: it always answers others."""

import threading
from contextlib import ExitStack
from itertools import repeat

import pytest

from results.evidence.scratch import PREFIX
from tests.results.builders import wait_for
from tests.web_server import read_until, web_server
from webapp.register.trial.readings import UPLOADS_OF_PROCESS

pytestmark = [pytest.mark.django_db, pytest.mark.long]

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
HEAD = (
    "POST /try/ HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: {address}\r\nContent-Length: 10000000\r\n"
    "Content-Type: multipart/form-data; boundary=b\r\n\r\n"
)
PART = b'--b\r\nContent-Disposition: form-data; name="log"; filename="load.log"\r\n\r\n'
IMPATIENT = "tests.impatient_wsgi:application"


def head(address="192.0.2.1"):
    return HEAD.format(address=address).encode()


def drip(client, end):
    """Send a piece every few milliseconds, until the event is set or the server ends the connection."""
    try:
        for piece in repeat(b"x" * 1000):
            client.sendall(piece)
            if end.wait(0.01):
                return
    except OSError:
        return


def test_a_slow_sender_is_refused_and_the_server_answers_others(tmp_path):
    end = threading.Event()
    with web_server(tmp_path, IMPATIENT, threads=1) as server, server.connect() as client:
        client.sendall(head() + PART)
        sender = threading.Thread(target=drip, args=(client, end))
        sender.start()
        try:
            assert read_until(client, '<p class="id">too-slow').startswith("HTTP/1.1 400 ")
            assert server.status_of(HEALTH) == "HTTP/1.1 200 OK"
        finally:
            end.set()
            sender.join()
        assert list(tmp_path.glob(f"{PREFIX}*")) == []


def uploads_count(directory):
    return len(list(directory.glob(f"{PREFIX}*/log")))


def test_clients_that_send_nothing_leave_threads_for_others(tmp_path):
    addresses = [f"192.0.2.{number}" for number in range(UPLOADS_OF_PROCESS)]
    with web_server(tmp_path, threads=UPLOADS_OF_PROCESS + 1, TRUSTED_PROXY_COUNT="1") as server, ExitStack() as stack:
        clients = [stack.enter_context(server.connect()) for _ in addresses]
        for client, address in zip(clients, addresses, strict=True):
            client.sendall(head(address) + PART + b"x" * 100_000)
        wait_for(lambda: uploads_count(tmp_path) == UPLOADS_OF_PROCESS)
        assert server.status_of(HEALTH) == "HTTP/1.1 200 OK"
        with server.connect() as refused:
            refused.sendall(head("198.51.100.1"))
            assert read_until(refused, '<p class="id">uploads-busy').startswith("HTTP/1.1 429 ")
        clients[0].close()
        wait_for(lambda: uploads_count(tmp_path) == UPLOADS_OF_PROCESS - 1)
        with server.connect() as next_client:
            next_client.sendall(head("198.51.100.1") + PART + b"x" * 100_000)
            wait_for(lambda: uploads_count(tmp_path) == UPLOADS_OF_PROCESS)


def test_a_third_upload_of_a_client_is_refused_unread(tmp_path):
    with web_server(tmp_path) as server, server.connect() as first, server.connect() as second:
        for client in (first, second):
            client.sendall(head() + PART + b"x" * 100_000)
        wait_for(lambda: uploads_count(tmp_path) == 2)
        with server.connect() as third:
            third.sendall(head())
            assert read_until(third, '<p class="id">too-many-uploads').startswith("HTTP/1.1 429 ")
