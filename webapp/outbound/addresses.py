"""The addresses that the register may connect to: those of the public internet, and networks of the operator."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from django.conf import settings

NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052: the last 32 bits are an IPv4 address
Address = IPv4Address | IPv6Address


def is_allowed(text: str) -> bool:
    """Return whether the register may connect to an address.

    An IPv6 address that stands for an IPv4 one is as that one.

    >>> [is_allowed(each) for each in ("8.8.8.8", "10.0.0.1", "127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a00:1")]
    [True, False, False, False, False]
    """
    address = _meant(ip_address(text.partition("%")[0]))
    if any(address in network for network in settings.OUTBOUND_ALLOWED_NETWORKS):
        return True
    # is_global includes multicast, and reserved networks of IPv6.
    return address.is_global and not (address.is_multicast or address.is_reserved)


def _meant(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 one stands for: mapped, 6to4, Teredo or NAT64."""
    if isinstance(address, IPv4Address):
        return address
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else address)
