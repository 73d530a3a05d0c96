"""What every fetcher promises: one hop, no redirect followed, failures by their kind."""

import random
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from penstock.core.clock import SystemClock
from penstock.core.urls import parse
from penstock.kernel.admission import Admission
from penstock.kernel.fetchers.browser.fetcher import BrowserFetcher
from penstock.kernel.fetchers.browser.means import Means
from penstock.kernel.fetchers.http import HttpFetcher
from penstock.kernel.identity import Identities
from penstock.kernel.model import Failure, Page, Redirect
from penstock.kernel.ports import Fetcher, Hop
from penstock.kernel.settings import (
    AdmissionSettings,
    BrowserSettings,
    HttpSettings,
    IdentitySettings,
)
from tests.browsers import Place, new_place
from tests.site import Raw, Reply, Reset, Site
from tests.site.pages import page
from tests.unit.kernel.fetchers.tls import tls_front

pytestmark = pytest.mark.asyncio(loop_scope="module")

HOST = "shop01.test"
PAGE_LIMIT = 100_000


async def nowhere(host: str) -> list[str]:
    raise socket.gaierror(socket.EAI_NONAME, "no such name")


def new_browser_fetcher(admission: Admission, place: Place) -> BrowserFetcher:
    chance = random.Random(1)
    means = Means(
        BrowserSettings(**place.settings()),
        Identities(IdentitySettings(), chance),
        SystemClock(),
        chance,
        PAGE_LIMIT,
    )
    return BrowserFetcher(means, admission)


@pytest.fixture
def site(whole_site: Site) -> Site:
    whole_site.hits.clear()
    return whole_site


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def admission(whole_site: Site) -> AsyncIterator[Admission]:
    """Knows a host that nobody listens for, and one whose certificate nobody trusts."""
    async with tls_front(whole_site) as port:
        hosts = {
            **whole_site.known_hosts,
            "closed.test": "127.0.0.1:1",
            "secure.test": f"127.0.0.1:{port}",
        }
        yield Admission(AdmissionSettings(known_hosts=hosts), nowhere)


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["http", "browser"])
async def fetcher(request: pytest.FixtureRequest, admission: Admission) -> AsyncIterator[Fetcher]:
    if request.param == "http":
        settings = HttpSettings(max_bytes=PAGE_LIMIT)
        async with HttpFetcher(settings, admission, SystemClock()) as http:
            yield http
        return
    with new_place() as place:
        async with new_browser_fetcher(admission, place) as browser:
            yield browser


def hop(url: str, timeout: float = 15, **options: Any) -> Hop:
    url = url if "://" in url else f"http://{HOST}{url}"
    return Hop(parse(url), options.pop("headers", {}), timeout, **options)


async def get_page(fetcher: Fetcher, url: str, **options: Any) -> Page:
    reply = await fetcher.fetch(hop(url, **options))
    assert isinstance(reply, Page), reply
    return reply


async def get_failure(fetcher: Fetcher, url: str, **options: Any) -> tuple[str, str]:
    reply = await fetcher.fetch(hop(url, **options))
    assert isinstance(reply, Failure), reply
    return reply.kind, reply.reason


async def test_a_page_says_what_came_back(site: Site, fetcher: Fetcher) -> None:
    found = await get_page(fetcher, "/product/1")

    assert found.fetcher == fetcher.name
    assert (found.url, found.status) == (f"http://{HOST}/product/1", 200)
    assert found.content_type == "text/html"
    assert found.headers.get("etag") == found.headers.get("ETag") != ""
    assert "Brightwell Lamp Model 1" in found.text
    assert len(site.hits_of(HOST, "/product/1")) == 1
    assert fetcher.look() is None
    assert fetcher.patience > 0


async def test_the_agent_is_the_one_given(site: Site, fetcher: Fetcher) -> None:
    await get_page(fetcher, "/", headers={"User-Agent": "Penstock/test"})

    assert {hit.headers["User-Agent"] for hit in site.hits} == {"Penstock/test"}


