"""Nobody is led to a private address, by whatever spelling, redirect, record or proxy.

Every test ends at a listener that stands for a private service and must not be contacted.
What a public address would be is played by 127.0.0.2, opened on purpose, so that nothing
leaves the machine even if a guard fails.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote

import pytest

from penstock.kernel.admission import Lookup
from penstock.kernel.model import Outcome, Refused, Request
from tests.platforms import platform_for
from tests.site import Reply, Site
from tests.site.canary import Canary

LOOPBACK_SPELLINGS = [
    "127.0.0.1",
    "127.0.0.1.",
    "127.1",
    "127.0.1",
    "127.255.255.254",
    "2130706433",
    "0x7f000001",
    "0X7F.0.0.1",
    "0x7f.1",
    "0x7f.0.0.0x1",
    "017700000001",
    "0177.0.0.1",
    "0177.1",
    "127.0x0.0.01",
    "%31%32%37.0.0.1",
    "１２７.０.０.１",  # noqa: RUF001
    "①②⑦.0.0.1",
    "127。0。0。1",
    "127．0．0．1",  # noqa: RUF001
    "127｡0｡0｡1",
    "127.0.0.1。",
    "127.0.0.1\u00ad",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[0000::0001]",
    "[::ffff:127.0.0.1]",
    "[::FFFF:7f00:1]",
    "[::127.0.0.1]",
    "[::7f00:1]",
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::7f00:1]",
]
OTHER_HOSTS = {
    "0": "unspecified",
    "0x": "unspecified",
    "0.0.0.0": "unspecified",
    "[::]": "unspecified",
    "[64:ff9b:1::7f00:1]": "private",
    "[2002:7f00:1::]": "reserved",
    "[2001:0:4136:e378:8000:63bf:80ff:fffe]": "reserved",
    "10.0.0.1": "private",
    "172.16.0.1": "private",
    "192.168.1.1": "private",
    "100.64.0.1": "private",
    "[::ffff:10.1.2.3]": "private",
    "[fc00::1]": "private",
    "[fec0::1]": "private",
    "[fe80::1]": "link_local",
    "169.254.1.1": "link_local",
    "[ff02::1]": "multicast",
    "224.0.0.1": "multicast",
    "255.255.255.255": "reserved",
    "198.18.0.1": "reserved",
    "192.0.2.1": "documentation",
    "[2001:db8::1]": "documentation",
    "[3fff::1]": "documentation",
    "[5f00::1]": "reserved",
    "169.254.169.254": "metadata",
    "0xa9fea9fe": "metadata",
    "2852039166": "metadata",
    "[::ffff:a9fe:a9fe]": "metadata",
    "100.100.100.200": "metadata",
    "168.63.129.16": "metadata",
    "192.0.0.192": "metadata",
    "[fd00:ec2::254]": "private",
    "metadata.google.internal": "local_name",
    "localhost": "local_name",
    "LOCALHOST.": "local_name",
    "foo.localhost": "local_name",
    "ⓛocalhost": "local_name",
    "localho\u017ft": "local_name",
    "printer.local": "local_name",
    "router.lan": "local_name",
    "intranet": "local_name",
    "[::1%25lo]": "syntax",
    "[fe80::1%eth0]": "syntax",
    "256.256.256.256": "syntax",
    "127.0.0.1.1": "syntax",
    "127.0.0.1%00.shop01.test": "syntax",
    "127.0.0.1%0d%0a.test": "syntax",
    "shop01.test@127.0.0.1": "user_info",
    "shop01.test:80@127.0.0.1": "user_info",
    "shop01.test%23@127.0.0.1": "user_info",
    "@127.0.0.1": "loopback",
    "127.0.0.1\\@shop01.test": "characters",
    "127.0.0\t.1": "characters",
    "127.0.0.1\x7f": "characters",
}
HOSTS = {**dict.fromkeys(LOOPBACK_SPELLINGS, "loopback"), **OTHER_HOSTS}

WHOLE_URLS = {
    " http://127.0.0.1:{port}/ ": "loopback",
    "HTTP://127.0.0.1:{port}/": "loopback",
    "http://127.0.0.1:{port}#@shop01.test/": "loopback",
    "http://127.0.0.1:{port}?@shop01.test/": "loopback",
    "http:///127.0.0.1:{port}/": "loopback",
    "https:127.0.0.1:{port}/": "loopback",
    "http://127.0.0.1:0{port}/": "loopback",
    "http:\\\\127.0.0.1:{port}\\": "characters",
    "http:\t//127.0.0.1:{port}/": "characters",
    "http://127.0.0.1:{port}/\u0085": "characters",
}
SCHEMES = [
    "file:///etc/passwd",
    "FILE:///etc/passwd",
    "ftp://127.0.0.1:{port}/",
    "gopher://127.0.0.1:{port}/_GET",
    "dict://127.0.0.1:{port}/",
    "ws://127.0.0.1:{port}/",
    "javascript:alert(1)",
    "data:text/html,hello",
    "blob:http://127.0.0.1:{port}/",
    "view-source:http://127.0.0.1:{port}/",
    "about:blank",
]

PRIVATE, STAND_IN = "127.0.0.1", "127.0.0.2"


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as site:
        yield site


async def fetch(site: Site, url: str, lookup: Lookup | None = None) -> Outcome:
    """Ask for a URL; the port of the canary stands where the URL says so."""
    async with platform_for(site, lookup=lookup or nowhere) as platform:
        return await platform.pipeline.run(Request(url.replace("{port}", str(site.canary.port))))


async def fetch_by_redirect(site: Site, location: str, lookup: Lookup | None = None) -> Outcome:
    location = location.replace("{port}", str(site.canary.port))
    return await fetch(site, f"http://moved.test/redirect?to={quote(location)}", lookup)


async def nowhere(host: str) -> list[str]:
    raise AssertionError(f"{host} was looked up")


def always(*addresses: str) -> Lookup:
    """Every name leads to these."""
    return answers(list(addresses))


def answers(*records: list[str]) -> Lookup:
    """Names lead to the first of these, then to the next, and stay at the last."""
    left = list(records)

    async def lookup(host: str) -> list[str]:
        return left.pop(0) if len(left) > 1 else left[0]

    return lookup


def assert_refused(outcome: Outcome, rule: str, site: Site) -> None:
    failure = outcome.failure
    assert isinstance(failure, Refused), failure
    assert (failure.gate, failure.reason) == ("admission", f"admission_{rule}")
    assert outcome.page is None
    assert site.canary.connections == 0


def assert_names_no_address(outcome: Outcome, *addresses: str) -> None:
    told = {**outcome.as_json(), "proxy": None}  # the operator's own, which may be anywhere
    text = json.dumps(told) + str(outcome.failure) + repr(outcome.failure)
    assert [address for address in addresses if address in text] == []


# Spellings, asked for and as the target of a redirect


@pytest.mark.parametrize(("host", "rule"), HOSTS.items(), ids=ascii)
async def test_no_spelling_of_a_private_host_is_contacted(site: Site, host: str, rule: str) -> None:
    outcome = await fetch(site, f"http://{host}:{{port}}/")

    assert_refused(outcome, rule, site)
    assert outcome.failure
    assert "127." not in outcome.failure.detail


@pytest.mark.parametrize(("host", "rule"), HOSTS.items(), ids=ascii)
async def test_no_redirect_to_a_private_host_is_followed(site: Site, host: str, rule: str) -> None:
    outcome = await fetch_by_redirect(site, f"http://{host}:{{port}}/")

    assert len(site.hits_of("moved.test", "/redirect")) == 1
    assert_refused(outcome, rule, site)
    assert outcome.failure
    assert "127." not in outcome.failure.detail


@pytest.mark.parametrize(("url", "rule"), WHOLE_URLS.items(), ids=ascii)
async def test_no_odd_url_leads_to_a_private_address(site: Site, url: str, rule: str) -> None:
    asked_for = await fetch(site, url)
    redirected = await fetch_by_redirect(site, url)

    assert_refused(asked_for, rule, site)
    assert_refused(redirected, rule, site)


@pytest.mark.parametrize("url", ["\nhttp://127.0.0.1:{port}/", "http://127.0.0\r\n.1:{port}/"])
async def test_line_breaks_hide_no_private_address(site: Site, url: str) -> None:
    asked_for = await fetch(site, url)
    redirected = await fetch_by_redirect(site, url)

    assert_refused(asked_for, "characters", site)
    assert not redirected.ok
    assert site.canary.connections == 0


@pytest.mark.parametrize("location", ["//127.0.0.1:{port}/", "///127.0.0.1:{port}/"])
async def test_a_redirect_without_a_scheme_is_no_way_round(site: Site, location: str) -> None:
    assert_refused(await fetch_by_redirect(site, location), "loopback", site)


@pytest.mark.parametrize("url", SCHEMES)
async def test_other_schemes_are_refused(site: Site, url: str) -> None:
    asked_for = await fetch(site, url)
    redirected = await fetch_by_redirect(site, url)

    assert_refused(asked_for, "scheme", site)
    assert_refused(redirected, "scheme", site)


@pytest.mark.parametrize("path", ["/to-private", "/to-metadata", "/to-file", "/to-javascript"])
async def test_the_hostile_redirects_of_the_site_are_refused(site: Site, path: str) -> None:
    outcome = await fetch(site, f"http://moved.test{path}")

    assert isinstance(outcome.failure, Refused)
    assert outcome.failure.gate == "admission"
    assert site.canary.connections == 0


async def test_a_private_address_at_the_end_of_a_chain_is_refused(site: Site) -> None:
    site.reply("moved.test", "/chain/0", Reply(302, headers={"Location": "/to-private"}))

    outcome = await fetch(site, "http://moved.test/chain/3")

    assert len(outcome.hops) == 4
    assert_refused(outcome, "loopback", site)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_every_kind_of_redirect_is_checked(site: Site, status: int) -> None:
    location = quote(f"http://127.0.0.1:{site.canary.port}/")

    outcome = await fetch(site, f"http://moved.test/redirect/{status}?to={location}")

    assert_refused(outcome, "loopback", site)


@pytest.mark.parametrize("port", [0, 22, 25, 53, 587, 6000, 6667, 10080])
async def test_ports_of_other_protocols_are_refused(site: Site, port: int) -> None:
    asked_for = await fetch(site, f"http://shop01.test:{port}/")
    redirected = await fetch_by_redirect(site, f"http://shop01.test:{port}/")

    assert_refused(asked_for, "port", site)
    assert_refused(redirected, "port", site)


async def test_a_redirect_to_a_denied_domain_is_refused(site: Site) -> None:
    lists = {"known_hosts": site.known_hosts, "deny": ("shop01.test",), "opt_out": ("shop02.test",)}
    async with platform_for(site, admission=lists) as platform:
        denied = await platform.pipeline.run(Request("http://moved.test/to-shop"))
        opted_out = await platform.pipeline.run(
            Request("http://moved.test/redirect?to=http://www.shop02.test/")
        )

    assert_refused(denied, "deny_list", site)
    assert_refused(opted_out, "opt_out", site)
    assert site.hits_of("shop01.test") == site.hits_of("www.shop02.test") == []


@pytest.mark.parametrize(
    "headers",
    [
        {"X-One": "a\r\nX-Two: b"},
        {"X-One": "a\nGET /secret HTTP/1.1"},
        {"X-One": "a\x00b"},
        {"X-One\r\nX-Two": "b"},
        {"X One": "b"},
        {"X-One": "\ud800"},
        {"": "b"},
    ],
    ids=ascii,
)
async def test_a_header_that_breaks_out_of_its_line_is_refused(
    site: Site, headers: dict[str, str]
) -> None:
    async with platform_for(site) as platform:
        outcome = await platform.pipeline.run(Request("http://shop01.test/", headers=headers))

    assert isinstance(outcome.failure, Refused)
    assert outcome.failure.reason == "bad_header"
    assert site.hits == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Host", "private.test"),
        ("hOST", "private.test"),
        ("Content-Length", "5"),
        ("Transfer-Encoding", "chunked"),
        ("Connection", "upgrade"),
        ("Upgrade", "websocket"),
        ("Expect", "100-continue"),
        ("Proxy-Authorization", "Basic x"),
        ("Proxy-Connection", "keep-alive"),
    ],
)
async def test_a_caller_cannot_say_where_a_request_goes_or_ends(
    site: Site, name: str, value: str
) -> None:
    """The page of another host could be had without its robots, its pace and its opt-out."""
    async with platform_for(site) as platform:
        outcome = await platform.pipeline.run(Request("http://shop01.test/", headers={name: value}))

    assert isinstance(outcome.failure, Refused)
    assert outcome.failure.reason == "bad_header"
    assert site.hits == []


# Names, and what they lead to

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
        policy = tmp_path / "policies.yaml"
        policy.write_text("domains: {evil.example: {proxy: {use: always}}}")
        async with platform_for(
            site,
            lookup=always(PRIVATE),
            policies={"files": (policy,)},
            proxies={"endpoints": (f"{proxy}://127.0.0.1:{far_side.port}",)},
        ) as platform:
            url = f"{scheme}://evil.example:{site.canary.port}/"
            outcome = await platform.pipeline.run(Request(url))

        assert_refused(outcome, "loopback", site)
        assert_names_no_address(outcome, PRIVATE)
        assert far_side.connections == 0
