"""Admission: the lists, the ports, the known hosts and the addresses that names lead to."""

import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.core.errors import AddressRefused, SettingsError
from penstock.core.urls import parse
from penstock.kernel.admission import Admission, Endpoint, SystemLookup
from penstock.kernel.settings import AdmissionSettings

PUBLIC = "93.184.215.14"


def leading_to(*addresses: str) -> Callable[[str], Awaitable[list[str]]]:
    async def lookup(host: str) -> list[str]:
        return list(addresses)

    return lookup


def admission(*addresses: str, **settings: Any) -> Admission:
    """With these settings, and every name leading to these addresses."""
    return Admission(AdmissionSettings(**settings), leading_to(*addresses))


def reason(guard: Admission, url: str) -> str | None:
    refused = guard.check(parse(url))
    return refused.reason if refused else None


# Lists


@pytest.mark.parametrize("listed", ["shop.example", "SHOP.example"])
@pytest.mark.parametrize("host", ["shop.example", "www.shop.example", "a.b.shop.example"])
def test_a_listed_domain_is_listed_with_all_its_hosts(listed: str, host: str) -> None:
    url = f"https://{host}/"

    assert reason(admission(deny=(listed,)), url) == "admission_deny_list"
    assert reason(admission(opt_out=(listed,)), url) == "admission_opt_out"
    assert reason(admission(allow=(listed,)), url) is None


def test_a_listed_host_is_not_its_whole_domain() -> None:
    guard = admission(deny=("www.shop.example",))

    assert reason(guard, "https://shop.example/") is None
    assert reason(guard, "https://notwww.shop.example/") is None


def test_what_is_not_on_the_allow_list_is_refused() -> None:
    guard = admission(allow=("shop.example",))

    assert reason(guard, "https://other.example/") == "admission_allow_list"
    assert reason(guard, "https://notshop.example/") == "admission_allow_list"


def test_an_opt_out_weighs_more_than_the_allow_list() -> None:
    guard = admission(allow=("shop.example",), opt_out=("shop.example",))

    assert reason(guard, "https://shop.example/") == "admission_opt_out"


def test_the_opt_out_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "opt-out.txt"
    file.write_text("# asked by mail\nShop.example  # on Monday\n\n", encoding="utf-8")

    guard = admission(opt_out_file=file)

    assert reason(guard, "https://www.shop.example/") == "admission_opt_out"
    assert reason(guard, "https://other.example/") is None


def test_an_opt_out_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="PENSTOCK_ADMISSION__OPT_OUT_FILE"):
        admission(opt_out_file=tmp_path / "missing")


# Ports


@pytest.mark.parametrize("port", [80, 443, 1024, 8080, 8443, 65535])
def test_ports_of_the_web_are_open(port: int) -> None:
    assert reason(admission(), f"http://shop.example:{port}/") is None


@pytest.mark.parametrize("port", [0, 1, 21, 22, 25, 79, 81, 442, 1023, 2049, 6000, 6667, 10080])
def test_ports_of_other_protocols_are_not(port: int) -> None:
    assert reason(admission(), f"http://shop.example:{port}/") == "admission_port"


def test_a_port_may_be_opened_on_purpose() -> None:
    assert reason(admission(extra_ports=[81]), "http://shop.example:81/") is None


# Known hosts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("127.0.0.1", Endpoint("127.0.0.1", 80)),
        ("127.0.0.1:8099", Endpoint("127.0.0.1", 8099)),
        ("::1", Endpoint("::1", 80)),
        ("[::1]:8099", Endpoint("::1", 8099)),
    ],
)
async def test_a_known_host_has_a_fixed_address(text: str, expected: Endpoint) -> None:
    guard = admission(known_hosts={"shop.example": text})

    assert await guard.endpoints("shop.example", 80) == [expected]
    assert reason(guard, "http://shop.example/") is None


@pytest.mark.parametrize("host", ["a.test", "b.a.test", "test"])
async def test_a_pattern_stands_for_all_names_below(host: str) -> None:
    guard = admission(PUBLIC, known_hosts={"*.test": "127.0.0.1:1"})

    assert await guard.endpoints(host, 80) == [Endpoint("127.0.0.1", 1)]


async def test_a_name_that_only_ends_alike_is_not_known() -> None:
    guard = admission("127.0.0.1", known_hosts={"*.shop.example": "127.0.0.1:1"})

    with pytest.raises(AddressRefused):
        await guard.endpoints("notshop.example", 80)


def test_a_known_host_may_still_be_denied() -> None:
    guard = admission(known_hosts={"*.test": "127.0.0.1"}, deny=("shop.test",))

    assert reason(guard, "http://shop.test/") == "admission_deny_list"


