"""Pages that the caller knows already: they are recognised, and not read again."""

import hashlib

from penstock.app import Platform
from penstock.kernel.model import Request
from tests.site import Site
from tests.site.answers import Reply

URL = "http://shop01.test/product/1"


async def test_a_page_is_known_by_the_sites_word(platform: Platform) -> None:
    first = await platform.pipeline.run(Request(URL, extract="product"))
    assert first.page
    assert not first.unchanged
    known = Request(URL, extract="product", etag=first.page.headers["ETag"])
    again = await platform.pipeline.run(known)
    assert (again.unchanged, again.failure, again.reading) == (True, None, None)
    assert again.as_json()["unchanged"]
    assert ("extract", "unchanged") in [(said.gate, said.answer) for said in again.trace]


async def test_a_page_is_known_by_its_content(platform: Platform) -> None:
    first = await platform.pipeline.run(Request(URL))
    assert first.page
    content = hashlib.sha256(first.page.body).hexdigest()
    again = await platform.pipeline.run(Request(URL, extract="product", content_hash=content))
    assert (again.unchanged, again.reading) == (True, None)
    other = await platform.pipeline.run(Request(URL, extract="product", content_hash="0" * 64))
    assert not other.unchanged
    assert other.reading


async def test_a_304_that_nobody_asked_for_is_no_page_that_is_known(
    site: Site, platform: Platform
) -> None:
    site.reply("odd.test", "/product/1", Reply(304))
    outcome = await platform.pipeline.run(Request("http://odd.test/product/1", extract="product"))
    assert (outcome.unchanged, outcome.reading) == (False, None)
