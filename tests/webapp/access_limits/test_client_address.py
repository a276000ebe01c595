"""The client's address: only what own proxies wrote is trusted."""

from ipaddress import ip_network

import pytest
from django.test import RequestFactory

from webapp.access_limits.client_address import UNKNOWN, client_address, client_network

PEER = "192.0.2.1"
FORWARDED = "203.0.113.9, 198.51.100.7, 198.51.100.8"


def request_from(peer=PEER, forwarded=None):
    headers = {} if forwarded is None else {"HTTP_X_FORWARDED_FOR": forwarded}
    return RequestFactory().get("/", REMOTE_ADDR=peer, **headers)


@pytest.mark.parametrize(
    ("count", "address"),
    [(0, PEER), (1, "198.51.100.8"), (2, "198.51.100.7"), (3, "203.0.113.9"), (4, PEER), (-1, PEER)],
)
def test_the_address_is_the_one_that_the_outermost_own_proxy_saw(settings, count, address):
    settings.TRUSTED_PROXY_COUNT = count
    assert client_address(request_from(forwarded=FORWARDED)) == address


def test_without_own_proxies_a_forged_header_changes_nothing():
    assert client_address(request_from(forwarded="203.0.113.9")) == client_address(request_from()) == PEER


@pytest.mark.parametrize("count", [1, 2])
def test_what_a_client_wrote_itself_is_left_of_the_trusted_part(settings, count):
    settings.TRUSTED_PROXY_COUNT = count
    own, forged = "203.0.113.9, 198.51.100.7", "10.0.0.1, 10.0.0.2, 203.0.113.9, 198.51.100.7"
    assert client_address(request_from(forwarded=own)) == client_address(request_from(forwarded=forged))


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        (PEER, "203.0.113.9", PEER),  # no own proxy
        ("10.0.0.1", None, "10.0.0.1"),
        ("10.0.0.1", "203.0.113.9", "203.0.113.9"),
        ("10.0.0.1", "1.1.1.1, 203.0.113.9", "203.0.113.9"),
        ("10.0.0.1", "1.1.1.1, 203.0.113.9, 10.255.255.255", "203.0.113.9"),
        ("10.0.0.1", "1.1.1.1, 203.0.113.9, 11.0.0.0", "11.0.0.0"),
        ("10.0.0.1", "203.0.113.9, 10.9.9.9, unknown", "10.0.0.1"),
        ("10.0.0.1", "203.0.113.9, unknown, 10.9.9.9", "10.9.9.9"),
        ("10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"),  # a client in the own network
        ("::ffff:10.0.0.1", "203.0.113.9", "203.0.113.9"),
        ("fd00::1", "2001:db8::1", "2001:db8::1"),
        ("fe00::1", "2001:db8::1", "fe00::1"),
        ("", "203.0.113.9", UNKNOWN),
    ],
)
def test_the_client_is_the_first_from_the_right_that_is_no_own_proxy(settings, peer, forwarded, address):
    settings.TRUSTED_PROXIES = [ip_network("10.0.0.0/8"), ip_network("fd00::/8")]
    assert client_address(request_from(peer, forwarded)) == address


@pytest.mark.parametrize("forwarded", [None, "", " ", "unknown", "_hidden", "1.2.3", "999.1.1.1", "a" * 10_000])
def test_a_header_without_an_address_leaves_the_peer(settings, forwarded):
    settings.TRUSTED_PROXY_COUNT = 1
    assert client_address(request_from(forwarded=forwarded)) == PEER


@pytest.mark.parametrize("peer", ["", "unix:", "nobody"])
def test_a_connection_without_an_address_is_unknown(peer):
    assert client_address(request_from(peer)) == client_network(request_from(peer)) == UNKNOWN


@pytest.mark.parametrize(
    ("peer", "network"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("192.0.2.2", "192.0.2.2"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
        ("2001:db8:0:1:ffff:ffff:ffff:ffff", "2001:db8:0:1::/64"),
        ("2001:db8:0:2::", "2001:db8:0:2::/64"),
        ("[2001:DB8:0:1::1]:4711", "2001:db8:0:1::/64"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("fe80::1%eth0", "fe80::/64"),
    ],
)
def test_limits_count_an_ipv4_address_and_a_64_network_of_ipv6(peer, network):
    assert client_network(request_from(peer)) == network
