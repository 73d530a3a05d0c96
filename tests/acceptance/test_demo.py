"""The demo shows what it promises."""

from collections.abc import AsyncIterator
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from tests.site import DEMO_HOSTS, Site, demo
from tests.site.catalog_demo import show_catalog
from tests.site.demo import DURABLE, EXTRA, PACE, PRODUCTS, extract, fetch, kill_and_resume
from tests.site.live_demo import show_live
from tests.site.monitor_demo import NotSeenError, show_monitor
from tests.site.shops import product


async def test_the_demo_shows_denial_rate_limit_outage_and_refusal() -> None:
    async with Site() as site:
        known = ",".join(f"{name}={address}" for name, address in site.known_hosts.items())
        urls = [f"http://{host}/" for host in DEMO_HOSTS] + list(EXTRA)
        settings = {**PACE, "PENSTOCK_ADMISSION__KNOWN_HOSTS": known}
        outcomes = {outcome["url"]: outcome async for outcome in fetch(urls, settings)}
        assert site.canary.connections == 0
    assert set(outcomes) == set(urls)
    assert len(DEMO_HOSTS) >= 20
    assert reason(outcomes["http://private.test/"]) == "robots_denied"
    assert outcomes["http://ratelimited.test/"]["attempts"] > 1
    assert reason(outcomes["http://ratelimited.test/"]) is None
    assert reason(outcomes["http://moved.test/to-private"]) == "admission_loopback"
    outage = [outcomes[url] for url in urls if "outage.test" in url]
    assert all(reason(outcome) is None for outcome in outage)
    assert any(said["gate"] == "breaker" for outcome in outage for said in outcome["gates"])


async def test_the_demo_reads_a_product_of_every_shop() -> None:
    async with Site() as site:
        known = ",".join(f"{name}={address}" for name, address in site.known_hosts.items())
        settings = {**PACE, "PENSTOCK_ADMISSION__KNOWN_HOSTS": known}
        records = {record["url"]: record async for record in extract(PRODUCTS, settings)}
    assert list(records) == list(PRODUCTS)
    for url, record in records.items():
        host, number = url.removeprefix("http://").split("/product/")
        item = product(host, int(number))
        assert (record["name"], record["currency"]) == (item.title, item.currency)
        assert record["availability"] == item.availability
        assert int(record["price"].replace(".", "")) == item.price_minor
        assert record["verdict"] == "accept"


async def test_the_demo_kills_a_durable_run_and_resumes_it() -> None:
    async with Site() as site:
        known = ",".join(f"{name}={address}" for name, address in site.known_hosts.items())
        settings = {**PACE, "PENSTOCK_ADMISSION__KNOWN_HOSTS": known}
        before, after = await kill_and_resume(DURABLE, settings)
    assert before + after == len(DURABLE)
    assert before >= len(DURABLE) // 3
    assert after > 0


async def test_the_demo_shows_the_monitor_from_the_first_price_to_the_canary() -> None:
    screen = StringIO()
    async with Site() as site:
        known = ",".join(f"{name}={address}" for name, address in site.known_hosts.items())
        settings = {**PACE, "PENSTOCK_ADMISSION__KNOWN_HOSTS": known}
        await show_monitor(Console(file=screen, width=200), site, settings)
    said = screen.getvalue()
    for each in (
        "PENSTOCK_MONITOR__REQUESTS_PER_SECOND=20",
        "78.58 → 75.44 USD",
        "┤●",
        "AMBIGUOUS_PRICE: 226.62 or 198.75",
        "the adapter disables itself, DRIFT_DETECTED",
        "20 as before, 40 newly good, none worse",
        "a canary of 3 pages",
    ):
        assert each in said


async def test_the_demo_crawls_a_shop_and_searches_it() -> None:
    screen = StringIO()
    async with Site() as site:
        known = ",".join(f"{name}={address}" for name, address in site.known_hosts.items())
        settings = {**PACE, "PENSTOCK_ADMISSION__KNOWN_HOSTS": known}
        await show_catalog(Console(file=screen, width=200), site, settings)
    said = screen.getvalue()
    for each in (
        "100 pages of goods01.test are products now",
        "who asks for a title gets it first",
    ):
        assert each in said


async def test_the_demo_follows_a_match_to_its_end() -> None:
    screen = StringIO()
    async with Site() as site:
        known = ",".join(f"{name}={address}" for name, address in site.known_hosts.items())
        settings = {**PACE, "PENSTOCK_ADMISSION__KNOWN_HOSTS": known}
        await show_live(Console(file=screen, width=200), site, settings)
    said = screen.getvalue()
    for each in (
        "request_delay_ms: 100",
        "#1   in_play  Spillway XI 0/0",
        "the match has ended, and with it who watched it",
        "the result: Spillway XI won by 2 runs",
    ):
        assert each in said


async def test_the_demo_fails_if_something_is_not_seen() -> None:
    screen = StringIO()
    async with Site() as site:
        known = ",".join(f"{name}={address}" for name, address in site.known_hosts.items())
        settings = {**PACE, "PENSTOCK_ADMISSION__KNOWN_HOSTS": known}
        site.robots["lamps.test"] = "User-agent: *\nDisallow: /"
        with pytest.raises(NotSeenError, match=r"Lamp shop is approved.*: 0 prices"):
            await show_monitor(Console(file=screen), site, settings)
    assert "nothing is fetched yet" in screen.getvalue()
    assert "disables itself" not in screen.getvalue()


async def test_the_exit_code_says_that_something_is_not_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def nothing(*_: Any) -> AsyncIterator[dict[str, Any]]:
        outcomes: list[dict[str, Any]] = []
        for outcome in outcomes:
            yield outcome

    monkeypatch.setattr(demo, "fetch", nothing)
    assert await demo.main() == 1


def reason(outcome: dict[str, Any]) -> str | None:
    return outcome["failure"] and str(outcome["failure"]["reason"])
