"""The page fetcher in the console: its queue, its outages, its dead letters."""

from pathlib import Path

import pytest

from penstock.kernel.model import Pass
from penstock.queue.ports import Bury, State
from penstock.queue.upkeep import Upkeep
from tests.consoles import XSS, RunningConsole, assert_harmless, console_on, text_of
from tests.services import claim
from tests.site import Site

PAGE = "http://shop01.test/product/1"


async def bury(console: RunningConsole, *urls: str, reason: str = "http_404") -> None:
    """Let URLs be dead letters."""
    engine = console.service.engine
    await console.post("/stream/push", urls="\n".join(urls))
    ids = [row["id"] for row in await _waiting(console)]
    failure = {"kind": "url_specific", "reason": reason, "detail": reason, "status": 404}
    claims = await claim(console.service, ids)
    await engine.rows.settle([(each, Bury(failure)) for each in claims])


async def _waiting(console: RunningConsole) -> list[dict[str, str]]:
    return await Upkeep(console.service.engine.store).items(lane="stream", state=State.WAITING)


async def test_urls_are_pushed_and_wait(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        page = await console.post("/stream/push", urls=f"{PAGE}\n{PAGE}2")

        shown = text_of(page)
        assert "2 URLs wait to be fetched" in shown
        assert "shop01.test 2" in shown
        assert "push URLs" in text_of(await console.get("/audit"))


async def test_what_is_not_taken_comes_back_with_the_reason(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        page = await console.post("/stream/push", urls=f"{PAGE}\nftp://shop01.test/x")

        assert page.status_code == 422
        assert "1 of 2 were taken" in text_of(page)
        assert "ftp://shop01.test/x: only http and https" in text_of(page)
        assert len(await _waiting(console)) == 1
        assert "accepted: 1" in text_of(await console.get("/audit"))


@pytest.mark.parametrize("urls", ["", "  \n ", "x " * 1001])
async def test_too_few_or_too_many_are_not_taken(tmp_path: Path, site: Site, urls: str) -> None:
    async with console_on(tmp_path, site) as console:
        page = await console.post("/stream/push", urls=urls)

        assert page.status_code == 422
        assert "give 1 to 1000 URLs" in text_of(page)


async def test_a_full_queue_is_told(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site, queue={"max_pending": 1}) as console:
        await console.get("/stream")
        await console.post("/stream/push", urls=PAGE)

        page = await console.post("/stream/push", urls=f"{PAGE}2")

        assert "The queue of URLs is full" in text_of(page)


async def test_a_site_that_is_down_is_on_the_timeline(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        assert "No site has been down" in text_of(await console.get("/stream"))
        breaker = console.service.platform.circuits.of_workloads["stream"].breaker
        for _ in range(10):
            leave = await breaker.enter("down.test")
            if isinstance(leave, Pass):
                await breaker.report(leave, well=False)

        page = await console.get("/stream")

        assert "Sites that are down 1" in text_of(page)
        assert "down.test open" in text_of(page)
        assert 'href="/console/domains/down.test"' in page.text


async def test_dead_letters_are_chosen_by_domain_and_reason(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        assert "no such dead letter" in text_of(await console.get("/stream/dead"))
        await bury(console, PAGE)
        await bury(console, "http://shop02.test/product/1", reason="http_410")

        everything = await console.get("/stream/dead")
        gone = text_of(await console.get("/stream/dead", reason="http_410"))
        first_shop = text_of(await console.get("/stream/dead", domain="shop01.test"))

        assert everything.text.count('name="url"') == 4  # a box and a button each
        assert "http://shop02.test/product/1" in gone
        assert PAGE not in gone
        assert PAGE in first_shop
        assert "http_410" not in first_shop
        assert (await console.get("/stream/dead", after="nonsense")).status_code == 200


async def test_one_some_or_all_dead_letters_are_revived(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        urls = [f"{PAGE}{number}" for number in range(5)]
        await bury(console, *urls)
        await bury(console, "http://shop02.test/product/1", reason="http_410")

        page = await console.post("/stream/dead/revive", url=urls[0])
        assert "1 wait again" in text_of(page)
        page = await console.post("/stream/dead/revive", url=urls[1:3])
        assert "2 wait again" in text_of(page)
        page = await console.post("/stream/dead/revive-all", domain="shop01.test", reason="")
        assert "2 wait again" in text_of(page)
        page = await console.post("/stream/dead/revive-all")
        assert "1 wait again" in text_of(page)

        assert len(await _waiting(console)) == 6
        audit = text_of(await console.get("/audit"))
        assert "revive dead letters shop01.test number: 2" in audit


async def test_chosen_dead_letters_are_forgotten(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        await bury(console, PAGE, f"{PAGE}2")

        page = await console.post("/stream/dead/forget", url=PAGE)

        assert "1 are forgotten" in text_of(page)
        assert f"{PAGE}2" in text_of(page)


async def test_nothing_chosen_changes_nothing(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        await bury(console, PAGE)
        await console.get("/stream/dead")

        for action in ("revive", "forget"):
            page = await console.post(f"/stream/dead/{action}")
            assert "tick the dead letters" in text_of(page)
            assert PAGE in text_of(page)


async def test_who_may_only_look_changes_nothing(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        await bury(console, PAGE)

        assert "disabled" in (await console.reader.get("/stream/dead")).text
        await console.reader.post("/stream/dead/revive-all")
        await console.reader.post("/stream/push", urls=PAGE)

        assert await _waiting(console) == []


async def test_whatever_is_dead_or_typed_stays_text(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        for text in XSS:
            await bury(console, f"{PAGE}?q={''.join(text.split())}", reason=text)
            assert_harmless(await console.get("/stream/dead", domain=text))
            assert_harmless(await console.get("/stream/dead", reason=text, after=text))
            assert_harmless(await console.post("/stream/push", urls=text))

        page = await console.get("/stream/dead")

        assert page.text.count("url specific") > 30
        assert_harmless(page)
