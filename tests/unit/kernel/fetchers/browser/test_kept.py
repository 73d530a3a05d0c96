"""Pages that stay open are read again and again, and their site is not asked for anything."""

import asyncio
import gc
import re
from collections.abc import AsyncIterator
from functools import partial

import pytest
import pytest_asyncio
from playwright.async_api import Request as PlaywrightRequest

from penstock.kernel.fetchers.browser import stay
from penstock.kernel.fetchers.browser.kept import KeptPages
from penstock.kernel.model import Failure, Page, Redirect
from penstock.kernel.ports import Hop
from tests.browsers import Place, keep, kept_pages
from tests.shell import eventually
from tests.site import Reply, Site
from tests.site.pages import page

pytestmark = pytest.mark.asyncio(loop_scope="module")

HOST = "shop01.test"
HOME = f"http://{HOST}"
PAGE_LIMIT = 100_000
PNG = b"\x89PNG"

#: Counts by itself, ten times a second.
COUNTS = """<p id="count">0</p><script>
let count = 0;
setInterval(() => { document.getElementById("count").textContent = ++count; }, 100);
</script>"""
#: Does something when it has counted to three.
LATER = COUNTS + "<script>setInterval(() => { if (count == 3) { %s } }, 50);</script>"
ASKS = """<p id="count">0</p><script>
let count = 0;
setInterval(() => fetch("/tick").then(reply => reply.text()).then(() => {
  document.getElementById("count").textContent = ++count;
}), 20);
</script>"""