@pytest.mark.parametrize("status", [200, 403, 404, 429, 500, 503])
async def test_every_status_with_a_body_is_a_page(
    site: Site, fetcher: Fetcher, status: int
) -> None:
    site.reply(HOST, "/answer", Reply(status, page("An answer").content))

    found = await get_page(fetcher, "/answer")

    assert found.status == status
    assert "An answer" in found.text


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_handed_back_and_not_followed(
    site: Site, fetcher: Fetcher, status: int
) -> None:
    headers = [("Location", "/elsewhere?a=b"), ("Set-Cookie", "left=yes; Path=/")]
    site.reply(HOST, "/moved", Reply(status, headers=headers))

    reply = await fetcher.fetch(hop("/moved"))

    assert isinstance(reply, Redirect), reply
    assert (reply.location, reply.status) == ("/elsewhere?a=b", status)
    assert reply.cookies == {"left": "yes"}
    assert [hit.path for hit in site.hits] == ["/moved"]


async def test_text_is_decoded_whatever_its_charset(site: Site, fetcher: Fetcher) -> None:
    body = "<title>Größe</title><p>Größe: 10 €</p>".encode("cp1252")
    site.reply(HOST, "/old", Reply(200, body, {"Content-Type": "text/html; charset=windows-1252"}))

    assert "Größe: 10 €" in (await get_page(fetcher, "/old")).text


async def test_data_comes_byte_for_byte(site: Site, fetcher: Fetcher) -> None:
    body = bytes(range(256))
    site.reply(HOST, "/data", Reply(200, body, {"Content-Type": "application/octet-stream"}))

    assert (await get_page(fetcher, "/data")).body == body


async def test_an_empty_answer_is_a_page(site: Site, fetcher: Fetcher) -> None:
    site.reply(HOST, "/nothing", Reply(204))

    found = await get_page(fetcher, "/nothing")

    assert (found.status, found.body) == (204, b"")


@pytest.mark.parametrize(
    ("answer", "kind", "reasons"),
    [
        (Reset(), "site_wide", {"transport", "disconnected"}),
        (Raw.of(b""), "site_wide", {"disconnected"}),
        (Raw.of(b"SSH-2.0-OpenSSH\r\n\r\n"), "broken", {"bad_http"}),
        (
            Raw.of(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99\r\n\r\n<p>"),
            "site_wide",
            {"truncated"},
        ),
    ],
    ids=["reset", "closed", "no-http", "truncated"],
)
async def test_trouble_of_the_site_is_a_failure_of_its_kind(
    site: Site, fetcher: Fetcher, answer: Any, kind: str, reasons: set[str]
) -> None:
    site.reply("trouble.test", "/", answer)

    found, reason = await get_failure(fetcher, "http://trouble.test/")

    assert found == kind
    assert reason in reasons
    assert len(site.hits_of("trouble.test")) == 1


@pytest.mark.parametrize(
    ("url", "kind", "reason"),
    [
        ("http://unknown.example/", "site_wide", "dns"),
        ("http://closed.test/", "site_wide", "connect"),
        ("https://secure.test/", "site_wide", "tls"),
    ],
)
async def test_a_site_that_cannot_be_reached_is_site_wide_trouble(
    fetcher: Fetcher, url: str, kind: str, reason: str
) -> None:
    assert await get_failure(fetcher, url) == (kind, reason)


async def test_a_private_address_is_refused(site: Site, fetcher: Fetcher) -> None:
    for host in ("127.0.0.1", "[::1]", "2130706433"):
        kind, reason = await get_failure(fetcher, f"http://{host}:{site.canary.port}/")
        assert kind == "refused"
        assert reason in ("admission_loopback", "admission_address")

    assert site.canary.connections == 0


async def test_a_body_above_the_limit_is_broken(site: Site, fetcher: Fetcher) -> None:
    site.reply(HOST, "/large", page("Large", "<p>much</p>" * 20_000))
    data = Reply(200, b"x" * 2 * PAGE_LIMIT, {"Content-Type": "application/octet-stream"})
    site.reply(HOST, "/large-data", data)

    assert await get_failure(fetcher, "/large") == ("broken", "too_large")
    assert await get_failure(fetcher, "/large-data") == ("broken", "too_large")


async def test_the_deadline_holds(site: Site, fetcher: Fetcher) -> None:
    site.reply("slow.test", "/late", Reply(200, "late", delay=30))

    late = await get_failure(fetcher, "http://slow.test/late", timeout=0.5)
    dripping = await get_failure(fetcher, "http://slow.test/drip", timeout=0.7)

    assert late == dripping == ("site_wide", "timeout")
