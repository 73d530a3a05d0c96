"""Hostile words through every field that can be submitted or scraped: shown as text, never run."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from selectolax.lexbor import LexborHTMLParser, LexborNode

from tests.consoles import XSS, RunningConsole, assert_harmless, console_on, pages_of, place_of
from tests.site import Reply, Site

pytestmark = pytest.mark.asyncio(loop_scope="module")
#: Enough to be run by a browser, if anything is.
LOUD = tuple(words for words in XSS if "<" in words or "javascript" in words.lower())
HOSTILE = "hostile.test"
PAGE = """<html><head><title>{0}</title><meta name="description" content="{0}">
<script type="application/ld+json">{{"@type": "Product", "name": "{1}", "sku": "{1}",
 "brand": "{1}", "description": "{1}", "offers": {{"price": "9.99", "priceCurrency": "USD",
 "availability": "https://schema.org/InStock"}}}}</script></head>
<body><h1>{0}</h1><b class=price>$9.99</b></body></html>"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def console(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningConsole]:
    folder = tmp_path_factory.mktemp("console")
    async with Site() as site, console_on(folder, site, works=True) as console:
        yield console


async def test_every_form_takes_hostile_words_and_no_page_runs_them(
    console: RunningConsole,
) -> None:
    """Each word goes through every form of every page, as somebody would fill them in."""
    sent = 0
    for path in pages_of(console):
        page = await console.get(path)
        for form in LexborHTMLParser(page.text).css("form[method=post]"):
            action = form.attributes.get("action") or ""
            if action.endswith(("/sign-out", "/sign-in")):
                continue
            for words in XSS[::3]:
                assert_harmless(await console.post(action, **filled_in(form, words)))
                sent += 1
    assert sent > len(XSS)
    for path in pages_of(console):
        assert_harmless(await console.get(path))


async def test_every_filter_takes_hostile_words(console: RunningConsole) -> None:
    for path in pages_of(console):
        page = await console.get(path)
        for form in LexborHTMLParser(page.text).css("form[method=get]"):
            for words in XSS[1::3]:
                where = form.attributes.get("action") or path
                assert_harmless(await console.get(place_of(where), **filled_in(form, words)))


async def test_hostile_pages_are_shown_as_text_by_a_browser(console: RunningConsole) -> None:
    service = console.service
    for number, words in enumerate(LOUD):
        text = words.replace("\\", "\\\\").replace('"', '\\"')
        body = PAGE.format(words, text.replace("</", "<\\/")).encode(errors="replace")
        service.site.reply("shop01.test", f"/hostile/{number}", Reply(200, body.decode()))
        task = await service.submit(f"http://shop01.test/hostile/{number}")
        await service.finished(task)
    found = await service.tasks()
    async with console.browser() as page:
        for task_row in found[: len(LOUD)]:
            await page.goto(f"/console/scrape/tasks/{task_row['task_id']}")
            assert await page.locator("main script, main iframe, main [onerror]").count() == 0
        await page.goto("/console/scrape")


def filled_in(form: LexborNode, words: str) -> dict[str, Any]:
    """What a form sends when hostile words are put in every field that takes them."""
    fields: dict[str, Any] = {}
    for each in form.css("input, textarea, select"):
        name, kind = each.attributes.get("name"), each.attributes.get("type") or "text"
        if not name or name == "csrf" or kind in ("file", "checkbox", "radio"):
            continue
        if each.tag == "select" or kind == "hidden":
            chosen = each.css_first("option[selected], option")
            value = chosen.attributes.get("value") if chosen else each.attributes.get("value")
            fields[name] = value or ""
        else:
            fields[name] = words
    return fields
