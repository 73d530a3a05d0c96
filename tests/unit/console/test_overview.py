"""The overview: what makes progress and what does not, and pausing contact."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert

from penstock.events.tables import deliveries
from penstock.kernel.model import Pass
from penstock.store.switches import StoredSwitches
from penstock.workloads.live.feeds import put_feed
from penstock.workloads.live.model import Feed
from penstock.workloads.monitor.tables import scrape_adapter_status
from tests.consoles import XSS, RunningConsole, assert_harmless, console_on, text_of
from tests.monitors import add_source
from tests.site import Site

DOWN = "down.test"


async def break_down(console: RunningConsole, domain: str = DOWN) -> None:
    """Let a circuit open."""
    breaker = console.service.platform.circuits.common.breaker
    for _ in range(50):
        leave = await breaker.enter(domain)
        if isinstance(leave, Pass):
            await breaker.report(leave, well=False)


async def park_a_delivery(
    console: RunningConsole, error: str = "no answer", sink: str = "webhooks"
) -> None:
    row = {"sink": sink, "seq": 1, "key": "backend.test", "state": "parked"}
    row |= {"attempts": 9, "next_at": 0, "error": error}
    await console.service.engine.store.write(
        lambda unit: unit.run(insert(deliveries), row) and None
    )


async def paused(console: RunningConsole) -> dict[str, str]:
    return await StoredSwitches(console.service.engine.store).paused()


async def test_an_idle_platform_is_told_what_to_do_next(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        page = await console.get("")

        assert page.status_code == 200
        assert "Nothing waits and nothing is under way" in text_of(page)
        assert "/console/scrape/new" in page.text


async def test_work_is_shown_by_lane(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        await console.service.submit("http://shop01.test/product/1")
        await console.service.submit("http://shop01.test/product/2")

        shown = text_of(await console.get(""))

        assert "scrape 2 0" in shown
        assert "Largest backlogs" in shown


async def test_what_is_in_trouble_leads_to_its_place(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        await break_down(console)
        await console.service.platform.pacing.slow_down("slow.test", 300)
        await park_a_delivery(console)
        console.service.platform.metrics.failed("site_wide", "timeout")

        page = await console.get("")

        for link in (f"/domains/{DOWN}", "/domains/slow.test", "/scrape/webhooks?state=parked"):
            assert f'href="/console{link}"' in page.text
        shown = text_of(page)
        assert "Open breakers 1" in shown
        assert "Slowed domains 1" in shown
        assert "Parked deliveries 1" in shown


async def test_a_disabled_adapter_is_shown_with_its_reason(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        store = console.service.engine.store
        source = await add_source(store, "shop", "shop.test")
        row: dict[str, Any] = {
            "adapter_id": "shop@x",
            "adapter": "shop",
            "source_id": source,
            "pooled": {},
        }
        row |= {"baseline_coverage": {}, "created_at": 1, "updated_at": 1, "enabled": False}
        row |= {"disabled_reason": "MANUAL", "disabled_by": "Ada", "disabled_at": 1}
        await store.write(lambda unit: unit.run(insert(scrape_adapter_status), row) and None)

        shown = text_of(await console.get(""))

        assert "Disabled adapters 1" in shown
        assert "shop@x manual Ada" in shown


async def test_a_feed_that_nobody_watches_is_stale(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        feed = Feed("a-match", "http://shop01.test/product/1", "selectors")
        store = console.service.engine.store
        await store.write(lambda unit: put_feed(unit, feed) and None)

        page = await console.get("")

        assert "Stale feeds 1" in text_of(page)
        assert 'href="/console/live/feeds/a-match"' in page.text
        assert (await console.get("/live/feeds/a-match")).status_code == 200


async def test_everything_is_paused_and_resumed(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        page = await console.post("/pause", everything="1", reason="a fire drill")
        assert "All contact is paused" in text_of(page)
        assert await paused(console) == {"": "a fire drill"}

        page = await console.post("/resume", domain="")
        assert "All contact goes on" in text_of(page)
        assert await paused(console) == {}
        audit = text_of(await console.get("/audit"))
        assert "pause everything reason: a fire drill" in audit


@pytest.mark.parametrize("said", ["WWW.Example.com", " example.com "])
async def test_a_domain_is_paused_with_all_its_hosts(tmp_path: Path, site: Site, said: str) -> None:
    async with console_on(tmp_path, site) as console:
        page = await console.post("/pause", domain=said)

        assert "example.com is paused" in text_of(page)
        assert await paused(console) == {"example.com": ""}


@pytest.mark.parametrize("said", ["", "http://example.com/x", "a b", "<script>"])
async def test_what_is_no_domain_is_not_paused(tmp_path: Path, site: Site, said: str) -> None:
    async with console_on(tmp_path, site) as console:
        await console.get("")

        page = await console.post("/pause", domain=said)

        assert "domain: " in text_of(page)
        assert await paused(console) == {}


async def test_who_may_only_look_pauses_nothing(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        page = await console.reader.get("")
        assert page.text.count("<button disabled") + page.text.count('"danger" disabled') == 2

        await console.reader.post("/pause", everything="1")

        assert await paused(console) == {}


async def test_whatever_is_shown_stays_text(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        platform, store = console.service.platform, console.service.engine.store
        await console.service.submit("http://shop01.test/product/1")
        await park_a_delivery(console)
        for number, text in enumerate(XSS):
            platform.metrics.failed(text, text)
            await platform.pacing.slow_down(text, 300 + number)
            await break_down(console, text)
            await park_a_delivery(console, text, sink=text)
        for text in XSS[:10]:
            await StoredSwitches(store).pause(text, text)

        assert_harmless(await console.get(""))
