"""Ways to a private address that must lead nowhere, and how they are tried."""

import json
from urllib.parse import quote

from penstock.kernel.admission import Lookup
from penstock.kernel.model import Outcome, Refused, Request
from tests.platforms import platform_for
from tests.site import Site

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
    assert (failure.gate, failure.reason) == ("admission", f"admission_{rule}"), failure
    assert outcome.page is None
    assert site.canary.connections == 0


def assert_names_no_address(outcome: Outcome, *addresses: str) -> None:
    told = {**outcome.as_json(), "proxy": None}  # the operator's own, which may be anywhere
    text = json.dumps(told) + str(outcome.failure) + repr(outcome.failure)
    assert [address for address in addresses if address in text] == []
