"""Requests to addresses of users: TLS with the name, the address that was checked, and limits of time and bytes."""

import socket
import threading
import time
from ipaddress import ip_network

import pytest

from tests.webapp.outbound.receiver import (
    ADDRESS,
    NAME,
    OTHER_ADDRESS,
    RECEIVER_NETWORK,
    Resolver,
    drip,
    make_certificate,
    receiving,
    reply,
)
from webapp.outbound import client
from webapp.outbound.client import Failure, Limits, OutboundError, send


@pytest.fixture
def resolver(monkeypatch):
    return Resolver(monkeypatch)


@pytest.fixture
def certificate(tmp_path, settings, resolver):
    authority, own = make_certificate(tmp_path)
    settings.OUTBOUND_CA_FILE = str(authority)
    settings.OUTBOUND_ALLOWED_NETWORKS = RECEIVER_NETWORK
    return own


def failure_of(*arguments, **keywords):
    with pytest.raises(OutboundError) as refused:
        send(*arguments, **keywords)
    return refused.value.failure


def test_a_request_arrives_with_its_body_and_headers_and_the_response_returns(certificate):
    with receiving(certificate) as receiver:
        receiver.respond = lambda handler: reply(handler, 202, b"taken", **{"X-Note": "a"})
        answer = send("POST", receiver.url() + "?a=1", b"{}", {"X-Id": "7"})
    ((path, headers, body),) = receiver.requests
    assert (path, headers["X-Id"], headers["Host"], body) == ("/hook?a=1", "7", f"{NAME}:{receiver.port}", b"{}")
    assert (answer.status, answer.body, answer.headers["x-note"], answer.is_cut) == (202, b"taken", "a", False)


def test_a_get_request_has_no_body(certificate):
    with receiving(certificate) as receiver:
        receiver.respond = lambda handler: reply(handler, 200, handler.command.encode())
        assert send("GET", receiver.url()).body == b"GET"
    ((_, headers, body),) = receiver.requests
    assert ("Content-Length" in headers, body) == (False, b"")


def test_a_host_that_does_not_use_tls_is_refused(certificate):
    with receiving() as receiver:
        assert failure_of("POST", receiver.url()) == Failure.TLS


@pytest.mark.parametrize("networks", [[], RECEIVER_NETWORK])
def test_only_listed_networks_that_are_not_public_are_reached(certificate, settings, networks):
    settings.OUTBOUND_ALLOWED_NETWORKS = networks
    with receiving(certificate) as receiver:
        if networks:
            assert send("POST", receiver.url()).status == 204
        else:
            assert failure_of("POST", receiver.url()) == Failure.FORBIDDEN_ADDRESS
    assert len(receiver.requests) == len(networks)


@pytest.mark.parametrize("host", [
    "127.0.0.1", "10.0.0.1", "169.254.169.254", "192.168.1.1", "100.64.0.1", "0.0.0.1", "224.0.0.1", "[::1]",
    "[::]", "[fe80::1]", "[fc00::1]", "[fec0::1]", "[::ffff:127.0.0.1]", "[::ffff:a9fe:a9fe]", "[::7f00:1]",
    "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2002:808:808::1]", "[2001:0:808:808::1]",
    "[2001:0:4136:e378:8000:63bf:80ff:fffe]", "[ff02::1]", "192.88.99.1", "198.18.0.1", "240.0.0.1", "255.255.255.255",
    "2130706433", "0x7f.1", "localhost",
])  # fmt: skip
def test_no_address_of_an_internal_network_is_reached_however_it_is_written(settings, host):
    settings.OUTBOUND_ALLOWED_NETWORKS = []
    assert failure_of("POST", f"https://{host}/") in {Failure.FORBIDDEN_ADDRESS, Failure.UNKNOWN_NAME}


def test_a_name_that_has_another_address_a_moment_later_reaches_the_address_that_was_checked(certificate, resolver):
    resolver.found[NAME] = [[ADDRESS], [OTHER_ADDRESS]]
    with receiving(certificate) as receiver:
        assert send("POST", receiver.url()).status == 204
        assert resolver.questions == [NAME]  # once
        assert failure_of("POST", receiver.url()) == Failure.FORBIDDEN_ADDRESS  # the next request resolves it again
    assert len(receiver.requests) == 1


def test_a_name_with_one_internal_address_is_refused(settings, resolver):
    settings.OUTBOUND_ALLOWED_NETWORKS = []
    resolver.found["rebound.example"] = [["8.8.8.8", "10.0.0.1"]]
    assert failure_of("POST", "https://rebound.example/") == Failure.FORBIDDEN_ADDRESS


def test_the_search_for_a_name_ends_at_the_limit_of_time(monkeypatch):
    ended = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: ended.wait(60) and [])
    assert failure_of("POST", "https://slow.example/", limits=Limits(total_s=0.2)) == Failure.TIMEOUT
    ended.set()


