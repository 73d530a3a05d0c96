"""Pages that do not show where they end: whole ones cost nothing, cut ones are none.

Where images are blocked a page is looked at before the browser gets it, and HTML may leave its end
tags out.
"""

import gzip
from pathlib import Path

import pytest

from penstock.app import Platform
from penstock.kernel.model import RateLimited, UrlSpecific
from tests.browsers import Place, browse
from tests.platforms import ONCE, page_of, platform_for, policies
from tests.site import Raw, Reply, Site

pytestmark = pytest.mark.asyncio(loop_scope="module")

OPEN = b"<!doctype html><title>Open</title><p>No end tag"
CLOSED_BY_THE_END = Raw.of(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + OPEN)
PACKED = Reply(200, gzip.compress(OPEN), {"Content-Type": "text/html", "Content-Encoding": "gzip"})


@pytest.mark.parametrize("plan", [CLOSED_BY_THE_END, PACKED], ids=["end of connection", "packed"])
async def test_a_page_without_end_tags_is_looked_at_twice_once_per_origin(
    site: Site, platform: Platform, plan: Raw | Reply
) -> None:
    host = f"{type(plan).__name__.lower()}.blocking.shop01.test"
    site.reply(host, "/open", plan)

    first = await platform.pipeline.run(browse(f"http://{host}/open"))
    looks = len(site.hits_of(host, "/open"))
    second = await platform.pipeline.run(browse(f"http://{host}/open"))

    assert "<title>Open</title>" in page_of(first).text
    assert "<title>Open</title>" in page_of(second).text
    assert (first.attempts, looks, len(site.hits_of(host, "/open"))) == (1, 2, 3)


async def test_the_second_look_does_not_count_for_the_breaker(
    site: Site, place: Place, tmp_path: Path
) -> None:
    site.reply("shop02.test", "/open", CLOSED_BY_THE_END)
    async with platform_for(
        site,
        browser=place.settings(),
        breaker={"trip": "consecutive", "threshold": 1},
        policies=policies(tmp_path, shop02_test={"block_resources": True}),
        retry=ONCE,
        shared={"lock_file": tmp_path / "lock"},
    ) as strict:
        outcome = await strict.pipeline.run(browse("http://shop02.test/open"))

    assert "<title>Open</title>" in page_of(outcome).text
    assert not any(
        said.answer.startswith("wait") for said in outcome.trace if said.gate == "breaker"
    )


async def test_an_error_without_end_tags_is_told_with_its_status_and_its_wish(
    site: Site, platform: Platform
) -> None:
    host = "errors.blocking.shop01.test"
    busy = b"HTTP/1.1 503 Busy\r\nContent-Type: text/html\r\nRetry-After: 7\r\n\r\n" + OPEN
    site.reply(host, "/busy", Raw.of(busy))
    site.reply(
        host, "/gone", Raw.of(b"HTTP/1.1 410 Gone\r\nContent-Type: text/html\r\n\r\n" + OPEN)
    )

    gone = await platform.pipeline.run(browse(f"http://{host}/gone"))
    asked = await platform.pipeline.run(browse(f"http://{host}/busy"))

    assert isinstance(gone.failure, UrlSpecific)
    assert gone.failure.status == 410
    assert isinstance(asked.failure, RateLimited)
    assert (asked.failure.status, asked.failure.retry_after) == (503, 7.0)
    assert [len(site.hits_of(host, path)) for path in ("/gone", "/busy")] == [1, 1]


async def test_half_a_page_says_nothing_of_the_others_of_its_origin(
    site: Site, platform: Platform
) -> None:
    host = "halves.blocking.shop01.test"
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4000\r\n\r\n"
    told = "addEventListener('securitypolicyviolation', e => document.title = e.effectiveDirective)"
    asks = f"<!doctype html><title>?</title><script>{told}</script><img src='/a.png'>"
    site.reply(host, "/half", Raw.of(head + OPEN))
    site.reply(host, "/asks", Reply(200, asks, {"Content-Type": "text/html"}))

    half = await platform.pipeline.run(browse(f"http://{host}/half"))
    whole = await platform.pipeline.run(browse(f"http://{host}/asks"))

    assert half.failure is not None
    assert half.failure.reason == "truncated"
    # It was given to the browser with the rule not to ask for images.
    assert "<title>img-src</title>" in page_of(whole).text
