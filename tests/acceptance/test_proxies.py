"""Fetching through real proxies: tinyproxy for HTTP, microsocks for SOCKS5, with passwords.

A plain-HTTP proxy looks names up itself, so what is fetched through one is `localhost`.
"""

import asyncio
import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from penstock.app import Platform
from penstock.core.clock import SystemClock
from penstock.kernel.model import Outcome, ProxyFailed, Request, SiteWide
from penstock.kernel.proxies import Member, parse_proxy
from penstock.kernel.settings import ProxySettings
from penstock.store.proxies import cost_of, insert_proxy, list_proxies, open_box
from penstock.store.settings import FILE_NAME, StoreSettings
from penstock.store.store import open_store
from tests.platforms import platform_for, policies
from tests.site import Reply, Site
from tests.site.pages import page
from tests.stores import make_sqlite
from tests.unit.kernel.fetchers.tls import tls_front, trust

USER, PASSWORD = "penstock", "s3same"
READY_SECONDS = 10.0
DEAD = "socks5://127.0.0.1:1"


@dataclass(frozen=True, slots=True)
class Running:
    """A proxy that runs; its log tells what it was asked for."""

    protocol: str
    port: int
    log: Path

    @property
    def address(self) -> str:
        return f"{self.protocol}://127.0.0.1:{self.port}"

    @property
    def endpoint(self) -> str:
        return self.endpoint_with(PASSWORD)

    def endpoint_with(self, password: str) -> str:
        return f"{self.protocol}://{USER}:{password}@127.0.0.1:{self.port}"


def program(name: str) -> str:
    """Where a proxy is; a test that needs one is skipped without it, but never in CI."""
    found = os.environ.get(f"PENSTOCK_TEST_{name.upper()}") or shutil.which(name)
    if found:
        return found
    if os.environ.get("CI") == "true":
        pytest.fail(f"{name} is not installed")
    pytest.skip(f"{name} is not installed")


@contextmanager
def run(protocol: str, port: int, log: Path, *command: str) -> Iterator[Running]:
    with log.open("wb") as sink:
        process = subprocess.Popen(command, stdout=sink, stderr=sink)  # noqa: S603
    try:
        wait_until_ready(process, port)
        yield Running(protocol, port, log)
    finally:
        process.kill()
        process.wait()


def wait_until_ready(process: subprocess.Popen[bytes], port: int) -> None:
    give_up = time.monotonic() + READY_SECONDS
    while process.poll() is None and time.monotonic() < give_up:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            time.sleep(0.01)
        else:
            return
    pytest.fail("the proxy does not start")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


@contextmanager
def run_tinyproxy(folder: Path, name: str) -> Iterator[Running]:
    port, file = free_port(), folder / f"{name}.conf"
    file.write_text(
        f'Port {port}\nListen 127.0.0.1\nAllow 127.0.0.1\nTimeout 5\nViaProxyName "{name}"\n'
        f"BasicAuth {USER} {PASSWORD}\nLogLevel Connect\n",
        encoding="ascii",
    )
    with run("http", port, folder / name, program("tinyproxy"), "-d", "-c", str(file)) as proxy:
        yield proxy


@pytest.fixture(scope="module")
def tinyproxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with run_tinyproxy(tmp_path_factory.mktemp("tinyproxy"), "first") as proxy:
        yield proxy


@pytest.fixture(scope="module")
def other_tinyproxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with run_tinyproxy(tmp_path_factory.mktemp("tinyproxy"), "second") as proxy:
        yield proxy


@pytest.fixture(scope="module")
def microsocks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    port, log = free_port(), tmp_path_factory.mktemp("microsocks") / "log"
    options = ["-i", "127.0.0.1", "-p", str(port), "-u", USER, "-P", PASSWORD]
    with run("socks5", port, log, program("microsocks"), *options) as proxy:
        yield proxy


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as site:
        for path in ("/page", "/two"):
            site.reply("localhost", path, page("Local, but known"))
        yield site


@dataclass(slots=True)
class Journey:
    """What came of a URL, and how the proxies of the pool did."""

    outcome: Outcome
    members: list[Member]


async def travel(site: Site, folder: Path, url: str, *endpoints: str, **policy: Any) -> Journey:
    """Fetch a URL of the site through the proxies; `{port}` in the URL is the site's."""
    entry = {"proxy": {"use": "always"}, "respect_robots_txt": False, **policy}
    async with platform_for(
        site,
        admission={"known_hosts": known_hosts(site)},
        policies=policies(folder, default=entry),
        proxies={"endpoints": endpoints, "domain_cooldown_seconds": 0},
        http={"timeout_seconds": 5},
    ) as platform:
        request = Request(url.replace("{port}", site.address.rpartition(":")[2]))
        return Journey(await platform.pipeline.run(request), platform.proxies.members)


