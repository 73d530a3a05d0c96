"""A page in a browser is led to no private address, whatever it tries.

Every test ends at a listener that stands for a private service. The same page with the door left
open shows that the ways it tries are ways.
"""

import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from penstock.app import Platform
from penstock.core.ids import new_id
from penstock.kernel.model import Outcome, ProxyFailed, Refused, Request
from tests.acceptance.test_proxies import PASSWORD, USER, Running, free_port, program, run
from tests.acceptance.test_proxies import run_tinyproxy as tinyproxy_in
from tests.browsers import Place
from tests.platforms import platform_for, said
from tests.site import Site
from tests.site.canary import Canary
from tests.site.pages import page

pytestmark = pytest.mark.asyncio(loop_scope="module")

WAYS = "http://scripted.test/ways"


@pytest.fixture
def site(whole_site: Site) -> Site:
    """The site, untouched so far."""
    whole_site.hits.clear()
    whole_site.canary.connections = 0
    return whole_site


async def inside(host: str) -> list[str]:
    """Every name leads to this machine."""
    return ["127.0.0.1"]


@asynccontextmanager
async def running(site: Site, place: Place, **sections: Any) -> AsyncIterator[Platform]:
    """A platform that opens pages in a browser, whatever robots say."""
    file = place.folder.parent / f"{new_id()}.yaml"
    entry = {"respect_robots_txt": False, "fetcher": "browser", **sections.pop("policy", {})}
    file.write_text(json.dumps({"domains": {"default": entry}}), encoding="utf-8")
    async with platform_for(
        site,
        lookup=inside,
        browser=place.settings(settle_seconds=2),
        policies={"files": (file,)},
        retry={"max_attempts": 1},
        shared={"lock_file": file.with_suffix(".lock")},
        **sections,
    ) as platform:
        yield platform


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def platform(whole_site: Site, place: Place) -> AsyncIterator[Platform]:
    async with running(whole_site, place) as platform:
        yield platform


async def open_page(site: Site, place: Place, url: str, **sections: Any) -> Outcome:
    async with running(site, place, **sections) as platform:
        return await platform.pipeline.run(Request(url))


