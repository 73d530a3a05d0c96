"""Domains in the console: what each is owed, how it does, and whether a URL may be fetched."""

from pathlib import Path
from typing import Any

import pytest

from penstock.kernel.model import Pass
from penstock.store.switches import StoredSwitches
from tests.consoles import XSS, assert_harmless, console_on, text_of
from tests.platforms import pages_asked, policies
from tests.site import Site


async def test_list_teaches_where_there_is_nothing(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        page = await console.get("/domains")

    assert page.status_code == 200
    assert "No domain is paused, down or slowed down." in text_of(page)
    assert "penstock monitor sources add" in text_of(page)


async def test_list_shows_policies_troubles_and_domains(tmp_path: Path, site: Site) -> None:
    files = policies(tmp_path, **{"shop01.test": {"request_delay_ms": 700}})
    async with console_on(tmp_path, site, policies=files) as console:
        platform, services = console.service.platform, console.service
        await platform.pacing.slow_down("slow.test", 100)
        await StoredSwitches(services.engine.store).pause("shop02.test", "they asked")
        await services.post("/monitor/retailers", {"name": "A shop"})
        for _ in range(20):
            leave = await platform.circuits.common.breaker.enter("outage.test")
            assert isinstance(leave, Pass)
            if await platform.circuits.common.breaker.report(leave, well=False):
                break

        text = text_of(await console.get("/domains"))

    assert "shop01.test request delay ms" in text
    assert "shop02.test paused they asked" in text
    assert "outage.test open" in text
    assert "slow.test slowed" in text


async def test_domain_says_what_it_is_owed_and_who_says_so(tmp_path: Path, site: Site) -> None:
    files = policies(tmp_path, **{"shop01.test": {"request_delay_ms": 700}})
    async with console_on(tmp_path, site, policies=files) as console:
        text = text_of(await console.get("/domains/www.shop01.test"))

    assert "request_delay_ms 700 policy of shop01.test" in text
    assert "respect_robots_txt yes built in" in text


async def test_headers_of_a_policy_are_named_and_their_values_hidden(
    tmp_path: Path, site: Site
) -> None:
    files = policies(tmp_path, **{"shop01.test": {"headers": {"X-Token": "a-secret"}}})
    async with console_on(tmp_path, site, policies=files) as console:
        text = text_of(await console.reader.get("/domains/shop01.test"))

    assert "X-Token" in text
    assert "a-secret" not in text


async def test_question_is_answered_gate_by_gate(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        asked: dict[str, Any] = {"url": "http://shop01.test/cart", "robots": "fetch"}
        text = text_of(await console.get("/domains", **asked))

    assert "No: it must not be fetched." in text
    assert "Disallow: /cart" in text
    order = ["admission yes", "pause yes", "robots no", "hours yes", "breaker yes", "way out yes"]
    assert sorted(order, key=text.index) == order
    assert pages_asked(site, "shop01.test") == []


async def test_nobody_is_contacted_unless_an_admin_says_so(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        url = "http://shop01.test/product/1"
        unknown = text_of(await console.get("/domains", url=url))
        looked = text_of(await console.reader.get("/domains", url=url, robots="fetch"))
        assert site.hits_of("shop01.test") == []
        known = text_of(await console.get("/domains", url=url, robots="fetch"))
        hits = [hit.path for hit in site.hits_of("shop01.test")]

    assert "Not before its robots.txt is known." in unknown
    assert "Not before its robots.txt is known." in looked
    assert "Yes: it may be fetched now." in known or "Not now: it has to wait." in known
    assert hits == ["/robots.txt"]


@pytest.mark.parametrize("url", ["http://127.0.0.1/", "http://169.254.169.254/latest"])
async def test_addresses_off_limits_are_explained(tmp_path: Path, site: Site, url: str) -> None:
    async with console_on(tmp_path, site) as console:
        text = text_of(await console.get("/domains", url=url, robots="fetch"))

    assert "No: it must not be fetched." in text
    assert "admission no" in text


async def test_what_is_no_url_is_said_at_the_field(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        page = await console.get("/domains", url="ftp://shop01.test/")
        nothing = await console.get("/domains/..%20no%20name")

    assert page.status_code == 422
    assert 'id="url-error"' in page.text
    assert 'value="ftp://shop01.test/"' in page.text
    assert nothing.status_code == 404


async def test_pause_and_resume_are_done_and_written_down(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        switches = StoredSwitches(console.service.engine.store)

        done = await console.post("/domains/pause", domain="www.shop01.test", reason="they asked")
        assert await switches.paused() == {"shop01.test": "they asked"}
        assert "Contact with shop01.test is paused." in text_of(done)
        done = await console.post("/domains/resume", domain="shop01.test")
        assert "Contact with shop01.test goes on." in text_of(done)
        assert await switches.paused() == {}

        audit = text_of(await console.get("/audit"))
    assert "service pause shop01.test why: they asked" in audit
    assert "service resume shop01.test" in audit


async def test_pause_asks_for_a_reason_and_an_admin(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        switches = StoredSwitches(console.service.engine.store)
        await console.get("/domains")
        refused = await console.post("/domains/pause", domain="shop01.test", reason="")
        forbidden = await console.reader.post("/domains/pause", domain="x.test", reason="why")
        unknown = await console.post("/domains/resume", domain="shop01.test")

        assert await switches.paused() == {}
    assert "reason: say why" in text_of(refused)
    assert "may look, and not change" in text_of(forbidden)
    assert "It is not paused" in text_of(unknown)


async def test_hostile_words_stay_words(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        for words in XSS:
            assert_harmless(await console.get("/domains", url=words))
            assert_harmless(await console.get("/domains", url=f"http://shop01.test/{words}"))
            assert_harmless(await console.get("/domains/shop01.test", workload=words, url=words))
            await console.post("/domains/pause", domain="shop01.test", reason=words)
            assert_harmless(await console.get("/domains"))
            assert_harmless(await console.get("/domains/shop01.test"))