def known_hosts(site: Site) -> Mapping[str, str]:
    return {**site.known_hosts, "localhost": "127.0.0.1"}


def assert_fetched_through(journey: Journey, proxy: Running) -> None:
    outcome = journey.outcome
    assert outcome.ok, outcome.failure
    assert outcome.page
    assert outcome.page.proxy == proxy.address
    assert PASSWORD not in json.dumps(outcome.as_json())


async def test_a_page_comes_through_socks(site: Site, tmp_path: Path, microsocks: Running) -> None:
    journey = await travel(site, tmp_path, "http://shop01.test/product/1", microsocks.endpoint)

    assert_fetched_through(journey, microsocks)
    assert journey.members[0].successes == 1


async def test_a_socks_proxy_is_given_addresses_and_no_names(
    site: Site, tmp_path: Path, microsocks: Running
) -> None:
    await travel(site, tmp_path, "http://shop02.test/product/1", microsocks.endpoint)

    log = microsocks.log.read_text(encoding="utf-8")
    assert f"connected to {site.address}" in log
    assert "shop02.test" not in log


async def test_robots_and_page_come_through_the_proxy(
    site: Site, tmp_path: Path, microsocks: Running
) -> None:
    url = "http://shop01.test/product/1"

    journey = await travel(site, tmp_path, url, microsocks.endpoint, respect_robots_txt=True)

    assert_fetched_through(journey, microsocks)
    assert journey.members[0].successes == 2
    assert len(site.hits_of("shop01.test", "/robots.txt")) == 1


async def test_a_page_comes_through_a_plain_proxy(
    site: Site, tmp_path: Path, tinyproxy: Running
) -> None:
    journey = await travel(site, tmp_path, "http://localhost:{port}/page", tinyproxy.endpoint)

    assert_fetched_through(journey, tinyproxy)
    hit = site.hits_of("localhost", "/page")[0]
    assert "first" in hit.headers["Via"]
    assert "Proxy-Authorization" not in hit.headers


@pytest.mark.parametrize("kind", ["tinyproxy", "microsocks"])
async def test_a_tls_page_comes_through_a_tunnel(
    site: Site,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    kind: str,
) -> None:
    proxy: Running = request.getfixturevalue(kind)
    trust(monkeypatch)
    async with tls_front(site) as port:
        url = f"https://shop01.test:{port}/product/1"
        hosts = {"shop01.test": f"127.0.0.1:{port}"}
        monkeypatch.setattr(Site, "known_hosts", property(lambda _: hosts))
        journey = await travel(site, tmp_path, url, proxy.endpoint)

    assert_fetched_through(journey, proxy)
    assert "Via" not in site.hits_of("shop01.test")[0].headers


async def test_a_tls_page_of_another_name_is_not_trusted(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, microsocks: Running
) -> None:
    trust(monkeypatch)
    async with tls_front(site) as port:
        hosts = {"shop02.test": f"127.0.0.1:{port}"}
        monkeypatch.setattr(Site, "known_hosts", property(lambda _: hosts))
        journey = await travel(site, tmp_path, "https://shop02.test/", microsocks.endpoint)

    assert isinstance(journey.outcome.failure, SiteWide)
    assert journey.outcome.failure.reason == "tls"
    assert site.hits == []
    assert journey.members[0].healthy


@pytest.mark.parametrize(
    ("kind", "url"),
    [
        ("microsocks", "http://shop01.test/product/1"),
        ("microsocks", "https://shop01.test/product/1"),
        ("tinyproxy", "http://localhost:{port}/page"),
        ("tinyproxy", "https://shop01.test/product/1"),
    ],
    ids=["socks", "socks-tls", "plain", "connect"],
)
async def test_a_wrong_password_is_the_proxy_s_failure(
    site: Site, tmp_path: Path, request: pytest.FixtureRequest, kind: str, url: str
) -> None:
    proxy: Running = request.getfixturevalue(kind)

    wrong = await travel(site, tmp_path, url, proxy.endpoint_with("guessed"))
    missing = await travel(site, tmp_path, url, proxy.address)

    for journey in (wrong, missing):
        assert isinstance(journey.outcome.failure, ProxyFailed)
        assert [member.healthy for member in journey.members] == [False]
        assert "guessed" not in json.dumps(journey.outcome.as_json())
    assert site.hits == []


