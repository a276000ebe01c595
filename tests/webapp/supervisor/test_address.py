import gc
import socket
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from webapp.supervisor.address import Address
from webapp.supervisor.errors import CannotStartError


@pytest.fixture
def listener():
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as web servers do
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server


def test_a_port_with_a_listener_is_rejected(listener):
    port = listener.getsockname()[1]
    with pytest.raises(CannotStartError, match=rf"port {port} on 127\.0\.0\.1 cannot be used.*PORT={port + 2}"):
        Address("127.0.0.1", port).check_free()


def test_the_next_free_address_is_another_port_of_the_host(listener):
    port = listener.getsockname()[1]
    before = Address("127.0.0.1", port - 1).next_free()
    assert before.port not in {port - 1, port}
    before.check_free()


def test_the_next_free_address_is_the_next_port_if_nobody_listens_there(listener):
    port = listener.getsockname()[1] + 1
    listener.close()
    assert Address("127.0.0.1", port - 2).next_free() == Address("127.0.0.1", port - 1)


def test_a_port_with_only_closing_connections_is_free(listener):
    port = listener.getsockname()[1]
    with socket.create_connection(("127.0.0.1", port)) as client:
        accepted, _ = listener.accept()
        accepted.close()  # the server closes first: its side stays in TIME_WAIT
        client.recv(1)
    listener.close()
    Address("127.0.0.1", port).check_free()


def test_a_host_that_is_not_an_address_of_this_machine_is_rejected():
    with pytest.raises(CannotStartError, match="cannot be used"):
        Address("192.0.2.1", 8000).check_free()


@pytest.mark.parametrize(
    ("host", "is_of_this_machine"),
    [("127.0.0.1", True), ("127.0.0.9", True), ("::1", True), ("localhost", True), ("::", False), ("10.0.0.1", False)],
)
def test_an_address_of_this_machine_is_recognised(host, is_of_this_machine):
    assert Address(host, 8000).is_of_this_machine is is_of_this_machine


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8000"),
        ("0.0.0.0", "http://127.0.0.1:8000"),  # noqa: S104 - binds nothing
        ("::", "http://[::1]:8000"),
        ("::1", "http://[::1]:8000"),
        ("register.example", "http://register.example:8000"),
    ],
)
def test_the_url_is_one_that_a_browser_here_can_open(host, url):
    assert Address(host, 8000).url == url


@pytest.mark.parametrize(
    ("host", "url"),
    [("127.0.0.1", "http://localhost:8000"), ("::1", "http://[::1]:8000"), ("127.0.0.10", "http://127.0.0.10:8000")],
)
def test_the_shown_url_has_the_domain_name_that_passkeys_need(host, url):
    assert Address(host, 8000).shown_url == url


def test_an_address_comes_from_the_environment(monkeypatch):
    monkeypatch.setenv("HOST", "::1")
    monkeypatch.setenv("PORT", "8123")
    assert Address.from_environment() == Address("::1", 8123)


def test_only_this_machine_is_served_by_default(monkeypatch):
    monkeypatch.delenv("HOST", raising=False)
    monkeypatch.delenv("PORT", raising=False)
    assert Address.from_environment() == Address("127.0.0.1", 8000)


def test_an_address_without_a_server_gives_status_0(listener):
    port = listener.getsockname()[1]
    listener.close()
    assert Address("127.0.0.1", port).get("/readyz")[0] == 0


class NotReady(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(503)
        self.end_headers()
        self.wfile.write(b"no database")

    def log_message(self, format, *args):
        """Print nothing."""


def test_an_error_response_gives_its_status_and_text():
    with HTTPServer(("127.0.0.1", 0), NotReady) as server:
        answering = Thread(target=server.handle_request)
        answering.start()
        response = Address("127.0.0.1", server.server_port).get("/readyz")
        answering.join()
    gc.collect()  # Python 3.14 warns of a response that was not closed
    assert response == (503, "no database")