def test_a_name_with_many_silent_addresses_ends_at_the_limit_of_time(settings, resolver):
    with socket.create_server((ADDRESS, 0), backlog=0) as silent:
        port = silent.getsockname()[1]
        settings.OUTBOUND_ALLOWED_NETWORKS, resolver.found[NAME] = RECEIVER_NETWORK, [[ADDRESS] * 50]
        began = time.monotonic()
        limits = Limits(connect_s=0.2, total_s=0.5)  # the server accepts nothing: the handshake gets no response
        assert failure_of("POST", f"https://{NAME}:{port}/", limits=limits) == Failure.TIMEOUT
        assert time.monotonic() - began < 5


def test_the_second_address_of_a_name_is_tried_if_the_first_one_refuses(certificate, settings, resolver):
    settings.OUTBOUND_ALLOWED_NETWORKS = [*RECEIVER_NETWORK, ip_network("::1/128")]
    resolver.found[NAME] = [["::1", ADDRESS]]
    with receiving(certificate) as receiver:
        assert send("POST", receiver.url()).status == 204


def test_a_certificate_of_another_name_or_of_an_unknown_authority_is_refused(certificate, settings, tmp_path):
    (tmp_path / "other").mkdir()
    authority, other = make_certificate(tmp_path / "other", ["elsewhere.example"])
    with receiving(other) as receiver:
        assert failure_of("POST", receiver.url()) == Failure.TLS
        settings.OUTBOUND_CA_FILE = str(authority)
        assert failure_of("POST", receiver.url()) == Failure.TLS
    assert receiver.requests == []


def test_a_redirect_is_not_followed(certificate):
    with receiving(certificate) as receiver:
        receiver.respond = lambda handler: reply(handler, 302, Location="http://169.254.169.254/")
        assert send("POST", receiver.url()).status == 302
    assert len(receiver.requests) == 1


@pytest.mark.parametrize("slow", [lambda handler: drip(handler, 0.05), lambda handler: time.sleep(3)])
def test_a_slow_response_ends_at_the_limit_of_time(certificate, slow):
    with receiving(certificate) as receiver:
        receiver.respond = slow
        began = time.monotonic()
        assert failure_of("POST", receiver.url(), limits=Limits(total_s=0.5)) == Failure.TIMEOUT
        assert time.monotonic() - began < 2.5


def test_a_response_that_breaks_off_leaves_no_connection_open(certificate, monkeypatch):
    opened = []

    def open_and_note(*arguments):
        opened.append(open_connection(*arguments))
        return opened[-1]

    open_connection = client._open
    monkeypatch.setattr(client, "_open", open_and_note)
    with receiving(certificate) as receiver:
        receiver.respond = lambda handler: drip(handler, 0.05)
        with pytest.raises(OutboundError) as refused:  # the error refers to the response until it is gone itself
            send("POST", receiver.url(), limits=Limits(total_s=0.5))
    assert (refused.value.failure, [each.fileno() for each in opened]) == (Failure.TIMEOUT, [-1])


@pytest.mark.parametrize(("length", "is_cut"), [(100, False), (101, True)])
def test_a_long_response_ends_at_the_limit_of_bytes(certificate, length, is_cut):
    with receiving(certificate) as receiver:
        receiver.respond = lambda handler: reply(handler, 200, b"x" * length)
        answer = send("POST", receiver.url(), limits=Limits(bytes_max=100))
    assert (len(answer.body), answer.is_cut) == (100, is_cut)


@pytest.mark.parametrize("url", [
    "ftp://localhost/", "localhost", "https://", "https://user@localhost/", "https://localhost:0/",
    "https://localhost:99999/", "https://local host/", "https://localhost/\n", "https://\N{SNOWMAN}/", "file:///etc/passwd",
])  # fmt: skip
def test_an_invalid_address_is_refused(url):
    assert failure_of("POST", url) == Failure.INVALID_URL


@pytest.mark.parametrize(("is_production", "failure"), [(True, Failure.NOT_HTTPS), (False, Failure.UNREACHABLE)])
def test_https_is_required_under_production(settings, is_production, failure):
    settings.PRODUCTION, settings.OUTBOUND_ALLOWED_NETWORKS = is_production, RECEIVER_NETWORK
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert failure_of("POST", f"http://127.0.0.1:{port}/") == failure


def test_a_response_that_is_no_http_is_reported(settings):
    settings.OUTBOUND_ALLOWED_NETWORKS = RECEIVER_NETWORK
    with receiving() as receiver:
        receiver.respond = lambda handler: handler.wfile.write(b"\0\0 not http\r\n\r\n")
        assert failure_of("POST", receiver.url("http", "127.0.0.1")) == Failure.NO_HTTP
