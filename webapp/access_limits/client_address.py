"""The address of a client, and the network by which limits count it.

The peer of a connection is the only address that a client cannot choose. Behind proxies, the peer is the last proxy.
Each proxy appends the address of its own peer to X-Forwarded-For, so that the header is trustworthy only from its right
end, as far as there are own proxies. A client may have written everything to the left of that.

Pages, django-allauth (webapp/accounts/adapters.py), the API and the logs all ask here.
"""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest

IPV6_PREFIX = 64  # the smallest network that a provider assigns: its owner may use any of its 2^64 addresses
UNKNOWN = "unknown"  # of a connection without an address, such as a unix socket: all such clients share their limits

Address = IPv4Address | IPv6Address


def client_address(request: HttpRequest) -> str:
    """Return the address of the client, or UNKNOWN.

    With TRUSTED_PROXIES, it is the first address from the right that is not in these networks: of the peer, then of
    X-Forwarded-For. A text that is no address ends the search, and the client is then the proxy that received it.

    With TRUSTED_PROXY_COUNT = N, it is the Nth address from the right of X-Forwarded-For. If the header has fewer
    addresses, or text that is none, the request did not pass all proxies. The peer is then the client.
    """
    peer = _parse(request.META.get("REMOTE_ADDR", ""))
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
    address = _before_own_proxies(peer, forwarded) if settings.TRUSTED_PROXIES else _by_count(forwarded) or peer
    return UNKNOWN if address is None else str(address)


def client_network(request: HttpRequest) -> str:
    """Return the network by which limits count a client: its IPv4 address, or the /64 network of its IPv6 address."""
    address = client_address(request)
    if ":" not in address:
        return address
    return str(ip_network((address, IPV6_PREFIX), strict=False))


def _before_own_proxies(peer: Address | None, forwarded: list[str]) -> Address | None:
    address = peer
    for text in reversed(forwarded):
        if address is None or not any(address in network for network in settings.TRUSTED_PROXIES):
            break
        parsed = _parse(text)
        if parsed is None:
            break
        address = parsed
    return address


def _by_count(forwarded: list[str]) -> Address | None:
    count: int = settings.TRUSTED_PROXY_COUNT
    return _parse(forwarded[-count]) if 0 < count <= len(forwarded) else None


def _parse(text: str) -> Address | None:
    """Return an address as proxies write it, with or without a port; None for any other text.

    >>> [str(_parse(text)) for text in ("192.0.2.7:443", "[2001:db8::1]:443", "::ffff:192.0.2.7", "fe80::1%eth0", "me")]
    ['192.0.2.7', '2001:db8::1', '192.0.2.7', 'fe80::1', 'None']
    """
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
