"""Which addresses may be contacted: only those of the public Internet.

`ipaddress.is_global` is no guard: it lets through NAT64, 6to4, IPv4-compatible and other
ways to write a private IPv4 as an IPv6, and some documentation ranges.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

from penstock.core.urls import IpAddress

_IPV4_RULES = {
    "169.254.169.254/32": "metadata",
    "168.63.129.16/32": "metadata",
    "192.0.0.192/32": "metadata",
    "100.100.100.200/32": "metadata",
    "0.0.0.0/8": "unspecified",
    "10.0.0.0/8": "private",
    "100.64.0.0/10": "private",
    "127.0.0.0/8": "loopback",
    "169.254.0.0/16": "link-local",
    "172.16.0.0/12": "private",
    "192.0.0.0/24": "reserved",
    "192.0.2.0/24": "documentation",
    "192.88.99.0/24": "reserved",
    "192.168.0.0/16": "private",
    "198.18.0.0/15": "reserved",
    "198.51.100.0/24": "documentation",
    "203.0.113.0/24": "documentation",
    "224.0.0.0/4": "multicast",
    "240.0.0.0/4": "reserved",
}
_IPV6_RULES = {
    "::/128": "unspecified",
    "::1/128": "loopback",
    "fe80::/10": "link-local",
    "fec0::/10": "private",
    "fc00::/7": "private",
    "ff00::/8": "multicast",
    "64:ff9b:1::/48": "private",
    "2001::/23": "reserved",
    "2001:db8::/32": "documentation",
    "2002::/16": "reserved",
    "3fff::/20": "documentation",
}
_IPV4 = [(IPv4Network(text), rule) for text, rule in _IPV4_RULES.items()]
_IPV6 = [(IPv6Network(text), rule) for text, rule in _IPV6_RULES.items()]
_IPV6_GLOBAL = ip_network("2000::/3")
#: An IPv4 address stands in the last 32 bits of these: mapped, translated, compatible, NAT64.
_EMBEDDING = [
    IPv6Network(text) for text in ("::ffff:0:0/96", "::ffff:0:0:0/96", "::/96", "64:ff9b::/96")
]


def off_limits(address: IpAddress) -> str | None:
    """The rule that forbids an address, or None if it may be contacted."""
    if isinstance(address, IPv4Address):
        return next((rule for network, rule in _IPV4 if address in network), None)
    if address.scope_id is not None:
        return "link-local"
    for network, rule in _IPV6:
        if address in network:
            return rule
    if (hidden := embedded_ipv4(address)) is not None:
        return off_limits(hidden)
    return None if address in _IPV6_GLOBAL else "reserved"


def embedded_ipv4(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 address stands for, if it does."""
    if any(address in network for network in _EMBEDDING):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return None
