"""A page gets so much time, so many bytes, requests and browsers, and no more."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from penstock.app import Platform
from penstock.kernel.model import Refused, Request, Visit, Wait
from tests.browsers import browse
from tests.platforms import page_of, pages_asked, said
from tests.site import Raw, Reply, Site
from tests.site.answers import encode_head
from tests.site.pages import page

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize(
    ("selector", "note"),
    [("#never", "'#never' did not appear within 0 s"), ("a[", "'a[' is no CSS selector")],
)
async def test_an_element_that_does_not_come_is_noted(
    strict: Platform, selector: str, note: str
) -> None:
    outcome = await strict.pipeline.run(browse("http://shop01.test/product/1", wait_for=selector))

    assert page_of(outcome).notes == (note,)
    assert said(outcome, "browser") == [note]


async def test_a_page_that_never_settles_is_taken_as_it_is(strict: Platform) -> None:
    outcome = await strict.pipeline.run(browse("http://scripted.test/unsettled"))

    assert "This much is there at once." in page_of(outcome).text
    assert said(outcome, "browser") == ["it was still loading"]


async def test_a_page_that_hangs_is_ended_in_time(strict: Platform) -> None:
    async with asyncio.timeout(10):
        hung = await strict.pipeline.run(browse("http://scripted.test/hangs"))
        well = await strict.pipeline.run(browse("http://shop01.test/product/1"))

    assert hung.failure
    assert (hung.failure.kind, hung.failure.reason) == ("broken", "page_hung")
    assert well.ok


async def test_the_caller_s_time_is_over_for_all_attempts(site: Site, platform: Platform) -> None:
    site.reply("slow.test", "/never", Reply(200, "late", delay=30))
    async with asyncio.timeout(10):
        by_browser, by_http = [
            await platform.pipeline.run(
                Request("http://slow.test/never", fetcher=name, timeout=0.5)
            )
            for name in ("browser", "http")
        ]

    for outcome in (by_browser, by_http):
        assert isinstance(outcome.failure, Refused)
        assert outcome.failure.reason == "task_timeout"
        assert outcome.attempts == 1


async def test_what_is_no_document_is_read_no_further_than_the_limit(
    site: Site, strict: Platform
) -> None:
    async def much_and_no_end() -> AsyncGenerator[bytes, None]:
        yield encode_head(200, {"Content-Type": "application/json", "Connection": "close"})
        yield bytes(400_000)
        await asyncio.Event().wait()

    site.reply("shop01.test", "/much", Raw(much_and_no_end))
    outcome = await strict.pipeline.run(browse("http://shop01.test/much"))

    assert outcome.failure
    assert outcome.failure.reason == "too_large"


async def test_bytes_of_a_page_and_its_parts_are_bounded(strict: Platform) -> None:
    outcome = await strict.pipeline.run(browse("http://scripted.test/heavy"))

    assert outcome.failure
    assert (outcome.failure.kind, outcome.failure.reason) == ("broken", "too_large")


async def test_requests_of_a_page_are_bounded(site: Site, strict: Platform) -> None:
    outcome = await strict.pipeline.run(browse("http://scripted.test/many"))

    assert outcome.ok, outcome.failure
    assert said(outcome, "browser") == ["cut off after 10 requests"]
    assert len(pages_asked(site, "scripted.test")) <= 10


async def test_a_page_larger_than_the_limit_is_broken(site: Site, strict: Platform) -> None:
    site.reply("scripted.test", "/large", page("Large", "<p>much</p>" * 10_000))

    outcome = await strict.pipeline.run(browse("http://scripted.test/large"))

    assert outcome.failure
    assert outcome.failure.reason == "too_large"


async def test_more_pages_than_seats_all_come_to_their_end(strict: Platform) -> None:
    before = strict.browsers.stats()
    requests = [browse(f"http://shop01.test/product/{number}") for number in range(1, 13)]

    outcomes = await asyncio.gather(*map(strict.pipeline.run, requests))

    stats = strict.browsers.stats()
    assert [outcome.ok for outcome in outcomes] == [True] * 12
    assert (stats.total, stats.available, stats.in_use) == (2, 2, 0)
    assert stats.pages_processed == before.pages_processed + 12


async def test_a_caller_who_will_not_wait_for_a_browser_is_told(strict: Platform) -> None:
    seats = [await strict.browsers.acquire(5) for _ in range(2)]
    try:
        visit = strict.pipeline.admit(browse("http://shop01.test/product/1"))
        assert isinstance(visit, Visit)
        wait = await strict.pipeline.advance(visit)
        while isinstance(wait, Wait) and wait.gate != "browser":
            wait = await strict.pipeline.advance(visit)
        assert isinstance(wait, Wait)
        outcome = await strict.pipeline.give_up(visit, wait)
    finally:
        for seat in seats:
            await strict.browsers.release(seat)

    assert visit.attempt == 1
    assert isinstance(outcome.failure, Refused)
    assert (outcome.failure.gate, outcome.failure.reason) == ("browser", "pool_exhausted")
