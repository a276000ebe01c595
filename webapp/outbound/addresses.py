"""The addresses that the register may connect to: those of the public internet, and networks of the operator."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from django.conf import settings

NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052: the last 32 bits are an IPv4 address
# Relays decide where packets to these networks go: 6to4, Teredo, and the relays of 6to4.
RELAYED = (IPv6Network("2002::/16"), IPv6Network("2001::/32"), IPv4Network("192.88.99.0/24"))
Address = IPv4Address | IPv6Address


def is_allowed(text: str) -> bool:
    """Return whether the register may connect to an address.

    The rules of an IPv4 address also apply to the IPv6 addresses that mean it: mapped ones, and those of NAT64.

    >>> [is_allowed(each) for each in ("8.8.8.8", "10.0.0.1", "127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a00:1")]
    [True, False, False, False, False]
    """
    address = _without_translation(ip_address(text.partition("%")[0]))
    if any(address in network for network in settings.OUTBOUND_ALLOWED_NETWORKS):
        return True
    return address.is_global and not _is_special(address)


def _is_special(address: Address) -> bool:
    """Return whether an address is in a network that `is_global` includes although no host of the internet has it."""
    is_site_local = isinstance(address, IPv6Address) and address.is_site_local
    is_relayed = any(address in network for network in RELAYED)
    return address.is_multicast or address.is_reserved or is_site_local or is_relayed


def _without_translation(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 address means, or the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address
