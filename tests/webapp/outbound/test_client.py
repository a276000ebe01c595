"""Requests to addresses of users: TLS with the name, the address that was checked, and limits of time and bytes."""

import socket
import time

import pytest

from tests.webapp.outbound.receiver import LOOPBACK, drip, make_certificate, receiving, reply
from webapp.outbound.client import Failure, Limits, OutboundError, send


@pytest.fixture
def certificate(tmp_path, settings):
    authority, own = make_certificate(tmp_path)
    settings.OUTBOUND_CA_FILE = str(authority)
    settings.OUTBOUND_ALLOWED_NETWORKS = LOOPBACK
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
    assert (path, headers["X-Id"], headers["Host"], body) == ("/hook?a=1", "7", f"localhost:{receiver.port}", b"{}")
    assert (answer.status, answer.body, answer.headers["x-note"], answer.is_cut) == (202, b"taken", "a", False)


@pytest.mark.parametrize("networks", [[], LOOPBACK])
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
    "[::]", "[fe80::1]", "[fc00::1]", "[::ffff:127.0.0.1]", "[::ffff:a9fe:a9fe]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[ff02::1]",
    "2130706433", "0x7f.1", "localhost",
])  # fmt: skip
def test_no_address_of_an_internal_network_is_reached_however_it_is_written(settings, host):
    settings.OUTBOUND_ALLOWED_NETWORKS = []
    assert failure_of("POST", f"https://{host}/") in {Failure.FORBIDDEN_ADDRESS, Failure.UNKNOWN_NAME}


def test_a_name_that_has_another_address_a_moment_later_reaches_the_address_that_was_checked(certificate, monkeypatch):
    answers = iter([["127.0.0.9"], ["127.0.0.1"]])

    def resolve(host, port, **_):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in next(answers)]

    with receiving(certificate, "127.0.0.9") as receiver:
        monkeypatch.setattr(socket, "getaddrinfo", resolve)
        assert send("POST", receiver.url()).status == 204
    assert next(answers) == ["127.0.0.1"]  # it was resolved once


def test_a_name_with_one_internal_address_is_refused(settings, monkeypatch):
    settings.OUTBOUND_ALLOWED_NETWORKS = []
    both = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443)) for address in ("8.8.8.8", "10.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: both)
    assert failure_of("POST", "https://rebound.example/") == Failure.FORBIDDEN_ADDRESS


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
        receiver.respond = lambda handler: reply(handler, 302, Location=receiver.url())
        assert send("POST", receiver.url()).status == 302
    assert len(receiver.requests) == 1


@pytest.mark.parametrize("slow", [lambda handler: drip(handler, 0.05), lambda handler: time.sleep(3)])
def test_a_slow_response_ends_at_the_limit_of_time(certificate, slow):
    with receiving(certificate) as receiver:
        receiver.respond = slow
        began = time.monotonic()
        assert failure_of("POST", receiver.url(), limits=Limits(total_s=0.5)) == Failure.TIMEOUT
        assert time.monotonic() - began < 2.5


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
    settings.PRODUCTION, settings.OUTBOUND_ALLOWED_NETWORKS = is_production, LOOPBACK
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert failure_of("POST", f"http://127.0.0.1:{port}/") == failure


def test_a_response_that_is_no_http_is_reported(settings):
    settings.OUTBOUND_ALLOWED_NETWORKS = LOOPBACK
    with receiving() as receiver:
        receiver.respond = lambda handler: handler.wfile.write(b"\0\0 not http\r\n\r\n")
        assert failure_of("POST", receiver.url("http", "127.0.0.1")) == Failure.NO_HTTP
