"""Only addresses of the public Internet may be contacted, however they are written."""

from ipaddress import IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis.strategies import ip_addresses

from penstock.kernel.addresses import embedded_ipv4, off_limits

PUBLIC = ["1.1.1.1", "8.8.8.8", "93.184.215.14", "172.15.0.1", "172.32.0.1", "192.0.1.1"]
PUBLIC_V6 = ["2606:4700::1111", "2a00:1450:4001::1", "2620:fe::fe", "2001:4860:4860::8888"]
FORBIDDEN = {
    "0.0.0.0": "unspecified",
    "0.255.255.255": "unspecified",
    "10.0.0.0": "private",
    "10.255.255.255": "private",
    "100.64.0.0": "private",
    "100.127.255.255": "private",
    "100.100.100.200": "metadata",
    "127.0.0.1": "loopback",
    "127.255.255.255": "loopback",
    "168.63.129.16": "metadata",
    "169.254.0.1": "link-local",
    "169.254.169.254": "metadata",
    "172.16.0.0": "private",
    "172.31.255.255": "private",
    "192.0.0.1": "reserved",
    "192.0.0.192": "metadata",
    "192.0.2.1": "documentation",
    "192.88.99.1": "reserved",
    "192.168.0.0": "private",
    "198.18.0.1": "reserved",
    "198.19.255.255": "reserved",
    "198.51.100.1": "documentation",
    "203.0.113.1": "documentation",
    "224.0.0.1": "multicast",
    "240.0.0.1": "reserved",
    "255.255.255.255": "reserved",
    "::": "unspecified",
    "::1": "loopback",
    "fe80::1": "link-local",
    "fe80::1%eth0": "link-local",
    "2606:4700::1111%eth0": "link-local",
    "fec0::1": "private",
    "fc00::1": "private",
    "fd00:ec2::254": "private",
    "ff02::1": "multicast",
    "100::1": "reserved",
    "64:ff9b:1::7f00:1": "private",
    "2001::1": "reserved",
    "2001:db8::1": "documentation",
    "2002:7f00:1::": "reserved",
    "3fff::1": "documentation",
    "5f00::1": "reserved",
    "4000::1": "reserved",
}
EMBEDDING = ["::ffff:{}", "::{}", "::ffff:0:{}", "64:ff9b::{}"]


@pytest.mark.parametrize("address", PUBLIC + PUBLIC_V6)
def test_a_public_address_may_be_contacted(address: str) -> None:
    assert off_limits(ip_address(address)) is None


@pytest.mark.parametrize(("address", "rule"), FORBIDDEN.items())
def test_any_other_address_is_off_limits(address: str, rule: str) -> None:
    assert off_limits(ip_address(address)) == rule


@pytest.mark.parametrize("form", EMBEDDING)
@pytest.mark.parametrize(
    ("hidden", "rule"),
    [("127.0.0.1", "loopback"), ("10.1.2.3", "private"), ("169.254.169.254", "metadata")],
)
def test_an_ipv4_hidden_in_an_ipv6_is_found(form: str, hidden: str, rule: str) -> None:
    address = IPv6Address(form.format(hidden))

    assert str(embedded_ipv4(address)) == hidden
    assert off_limits(address) == rule


@given(ip_addresses(v=4))
def test_hiding_an_ipv4_changes_nothing(address: object) -> None:
    mapped = IPv6Address(f"::ffff:{address}")

    assert off_limits(mapped) == off_limits(ip_address(str(address)))


@given(ip_addresses())
def test_what_python_calls_not_global_is_off_limits(address: object) -> None:
    """Python's own list lets more through than ours, and never less."""
    parsed = ip_address(str(address))

    if off_limits(parsed) is None and embedded_ipv4_of(parsed) is None:
        assert parsed.is_global
        assert not parsed.is_multicast


def embedded_ipv4_of(address: object) -> object:
    return embedded_ipv4(address) if isinstance(address, IPv6Address) else None