@pytest.mark.parametrize("text", ["", "nonsense", "127.0.0.1:port", "127.0.0.1.1:80", "::1:x:y"])
def test_a_known_host_without_an_address_is_an_error(text: str) -> None:
    with pytest.raises(SettingsError, match="PENSTOCK_ADMISSION__KNOWN_HOSTS"):
        admission(known_hosts={"shop.example": text})


# Addresses


async def test_a_name_leads_to_all_its_public_addresses() -> None:
    found = await admission(PUBLIC, "2606:4700::1111").endpoints("shop.example", 443)

    assert found == [Endpoint(PUBLIC, 443), Endpoint("2606:4700::1111", 443)]


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "::ffff:7f00:1", "10.0.0.1"])
async def test_a_literal_address_is_checked_without_a_look_up(host: str) -> None:
    with pytest.raises(AddressRefused):
        await admission(PUBLIC).endpoints(host, 80)


async def test_a_refused_name_says_the_rule_and_not_the_address() -> None:
    with pytest.raises(AddressRefused) as refused:
        await admission("10.1.2.3").endpoints("evil.example", 80)

    assert refused.value.rule == "private"
    assert "10.1.2.3" not in str(refused.value)
    assert "private" in str(refused.value)


async def test_a_name_without_addresses_cannot_be_resolved() -> None:
    with pytest.raises(socket.gaierror):
        await admission().endpoints("shop.example", 80)


async def test_every_look_up_is_made_anew() -> None:
    records = [[PUBLIC], ["127.0.0.1"]]

    async def rebinding(host: str) -> list[str]:
        return records.pop(0)

    guard = Admission(AdmissionSettings(), rebinding)

    assert await guard.endpoints("evil.example", 80) == [Endpoint(PUBLIC, 80)]
    with pytest.raises(AddressRefused):
        await guard.endpoints("evil.example", 80)


async def test_a_trailing_dot_makes_no_other_name() -> None:
    guard = admission(PUBLIC, known_hosts={"shop.test": "127.0.0.1:1"})

    assert await guard.endpoints("shop.test.", 80) == [Endpoint("127.0.0.1", 1)]


async def test_a_private_range_may_be_opened_on_purpose() -> None:
    guard = admission("10.0.0.1", open_ranges=("10.0.0.0/24",))

    assert await guard.endpoints("intranet.example", 80) == [Endpoint("10.0.0.1", 80)]
    assert reason(guard, "http://10.0.0.1/") is None
    assert reason(guard, "http://10.0.1.1/") == "admission_private"
    assert reason(guard, "http://[::ffff:10.0.0.1]/") == "admission_private"


# The last look


@pytest.mark.parametrize(
    ("address", "port", "allowed"),
    [
        (PUBLIC, 80, True),
        ("127.0.0.1", 8099, True),
        ("127.0.0.1", 8098, False),
        ("127.0.0.2", 8099, False),
        ("::1", 5, True),
        ("fe80::1%eth0", 80, False),
        ("169.254.169.254", 80, False),
    ],
)
def test_a_socket_is_looked_at_once_more(address: str, port: int, allowed: bool) -> None:
    guard = admission(known_hosts={"a.test": "127.0.0.1:8099", "b.test": "::1"})

    assert guard.may_connect(address, port) is allowed


async def test_the_system_knows_localhost() -> None:
    assert set(await SystemLookup(threads=1)("localhost")) <= {"127.0.0.1", "::1"}


async def test_the_system_looks_each_address_up_once() -> None:
    assert await SystemLookup(threads=1)("127.0.0.1") == ["127.0.0.1"]


async def test_name_that_cannot_be_looked_up_gives_its_permit_back() -> None:
    lookup = SystemLookup(threads=1)
    for _ in range(3):
        with pytest.raises((OSError, UnicodeError)):
            await lookup("x" * 70 + ".invalid")


@pytest.mark.parametrize(
    "written",
    ["bücher.test", "BÜCHER.test.", "*.bücher.test", ".bücher.test", "xn--bcher-kva.test"],
)
@pytest.mark.parametrize("setting", ["opt_out", "deny"])
def test_every_spelling_of_a_listed_domain_is_known(written: str, setting: str) -> None:
    guard = admission(**{setting: (written,)})

    assert guard.check(parse("http://www.bücher.test/"))


@pytest.mark.parametrize("written", ["https://a.test/", "a.test/x", "a test", ""])
def test_list_entry_that_is_no_domain_is_an_error(written: str) -> None:
    with pytest.raises(SettingsError, match="PENSTOCK_ADMISSION__DENY"):
        admission(deny=(written,))
