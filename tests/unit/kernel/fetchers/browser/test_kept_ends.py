"""Whatever ends under a page that is kept shows when it is read next; then it is opened anew."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest

from penstock.core.clock import SystemClock
from penstock.kernel.fetchers.browser.kept import KeptPages
from penstock.kernel.model import Failure, Page
from penstock.kernel.ports import Hop, NotNow
from tests.browsers import Place, chromiums, command_of, keep, kept_pages, named, processes_below
from tests.private_server import is_alive
from tests.shell import eventually
from tests.site import Reply, Site
from tests.site.pages import page

HOST = "shop01.test"
HOME = f"http://{HOST}"
ENDLESSLY = 10**9
ASKS = """<p>Asks</p><script>
setInterval(() => fetch("/tick").catch(() => 0), 20);
</script>"""


class ClockAhead(SystemClock):
    """A clock of which only durations can be moved."""

    ahead = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as site:
        yield site


async def open_page(pages: KeptPages, hop: Hop) -> Page:
    """Open a page as the path does: trouble of our own is not held against it."""
    while True:
        try:
            reply = await pages.fetch(hop)
        except NotNow as trouble:
            await asyncio.sleep(trouble.seconds)
        else:
            assert isinstance(reply, Page), reply
            return reply


async def open_two(pages: KeptPages) -> None:
    await open_page(pages, keep(f"{HOME}/product/1", "one"))
    await open_page(pages, keep(f"{HOME}/product/2", "other"))


async def what_is_read(pages: KeptPages, name: str, seconds: float = 5) -> str:
    reply = await pages.read(name, seconds)
    return reply.reason if isinstance(reply, Failure) else "page"


async def is_lost(pages: KeptPages, name: str) -> bool:
    return await what_is_read(pages, name) == "page_lost"


def kill(part: str) -> int:
    """Kill the first process below us that has a part in its command."""
    family = named(processes_below(os.getpid()), part)
    victim = next(pid for pid in family if "keeper.py" not in command_of(pid))
    os.kill(victim, signal.SIGKILL)
    return victim


async def test_a_killed_renderer_costs_its_own_page_only(site: Site, browsers: Place) -> None:
    async with kept_pages(site, browsers) as pages, asyncio.timeout(30):
        await open_page(pages, keep(f"{HOME}/product/1", "one"))
        first = named(processes_below(os.getpid()), "--type=renderer")
        await open_page(pages, keep(f"{HOME}/product/2", "other"))
        os.kill(first[0], signal.SIGKILL)

        await eventually(partial(is_lost, pages, "one"))

        assert await what_is_read(pages, "other") == "page"
        assert pages.names == ("other",)
        await open_page(pages, keep(f"{HOME}/product/1", "one"))
        assert await what_is_read(pages, "one") == "page"
        assert len(pages.browsers()) == 1


@pytest.mark.parametrize("part", ["--penstock-browser=", "run-driver"], ids=["browser", "driver"])
async def test_a_killed_browser_or_driver_loses_all_pages_and_is_replaced(
    site: Site, browsers: Place, part: str
) -> None:
    async with kept_pages(site, browsers) as pages, asyncio.timeout(30):
        await open_two(pages)
        kill(part)

        for name in ("one", "other"):
            await eventually(partial(is_lost, pages, name))
        assert pages.names == ()
        await open_two(pages)

        assert await what_is_read(pages, "one") == "page"
        assert len(chromiums(os.getpid())) == 1


async def test_a_frozen_browser_is_left_and_ends_with_its_last_page(
    site: Site, browsers: Place
) -> None:
    async with kept_pages(site, browsers) as pages, asyncio.timeout(40):
        await open_two(pages)
        frozen = chromiums(os.getpid())[0]
        os.kill(frozen, signal.SIGSTOP)

        assert await what_is_read(pages, "one", 0.3) == "page_hung"
        assert await what_is_read(pages, "other", 0.3) == "page_hung"
        await pages.close("one")
        assert pages.is_retired("other")
        await open_two(pages)

        assert await what_is_read(pages, "other") == "page"
        await eventually(lambda: not is_alive(frozen))


async def test_a_large_browser_is_left_page_by_page(site: Site, browsers: Place) -> None:
    limits: dict[str, Any] = {"max_memory_mb": 64, "hard_memory_mb": ENDLESSLY}
    async with kept_pages(site, browsers, **limits) as pages:
        await open_two(pages)
        large = chromiums(os.getpid())[0]
        assert not pages.is_retired("one")

        await pages.look_after()

        assert pages.is_retired("one")
        assert await what_is_read(pages, "one") == "page"
        await open_page(pages, keep(f"{HOME}/product/1", "one"))
        assert not pages.is_retired("one")
        assert pages.is_retired("other")
        assert is_alive(large)
        await open_page(pages, keep(f"{HOME}/product/2", "other"))
        await eventually(lambda: not is_alive(large))
        assert [one.pages for one in pages.browsers()] == [2]


async def test_a_huge_browser_is_ended_with_its_pages(site: Site, browsers: Place) -> None:
    async with kept_pages(site, browsers, hard_memory_mb=64) as pages:
        await open_two(pages)
        huge = chromiums(os.getpid())[0]

        await pages.look_after()

        assert not is_alive(huge)
        assert await what_is_read(pages, "one") == await what_is_read(pages, "other") == "page_lost"
        assert pages.pool.browsers == 0


async def test_a_page_is_refused_while_memory_is_short(site: Site, browsers: Place) -> None:
    limits: dict[str, Any] = {"min_free_memory_mb": ENDLESSLY, "first_page_always": False}
    async with kept_pages(site, browsers, **limits) as pages:
        with pytest.raises(NotNow, match="too little memory") as told:
            await pages.fetch(keep(f"{HOME}/product/1"))

        assert told.value.reason == "pool_exhausted"
        assert pages.look() is not None
        assert pages.pool.is_short_of_memory
        assert chromiums(os.getpid()) == []


async def test_a_page_that_asks_too_much_is_held_back_and_stays(
    site: Site, browsers: Place
) -> None:
    site.reply(HOST, "/asks", page("Asks", ASKS))
    site.reply(HOST, "/tick", Reply(200, "tick"))
    clock = ClockAhead()
    # Much of it is asked for while the page is opened.
    limits: dict[str, Any] = {"max_requests": 20, "settle_seconds": 1}
    async with kept_pages(site, browsers, clock=clock, **limits) as pages:
        await open_page(pages, keep(f"{HOME}/asks"))

        async def is_held_back() -> bool:
            shown = await pages.read("page", 5)
            assert isinstance(shown, Page)
            return any("asked too much" in note for note in shown.notes)

        await eventually(is_held_back)
        assert len(site.hits) == 20
        clock.ahead = 60
        await eventually(lambda: len(site.hits) > 20)


async def test_after_use_nothing_is_left(site: Site, browsers: Place) -> None:
    before = processes_below(os.getpid())
    async with kept_pages(site, browsers) as pages:
        await open_two(pages)
        assert chromiums(os.getpid())

    await eventually(lambda: set(processes_below(os.getpid())) <= set(before))
    assert browsers.files_left() == []
    assert pages.names == ()


async def test_before_the_first_page_nothing_is_started(site: Site, browsers: Place) -> None:
    async with kept_pages(site, browsers) as pages:
        assert (pages.names, pages.browsers()) == ((), [])
        assert await what_is_read(pages, "page") == "page_lost"
        assert browsers.files_left() == []


async def test_without_a_browser_the_reason_is_told(site: Site, browsers: Place) -> None:
    async with kept_pages(site, browsers, executable="/no/such/program") as pages:
        reply = await pages.fetch(keep(f"{HOME}/product/1"))

    assert isinstance(reply, Failure)
    assert reply.reason == "no_browser"
    assert "no program" in reply.detail