@contextmanager
def datagrams(site: Site) -> Iterator[socket.socket]:
    """A socket that hears what is sent to the canary's port by UDP."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", site.canary.port))
        listener.setblocking(False)
        yield listener


def heard(listener: socket.socket) -> bool:
    try:
        return bool(listener.recv(1500))
    except BlockingIOError:
        return False


def refusals(outcome: Outcome) -> int:
    assert outcome.ok, outcome.failure
    notes = said(outcome, "browser")
    counts = [int(note.split()[0]) for note in notes if note.endswith("were refused")]
    return sum(counts)


async def test_no_part_of_a_page_reaches_a_private_address(site: Site, platform: Platform) -> None:
    with datagrams(site) as listener:
        outcome = await platform.pipeline.run(Request(WAYS))
        assert not heard(listener)

    assert site.canary.connections == 0
    assert refusals(outcome) >= 4  # 127.0.0.1, localhost, ::1 and the IPv4 in an IPv6
    assert outcome.page
    assert "many ways to the inside" in outcome.page.text
    assert "secret" not in outcome.page.text


async def test_the_ways_are_ways(site: Site, place: Place) -> None:
    """Without this the test above would prove nothing."""
    opened = {"known_hosts": site.known_hosts, "open_ranges": ("127.0.0.0/8",)}

    outcome = await open_page(site, place, WAYS, admission=opened)

    assert outcome.ok, outcome.failure
    assert site.canary.connections > 10


@pytest.mark.parametrize("path", ["/inside", "/by-script?to=http://2130706433:{port}/"])
async def test_no_page_leads_the_browser_inside(site: Site, platform: Platform, path: str) -> None:
    url = f"http://scripted.test{path}".replace("{port}", str(site.canary.port))

    outcome = await platform.pipeline.run(Request(url))

    assert isinstance(outcome.failure, Refused)
    assert outcome.failure.reason == "admission_loopback"
    assert site.canary.connections == 0


@pytest.mark.parametrize("url", ["file:///etc/passwd", "data:text/html,<p>x</p>", "about:blank"])
async def test_a_browser_opens_nothing_but_the_web(platform: Platform, url: str) -> None:
    asked_for = await platform.pipeline.run(Request(url))
    led_to = await platform.pipeline.run(Request(f"http://scripted.test/by-script?to={url}"))

    assert isinstance(asked_for.failure, Refused)
    assert asked_for.failure.reason == "admission_scheme"
    assert "root:" not in (led_to.page.text if led_to.page else "")


async def test_parts_at_a_name_that_leads_inside_are_refused(
    site: Site, platform: Platform
) -> None:
    away = f"evil.example:{site.canary.port}"
    site.reply(
        "shop01.test",
        "/evil",
        page(
            "Evil",
            f"<p>Here.</p><script src='http://{away}/x'></script><script>"
            f"new WebSocket('ws://{away}/'); fetch('https://{away}/');</script>",
        ),
    )

    parts = await platform.pipeline.run(Request("http://shop01.test/evil"))
    itself = await platform.pipeline.run(Request(f"http://{away}/"))

    assert refusals(parts) >= 1
    assert isinstance(itself.failure, Refused)
    assert itself.failure.reason == "admission_loopback"
    assert site.canary.connections == 0


# Through proxies


@contextmanager
def microsocks(folder: Path) -> Iterator[Running]:
    port = free_port()
    options = ["-i", "127.0.0.1", "-p", str(port), "-u", USER, "-P", PASSWORD]
    with run("socks5", port, folder / "log", program("microsocks"), *options) as proxy:
        yield proxy


@contextmanager
def tinyproxy(folder: Path) -> Iterator[Running]:
    with tinyproxy_in(folder, "first") as proxy:
        yield proxy


def known(site: Site) -> dict[str, Any]:
    """A plain proxy looks names up itself, so what is fetched through one is `localhost`."""
    hosts = {**site.known_hosts, "localhost": "127.0.0.1"}
    return {"known_hosts": hosts}


@pytest.mark.parametrize(
    ("kind", "host"), [(microsocks, "scripted.test"), (tinyproxy, "localhost:{site}")]
)
async def test_no_proxy_is_a_way_inside(
    site: Site, place: Place, tmp_path: Path, kind: Any, host: str
) -> None:
    inner = f"127.0.0.1:{site.canary.port}"
    site.reply(
        host.partition(":")[0],
        "/through",
        page(
            "Through",
            f"<p>Through a proxy.</p><script src='http://{inner}/x'></script><script>"
            f"new WebSocket('ws://{inner}/'); fetch('https://{inner}/');</script>",
        ),
    )
    address = host.replace("{site}", site.address.rpartition(":")[2])
    with kind(tmp_path) as proxy:
        outcome = await open_page(
            site,
            place,
            f"http://{address}/through",
            policy={"proxy": {"use": "always"}},
            admission=known(site),
            proxies={"endpoints": (proxy.endpoint,)},
        )

    assert refusals(outcome) >= 1
    assert outcome.page
    assert outcome.page.proxy == proxy.address
    assert site.canary.connections == 0
    assert PASSWORD not in json.dumps(outcome.as_json())


@pytest.mark.parametrize(
    ("protocol", "scheme"),
    [("socks5", "http"), ("socks5", "https"), ("http", "https"), ("http", "http")],
)
async def test_no_proxy_is_asked_for_a_name_that_leads_inside(
    site: Site, place: Place, protocol: str, scheme: str
) -> None:
    async with Canary() as far_side:
        outcome = await open_page(
            site,
            place,
            f"{scheme}://evil.example:{site.canary.port}/",
            policy={"proxy": {"use": "always"}},
            proxies={"endpoints": (f"{protocol}://127.0.0.1:{far_side.port}",)},
        )

        assert isinstance(outcome.failure, Refused)
        assert outcome.failure.reason == "admission_loopback"
        assert far_side.connections == 0


@pytest.mark.parametrize(
    ("kind", "scheme"), [(microsocks, "http"), (tinyproxy, "http"), (tinyproxy, "https")]
)
async def test_a_wrong_password_is_the_proxy_s_failure(
    site: Site, place: Place, tmp_path: Path, kind: Any, scheme: str
) -> None:
    with kind(tmp_path) as proxy:
        outcome = await open_page(
            site,
            place,
            f"{scheme}://localhost:{site.address.rpartition(':')[2]}/",
            policy={"proxy": {"use": "always"}},
            admission=known(site),
            proxies={"endpoints": (proxy.endpoint_with("guessed"),)},
        )

    assert isinstance(outcome.failure, ProxyFailed), outcome.failure
    assert site.hits == []
