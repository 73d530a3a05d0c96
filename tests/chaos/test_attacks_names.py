"""Nobody is led to a private address by a name: in its records, its robots or through a proxy.

Every test ends at a listener that stands for a private service and must not be contacted.
What a public address would be is played by 127.0.0.2, opened on purpose, so that nothing
leaves the machine even if a guard fails.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from penstock.kernel.admission import Lookup
from penstock.kernel.model import Outcome, Refused, Request
from tests.chaos.attacks import (
    PRIVATE,
    STAND_IN,
    always,
    answers,
    assert_names_no_address,
    assert_refused,
    fetch,
    fetch_by_redirect,
)
from tests.platforms import platform_for, policies
from tests.site import Reply, Site
from tests.site.canary import Canary

PRIVATE_RECORDS = [
    ("127.0.0.1", "loopback"),
    ("::1", "loopback"),
    ("::ffff:127.0.0.1", "loopback"),
    ("64:ff9b::7f00:1", "loopback"),
    ("0.0.0.0", "unspecified"),
    ("10.0.0.5", "private"),
    ("fd12:3456::1", "private"),
    ("169.254.169.254", "metadata"),
    ("fe80::1%lo", "link_local"),
    ("2002:7f00:1::", "reserved"),
]


@pytest.mark.parametrize(("record", "rule"), PRIVATE_RECORDS)
async def test_a_name_that_leads_to_a_private_address_is_refused(
    site: Site, record: str, rule: str
) -> None:
    outcome = await fetch(site, "http://evil.example:{port}/", always(record))

    assert_refused(outcome, rule, site)
    assert_names_no_address(outcome, record)
    assert rule.replace("_", "-") in str(outcome.failure)


@pytest.mark.parametrize(("record", "rule"), PRIVATE_RECORDS)
async def test_a_redirect_to_a_name_that_leads_to_a_private_address_is_refused(
    site: Site, record: str, rule: str
) -> None:
    outcome = await fetch_by_redirect(site, "http://evil.example:{port}/", always(record))

    assert_refused(outcome, rule, site)
    assert_names_no_address(outcome, record)


@pytest.mark.parametrize("host", ["127.0.0.1.nip.example", "evil.example.", "EVIL.example"])
async def test_no_spelling_of_a_name_hides_where_it_leads(site: Site, host: str) -> None:
    outcome = await fetch(site, f"http://{host}:{{port}}/", always(PRIVATE))

    assert_refused(outcome, "loopback", site)


class Outside:
    """Plays the public Internet: the canary's port at another address of this machine."""

    def __init__(self, answer: Callable[[str], bytes]) -> None:
        self.paths: list[str] = []
        self._answer = answer

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path = (await reader.readuntil(b"\r\n\r\n")).split(b" ")[1].decode()
        self.paths.append(path)
        body = self._answer(path)
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
        writer.close()


@asynccontextmanager
async def outside(site: Site) -> AsyncIterator[Outside]:
    public = Outside(lambda path: b"" if path == "/robots.txt" else b"<p>public</p>")
    server = await asyncio.start_server(public.serve, STAND_IN, site.canary.port)
    yield public
    server.close()
    await server.wait_closed()


async def fetch_outside(site: Site, lookup: Lookup) -> Outcome:
    """Ask for a page of a name while 127.0.0.2 counts as public."""
    admission = {"known_hosts": site.known_hosts, "open_ranges": (f"{STAND_IN}/32",)}
    async with platform_for(site, lookup=lookup, admission=admission) as platform:
        return await platform.pipeline.run(
            Request(f"http://rebind.example:{site.canary.port}/page")
        )


async def test_a_public_name_is_contacted(site: Site) -> None:
    """Without this the tests of rebinding would prove nothing."""
    async with outside(site) as public:
        outcome = await fetch_outside(site, always(STAND_IN))

    assert outcome.ok, outcome.failure
    assert public.paths == ["/robots.txt", "/page"]


async def test_a_name_that_is_rebound_between_two_connections_is_refused(site: Site) -> None:
    async with outside(site) as public:
        outcome = await fetch_outside(site, answers([STAND_IN], [PRIVATE]))

    assert public.paths == ["/robots.txt"]
    assert_refused(outcome, "loopback", site)
    assert_names_no_address(outcome, PRIVATE)


async def test_every_connection_looks_its_name_up_anew(site: Site) -> None:
    asked: list[str] = []

    async def lookup(host: str) -> list[str]:
        asked.append(host)
        return [STAND_IN]

    async with outside(site) as public:
        outcome = await fetch_outside(site, lookup)

    assert outcome.ok
    assert asked == ["rebind.example"] * len(public.paths) == ["rebind.example"] * 2


@pytest.mark.parametrize("records", [[STAND_IN, PRIVATE], [PRIVATE, STAND_IN], [STAND_IN, "::1"]])
async def test_one_private_record_among_public_ones_is_enough_to_refuse(
    site: Site, records: list[str]
) -> None:
    async with outside(site) as public:
        outcome = await fetch_outside(site, always(*records))

    assert_refused(outcome, "loopback", site)
    assert public.paths == []


# robots.txt as a way in


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1:{port}/",
        "http://[::ffff:7f00:1]:{port}/",
        "http://2130706433:{port}/",
        "http://localhost:{port}/",
        "http://evil.example:{port}/",
        "http://169.254.169.254/robots.txt",
        "file:///etc/passwd",
    ],
)
async def test_robots_cannot_lead_to_a_private_address(site: Site, location: str) -> None:
    location = location.replace("{port}", str(site.canary.port))
    site.robots["shop01.test"] = Reply(302, headers={"Location": location})

    outcome = await fetch(site, "http://shop01.test/product/1", always(PRIVATE))

    assert isinstance(outcome.failure, Refused)
    assert_names_no_address(outcome, PRIVATE)
    assert site.canary.connections == 0
    assert site.hits_of("shop01.test", "/product/1") == []


async def test_robots_of_a_rebound_name_are_not_fetched(site: Site) -> None:
    async with outside(site) as public:
        outcome = await fetch_outside(site, answers([PRIVATE], [STAND_IN]))

    assert_refused(outcome, "loopback", site)
    assert public.paths == []


# Proxies as a way in


@pytest.mark.parametrize(
    ("proxy", "scheme"),
    [("socks5", "http"), ("socks5", "https"), ("http", "https"), ("http", "http")],
    ids=["socks", "socks-tls", "connect", "plain"],
)
async def test_no_proxy_is_asked_for_a_name_that_leads_to_a_private_address(
    site: Site, tmp_path: Path, proxy: str, scheme: str
) -> None:
    async with Canary() as far_side:
        async with platform_for(
            site,
            lookup=always(PRIVATE),
            policies=policies(tmp_path, evil_example={"proxy": {"use": "always"}}),
            proxies={"endpoints": (f"{proxy}://127.0.0.1:{far_side.port}",)},
        ) as platform:
            url = f"{scheme}://evil.example:{site.canary.port}/"
            outcome = await platform.pipeline.run(Request(url))

        assert_refused(outcome, "loopback", site)
        assert_names_no_address(outcome, PRIVATE)
        assert far_side.connections == 0