@pytest.mark.parametrize(
    ("status", "headers"),
    [(407, {"Proxy-Authenticate": "Basic"}), (401, {"Server": "tinyproxy/1.11.1"})],
)
async def test_a_site_that_speaks_like_a_proxy_does_not_harm_it(
    site: Site, tmp_path: Path, tinyproxy: Running, status: int, headers: dict[str, str]
) -> None:
    site.reply("localhost", "/forged", Reply(status, "no", headers))

    journey = await travel(site, tmp_path, "http://localhost:{port}/forged", tinyproxy.endpoint)

    assert journey.outcome.failure
    assert journey.outcome.failure.reason == f"http_{status}"
    assert [member.healthy for member in journey.members] == [True]
    assert len(site.hits_of("localhost", "/forged")) == 1


@pytest.mark.parametrize("dead", [DEAD, "http://127.0.0.1:1"])
async def test_a_dead_proxy_is_passed_over_for_another(
    site: Site, tmp_path: Path, microsocks: Running, dead: str
) -> None:
    url = "http://shop01.test/product/1"

    journey = await travel(site, tmp_path, url, dead, microsocks.endpoint)

    assert_fetched_through(journey, microsocks)
    assert journey.outcome.attempts == 2
    assert [member.healthy for member in journey.members] == [False, True]
    assert len(site.hits) == 1


async def test_without_a_healthy_proxy_nothing_is_fetched(site: Site, tmp_path: Path) -> None:
    journey = await travel(site, tmp_path, "http://shop01.test/", DEAD, "http://127.0.0.1:2")

    assert isinstance(journey.outcome.failure, ProxyFailed)
    assert journey.outcome.failure.reason == "no_healthy_proxy"
    assert site.hits == []


async def test_without_any_proxy_nothing_is_fetched(site: Site, tmp_path: Path) -> None:
    journey = await travel(site, tmp_path, "http://shop01.test/")

    assert isinstance(journey.outcome.failure, ProxyFailed)
    assert journey.outcome.failure.reason == "no_healthy_proxy"
    assert site.hits == []


async def test_a_dead_site_does_not_make_its_proxy_unhealthy(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, microsocks: Running
) -> None:
    hosts = {"shop01.test": f"127.0.0.1:{free_port()}"}
    monkeypatch.setattr(Site, "known_hosts", property(lambda _: hosts))

    journey = await travel(site, tmp_path, "http://shop01.test/", microsocks.endpoint)

    assert isinstance(journey.outcome.failure, SiteWide)
    assert journey.members[0].healthy


async def test_only_proxies_of_the_wanted_region_are_used(
    site: Site, tmp_path: Path, microsocks: Running
) -> None:
    endpoints = (f"{DEAD}#us", f"{microsocks.endpoint}#de")
    wanted = {"use": "always", "region": "de"}
    elsewhere = {"use": "always", "region": "jp"}
    url = "http://shop01.test/product/1"

    found = await travel(site, tmp_path, url, *endpoints, proxy=wanted)
    missing = await travel(site, tmp_path, url, *endpoints, proxy=elsewhere)

    assert_fetched_through(found, microsocks)
    assert found.outcome.attempts == 1
    assert isinstance(missing.outcome.failure, ProxyFailed)


async def test_proxies_are_used_only_where_a_policy_says_so(site: Site, tmp_path: Path) -> None:
    url = "http://shop01.test/product/1"

    journey = await travel(site, tmp_path, url, DEAD, proxy={"use": "never"})

    assert journey.outcome.ok
    assert journey.outcome.page
    assert journey.outcome.page.proxy is None


async def test_another_attempt_through_another_proxy_carries_no_cookie(
    site: Site, tmp_path: Path, tinyproxy: Running, other_tinyproxy: Running
) -> None:
    cookie = [("Location", "/two"), ("Set-Cookie", "a=1")]
    site.reply("localhost", "/page", Reply(302, headers=cookie), page("Well again"))
    site.reply("localhost", "/two", Reply(500, "broken"))
    endpoints = (tinyproxy.endpoint, other_tinyproxy.endpoint, other_tinyproxy.endpoint)

    journey = await travel(site, tmp_path, "http://localhost:{port}/page", *endpoints)

    assert journey.outcome.ok, journey.outcome.failure
    first, again = site.hits_of("localhost", "/page")
    assert "first" in first.headers["Via"]
    assert "second" in again.headers["Via"]
    assert "Cookie" not in again.headers