#: Says whether something that nobody needs is still there.
LITTERS = """<p id="litter">there</p><script>
const litter = new WeakRef(new Array(1000));
setInterval(() => {
  if (!litter.deref()) document.getElementById("litter").textContent = "collected";
}, 50);
</script>"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def whole_site() -> AsyncIterator[Site]:
    async with Site() as site:
        yield site


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pages(whole_site: Site, place: Place) -> AsyncIterator[KeptPages]:
    async with kept_pages(whole_site, place, PAGE_LIMIT, settle_seconds=0.2) as pages:
        yield pages


@pytest_asyncio.fixture(loop_scope="module")
async def site(whole_site: Site, pages: KeptPages) -> AsyncIterator[Site]:
    """The site, without what others asked of it; whatever stays open is closed afterwards."""
    whole_site.hits.clear()
    yield whole_site
    await asyncio.gather(*map(pages.close, pages.names))


async def open_page(pages: KeptPages, hop: Hop) -> Page:
    reply = await pages.fetch(hop)
    assert isinstance(reply, Page), reply
    return reply


async def count_of(pages: KeptPages, name: str = "page") -> int:
    shown = await pages.read(name, 5)
    assert isinstance(shown, Page), shown
    found = re.search(r'id="count">(\d+)', shown.text)
    assert found
    return int(found[1])


async def fails_with(pages: KeptPages, reason: str, name: str = "page") -> bool:
    shown = await pages.read(name, 0.5)
    return isinstance(shown, Failure) and shown.reason == reason


async def test_a_kept_page_shows_what_became_of_it_and_its_site_is_not_asked(
    site: Site, pages: KeptPages
) -> None:
    site.reply(HOST, "/counts", page("Counts", COUNTS))

    first = await open_page(pages, keep(f"{HOME}/counts"))
    await eventually(partial(is_past, pages, 5))
    last = await pages.read("page", 5)

    assert isinstance(last, Page)
    assert (last.url, last.status, last.fetcher) == (first.url, 200, "kept")
    assert last.content_type == "text/html"
    assert pages.names == ("page",)
    assert len(site.hits) == 1


async def is_past(pages: KeptPages, count: int, name: str = "page") -> bool:
    return await count_of(pages, name) > count


async def test_pages_share_a_browser_and_none_of_them_is_slowed_down(
    site: Site, pages: KeptPages
) -> None:
    site.reply(HOST, "/counts", page("Counts", COUNTS))
    names = [f"page {number}" for number in range(10)]
    await asyncio.gather(*(open_page(pages, keep(f"{HOME}/counts", name)) for name in names))
    began = [await count_of(pages, name) for name in names]

    # Where a page is taken for hidden, its timers go once a second.
    async with asyncio.timeout(20):
        for name, count in zip(names, began, strict=True):
            await eventually(partial(is_past, pages, count + 25, name))

    assert [one.pages for one in pages.browsers()] == [10]


async def test_pages_know_nothing_of_each_other(site: Site, pages: KeptPages) -> None:
    gives = "<script>document.cookie = 'given=yes'; localStorage.kept = 'yes';</script>"
    shows = "<script>document.write(`<p>${document.cookie}|${localStorage.kept}</p>`)</script>"
    site.reply(HOST, "/gives", page("Gives", gives))
    site.reply(HOST, "/shows", page("Shows", shows))

    await open_page(pages, keep(f"{HOME}/gives", "one"))
    shown = await open_page(pages, keep(f"{HOME}/shows", "other"))

    assert "<p>|undefined</p>" in shown.text


async def test_a_page_takes_the_place_of_the_one_of_its_name(site: Site, pages: KeptPages) -> None:
    await open_page(pages, keep(f"{HOME}/product/1"))
    await open_page(pages, keep(f"{HOME}/product/2"))

    shown = await pages.read("page", 5)

    assert isinstance(shown, Page)
    assert "Model 2" in shown.text
    assert pages.names == ("page",)
    assert pages.pool.stats().in_use == 1


async def test_a_page_that_was_closed_is_lost_and_costs_nothing(
    site: Site, pages: KeptPages
) -> None:
    await open_page(pages, keep(f"{HOME}/product/1"))
    await pages.look_after()
    assert pages.usage("page")

    await pages.close("page")
    await pages.close("page")

    assert await fails_with(pages, "page_lost")
    assert await pages.shoot("page", 1) is None
    assert (pages.names, pages.usage("page"), pages.is_retired("page")) == ((), None, False)
    assert pages.pool.stats().in_use == 0


@pytest.mark.parametrize(
    "answer",
    [
        Reply(302, headers={"Location": "/elsewhere"}),
        Reply(404, "<h1>There is no such page</h1>"),
        Reply(200, "{}", {"Content-Type": "application/json"}),
        Reply(200, "<p>" + "much " * PAGE_LIMIT),
    ],
    ids=["redirect", "error", "data", "failure"],
)
async def test_only_a_page_is_kept(site: Site, pages: KeptPages, answer: Reply) -> None:
    site.reply(HOST, "/answer", answer)

    reply = await pages.fetch(keep(f"{HOME}/answer"))

    assert isinstance(reply, Page | Redirect | Failure)
    assert pages.names == ()
    assert pages.pool.stats().in_use == 0


async def test_a_page_without_a_name_is_refused(pages: KeptPages) -> None:
    reply = await pages.fetch(keep(f"{HOME}/product/1", ""))

    assert isinstance(reply, Failure)
    assert (reply.kind, reply.reason) == ("refused", "no_name")


@pytest.mark.parametrize(
    "wish",
    [
        "location.href = '/elsewhere';",
        "location.reload();",
        "location.href = 'about:blank';",
        "location.href = 'http://127.0.0.1:1/';",
    ],
)
async def test_a_page_that_wants_to_be_elsewhere_is_not_let_go_there(
    site: Site, pages: KeptPages, wish: str
) -> None:
    site.reply(HOST, "/moves", page("Moves", LATER % wish))

    await open_page(pages, keep(f"{HOME}/moves"))

    await eventually(lambda: fails_with(pages, "page_moved"))
    assert [hit.path for hit in site.hits] == ["/moves"]


async def test_a_page_that_loaded_itself_anew_while_it_was_opened_is_read_nevertheless(
    site: Site, pages: KeptPages
) -> None:
    site.reply(HOST, "/anew", page("Anew", f"{COUNTS}<script>location.reload();</script>"))

    await open_page(pages, keep(f"{HOME}/anew"))

    assert await count_of(pages) >= 0


async def test_a_page_that_writes_itself_anew_is_read(site: Site, pages: KeptPages) -> None:
    again = 'document.open(); document.write("<p id=again>written</p>"); document.close();'
    site.reply(HOST, "/anew", page("Anew", LATER % again))
    await open_page(pages, keep(f"{HOME}/anew"))

    async def is_written() -> bool:
        shown = await pages.read("page", 5)
        return isinstance(shown, Page) and "written</p>" in shown.text

    await eventually(is_written)


async def test_a_page_that_hangs_is_told_from_its_neighbours_and_can_be_opened_again(
    site: Site, pages: KeptPages
) -> None:
    site.reply(HOST, "/hangs", page("Hangs", LATER % "for (;;);"))
    await open_page(pages, keep(f"{HOME}/hangs", "hung"))
    await open_page(pages, keep(f"{HOME}/product/1", "well"))

    await eventually(lambda: fails_with(pages, "page_hung", "hung"))
    well = await pages.read("well", 5)
    assert await pages.shoot("hung", 0.2) is None
    await open_page(pages, keep(f"{HOME}/product/2", "hung"))

    assert isinstance(well, Page)
    assert isinstance(await pages.read("hung", 5), Page)
    assert len(pages.browsers()) == 1


async def test_a_page_that_grows_too_large_is_not_taken(site: Site, pages: KeptPages) -> None:
    grows = f"document.body.append('x'.repeat({2 * PAGE_LIMIT}));"
    site.reply(HOST, "/grows", page("Grows", LATER % grows))
    await open_page(pages, keep(f"{HOME}/grows"))

    await eventually(lambda: fails_with(pages, "too_large"))


async def test_a_picture_of_a_page_can_be_had(site: Site, pages: KeptPages) -> None:
    await open_page(pages, keep(f"{HOME}/product/1"))

    shot = await pages.shoot("page", 10)

    assert shot is not None
    assert shot.startswith(PNG)


async def test_what_a_page_asks_for_by_itself_leaves_nothing_behind(
    site: Site, pages: KeptPages
) -> None:
    site.reply(HOST, "/asks", page("Asks", ASKS))
    site.reply(HOST, "/tick", Reply(200, "tick"))
    await open_page(pages, keep(f"{HOME}/asks"))
    gc.collect()
    before = requests_known()

    await eventually(partial(is_past, pages, 100))

    gc.collect()
    assert requests_known() <= before
    assert len(site.hits_of(HOST, "/tick")) > 100


def requests_known() -> int:
    return sum(isinstance(each, PlaywrightRequest) for each in gc.get_objects())


async def test_the_garbage_of_a_page_is_collected_now_and_then(
    site: Site, pages: KeptPages, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def is_collected() -> bool:
        shown = await pages.read("page", 5)
        return isinstance(shown, Page) and "collected</p>" in shown.text

    site.reply(HOST, "/litters", page("Litters", LITTERS))
    await open_page(pages, keep(f"{HOME}/litters"))
    assert not await is_collected()

    monkeypatch.setattr(stay, "TIDY_SECONDS", 0)
    await eventually(is_collected)


async def test_memory_is_that_of_a_page_and_its_share(site: Site, pages: KeptPages) -> None:
    takes = "<script>window.kept = new Uint8Array(100 * 1024 * 1024).fill(1);</script>"
    site.reply(HOST, "/large", page("Large", takes))
    await open_page(pages, keep(f"{HOME}/large", "large"))
    await open_page(pages, keep(f"{HOME}/product/1", "small"))

    await pages.look_after()
    large, small = pages.usage("large"), pages.usage("small")

    assert large
    assert small
    assert large.memory_bytes - small.memory_bytes > 60 * 1024 * 1024
    assert small.memory_bytes > 10 * 1024 * 1024
    whole = pages.browsers()[0]
    assert large.browser_pid == small.browser_pid == whole.pid
    assert large.memory_bytes + small.memory_bytes == pytest.approx(whole.memory_bytes, rel=0.05)


async def test_processor_time_only_grows(site: Site, pages: KeptPages) -> None:
    await open_page(pages, keep(f"{HOME}/product/1"))
    await pages.look_after()
    before = pages.usage("page")

    await open_page(pages, keep(f"{HOME}/product/2", "other"))
    await pages.look_after()
    after = pages.usage("page")

    assert before
    assert after
    assert after.cpu_seconds >= before.cpu_seconds > 0


async def test_who_goes_away_while_a_page_is_opened_leaves_nothing_open(
    site: Site, pages: KeptPages
) -> None:
    site.reply(HOST, "/late", Reply(200, "late", delay=60))
    opening = asyncio.create_task(pages.fetch(keep(f"{HOME}/late")))
    await eventually(lambda: bool(site.hits))

    opening.cancel()
    await asyncio.gather(opening, return_exceptions=True)

    assert pages.names == ()
    assert pages.pool.stats().in_use == 0