async def test_all_hops_of_an_attempt_use_one_proxy_and_its_cookies(
    site: Site, tmp_path: Path, tinyproxy: Running, other_tinyproxy: Running
) -> None:
    cookie = [("Location", "/two"), ("Set-Cookie", "a=1")]
    site.reply("localhost", "/page", Reply(302, headers=cookie))
    site.reply("localhost", "/two", page("Here"))
    endpoints = (tinyproxy.endpoint, other_tinyproxy.endpoint)

    journey = await travel(site, tmp_path, "http://localhost:{port}/page", *endpoints)

    assert journey.outcome.ok, journey.outcome.failure
    first, second = site.hits_of("localhost")
    assert first.headers["Via"] == second.headers["Via"]
    assert second.headers["Cookie"] == "a=1"


@pytest.mark.parametrize("dead", [1, 3])
async def test_dead_proxies_say_nothing_about_robots(site: Site, tmp_path: Path, dead: int) -> None:
    endpoints = [f"socks5://127.0.0.1:{port}" for port in range(1, 1 + dead)]
    url = "http://shop01.test/product/1"

    journey = await travel(site, tmp_path, url, *endpoints, respect_robots_txt=True)

    assert isinstance(journey.outcome.failure, ProxyFailed)


@asynccontextmanager
async def with_store(
    site: Site, folder: Path, *endpoints: str, **proxy: Any
) -> AsyncIterator[Platform]:
    """A platform whose proxies stand in a store, too."""
    if not (folder / FILE_NAME).exists():
        await make_sqlite(folder)
    entry = {"proxy": {"use": "always", **proxy}, "respect_robots_txt": False}
    async with platform_for(
        site,
        policies=policies(folder, default=entry),
        proxies={"endpoints": endpoints, "domain_cooldown_seconds": 0},
        store={"folder": folder},
        http={"timeout_seconds": 5},
    ) as platform:
        yield platform


async def table(folder: Path) -> dict[int, dict[str, Any]]:
    """What the store says of each proxy, by its port."""
    async with open_store(StoreSettings(folder=folder), SystemClock()) as store:
        return {row["proxy_port"]: row for row in await store.read(list_proxies)}


async def test_an_admin_s_proxy_carries_pages_and_is_counted(
    site: Site, tmp_path: Path, microsocks: Running
) -> None:
    await make_sqlite(tmp_path)
    settings = StoreSettings(folder=tmp_path)
    async with open_store(settings, SystemClock()) as store:
        box = open_box(ProxySettings(), settings)
        proxy = parse_proxy(microsocks.endpoint)
        await store.write(lambda unit: insert_proxy(unit, proxy, box, cost_per_gb_micros=10**9))

    async with with_store(site, tmp_path, DEAD) as platform:
        outcome = await platform.pipeline.run(Request("http://shop01.test/product/1"))
        members = platform.proxies.members

    assert_fetched_through(Journey(outcome, members), microsocks)
    rows = await table(tmp_path)
    good, dead = rows[microsocks.port], rows[1]
    assert outcome.page
    assert (good["success_count"], good["bytes_carried"]) == (1, len(outcome.page.body))
    assert cost_of(good) == len(outcome.page.body)
    assert good["avg_response_time_ms"] is not None
    assert good["last_used_at"] >= dead["last_used_at"]
    assert (dead["failure_count"], dead["is_healthy"], dead["origin"]) == (1, False, "settings")
    assert PASSWORD not in (tmp_path / FILE_NAME).read_bytes().decode("latin-1")


async def test_what_one_process_learnt_the_next_one_knows(
    site: Site, tmp_path: Path, microsocks: Running
) -> None:
    endpoints = (DEAD, microsocks.endpoint)
    request = Request("http://shop01.test/product/1")
    async with with_store(site, tmp_path, *endpoints) as platform:
        first = await platform.pipeline.run(request)
    async with with_store(site, tmp_path, *endpoints) as platform:
        second = await platform.pipeline.run(request)

    assert (first.ok, first.attempts) == (True, 2)
    assert (second.ok, second.attempts) == (True, 1)


async def test_a_proxy_visits_a_domain_as_often_as_its_policy_says(
    site: Site, tmp_path: Path, microsocks: Running
) -> None:
    urls = [f"http://shop01.test/product/{number}" for number in range(1, 5)]
    async with with_store(site, tmp_path, microsocks.endpoint, requests_per_second=5) as platform:
        began = platform.clock.monotonic()
        outcomes = await asyncio.gather(*(platform.pipeline.run(Request(url)) for url in urls))
        took = platform.clock.monotonic() - began

    assert [(outcome.ok, outcome.attempts) for outcome in outcomes] == [(True, 1)] * 4
    assert took >= 3 / 5
