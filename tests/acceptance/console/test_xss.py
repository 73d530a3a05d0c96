"""Hostile words through every field that can be submitted or scraped: shown as text, never run."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import pytest_asyncio
from selectolax.lexbor import LexborHTMLParser, LexborNode

from tests.consoles import assert_harmless, pages_of, place_of, walk
from tests.hostile import BEGINNINGS, EVERYTHING, one_of_each, packed, poison
from tests.monitor_pages import Shop, lamp_console
from tests.site import Reply, Site

pytestmark = pytest.mark.asyncio(loop_scope="module")
PAGE = """<html><head><title>{0}</title><meta name="description" content="{0}">
<script type="application/ld+json">{{"@type": "Product", "name": "{1}", "sku": "{1}",
 "brand": "{1}", "description": "{1}", "offers": {{"price": "9.99", "priceCurrency": "USD",
 "availability": "https://schema.org/InStock"}}}}</script></head>
<body><h1>{0}</h1><b class=price>$9.99</b></body></html>"""
#: So many kinds of pages there are at least, when there is one of everything.
KINDS = 45
FOREIGN = "main script, main iframe, main object, main style, main base, main [onerror]"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shop(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Shop]:
    folder = tmp_path_factory.mktemp("console")
    async with Site() as site, lamp_console(folder, site) as shop:
        await one_of_each(shop)
        yield shop


async def every_page(shop: Shop) -> list[str]:
    """One page of each kind, those of things too, and all that need no name."""
    console = shop.console
    found = list(dict.fromkeys([*await walk(console), *pages_of(console)]))
    assert len(found) > KINDS
    return found


async def test_every_filter_takes_hostile_words(shop: Shop) -> None:
    sent = 0
    for path in await every_page(shop):
        for form in forms_of(await shop.console.get(path), "get"):
            where = place_of(form.attributes.get("action") or path.partition("?")[0])
            for fields in fillings(form):
                page = await shop.console.get(where, **fields, after=fields.get("q", EVERYTHING))
                assert page.status_code < 500, (where, fields)
                assert_harmless(page)
                sent += 1
    assert sent > 10 * len(packed())


async def test_hostile_pages_are_scraped_and_shown_as_text_by_a_browser(shop: Shop) -> None:
    service, tasks = shop.console.service, []
    for number, words in enumerate((EVERYTHING, *BEGINNINGS)):
        text = words.replace("\\", "\\\\").replace('"', '\\"').replace("</", "<\\/")
        body = PAGE.format(words, " ".join(text.split())).encode(errors="replace")
        shop.site.reply("shop01.test", f"/hostile/{number}", Reply(200, body.decode()))
        tasks.append(await service.submit(f"http://shop01.test/hostile/{number}"))
    for task in tasks:
        # Before the browser is there: the service may start one too, in the same process.
        await service.finished(task)
    async with shop.console.browser() as page:
        for task in tasks:
            await page.goto(f"/console/scrape/tasks/{task}")
            assert await page.locator(FOREIGN).count() == 0


@pytest.mark.parametrize("words", [EVERYTHING, *BEGINNINGS[:1]], ids=["everything", "beginning"])
async def test_store_full_of_hostile_words_is_shown_as_text(shop: Shop, words: str) -> None:
    """Whatever is kept of what others wrote: pages, answers, names, notes, reasons, errors."""
    paths = await every_page(shop)
    poisoned = await poison(shop.console.service.engine.store, words)
    assert len(poisoned) > KINDS
    shown = 0
    async with shop.console.browser(allowed=[404, 422]) as page:
        for path in paths:
            answer = await page.goto(path)
            assert answer is not None
            assert answer.status < 500, path
            content = await answer.text()
            assert_harmless(content)
            assert await page.locator(FOREIGN).count() == 0, path
            shown += "alert(1)" in content
    assert shown > KINDS // 2


async def test_every_form_takes_hostile_words_and_no_page_runs_them(shop: Shop) -> None:
    """The corpus goes through every form of every page, as somebody would fill them in."""
    sent = set()
    paths = await every_page(shop)
    for path in paths:
        for form in forms_of(await shop.console.get(path), "post"):
            action = form.attributes.get("action") or ""
            if action in sent or action.endswith("/sign-out"):
                continue
            for fields in fillings(form):
                page = await shop.console.post(action, files_of(form), **fields)
                assert page.status_code < 500, (action, fields)
                assert_harmless(page)
                sent.add(action)
    assert len(sent) > KINDS // 2
    for path in paths:
        assert_harmless(await shop.console.get(path))


def forms_of(page: Any, method: str) -> list[LexborNode]:
    return LexborHTMLParser(page.text).css(f"form[method={method}]")


def files_of(form: LexborNode) -> dict[str, Any]:
    """The files that a form sends: tables of hostile words."""
    names = [each.attributes["name"] for each in form.css("input[type=file]")]
    return {name: ("x.csv", f"url,notes\n{EVERYTHING},{EVERYTHING}") for name in names if name}


def fillings(form: LexborNode) -> Iterator[dict[str, Any]]:
    """What a form sends: hostile words in every field that takes text, then in all of them."""
    fields = list(_fields(form))
    if any(takes_text for _, _, takes_text in fields):
        for words in packed():
            yield {name: words if takes_text else value for name, value, takes_text in fields}
    if fields:
        yield {name: EVERYTHING for name, _, _ in fields}


def _fields(form: LexborNode) -> Iterator[tuple[str, str, bool]]:
    """Each field with what it says by itself, and whether people type something in it."""
    for each in form.css("input, textarea, select, button"):
        name, kind = each.attributes.get("name"), each.attributes.get("type") or "text"
        if not name or name == "csrf" or kind == "file":
            continue
        if each.tag == "select":
            chosen = each.css_first("option[selected], option")
            yield name, (chosen.attributes.get("value") or "") if chosen else "", False
        else:
            is_fixed = each.tag == "button" or kind in ("hidden", "checkbox", "radio")
            yield name, each.attributes.get("value") or "", not is_fixed
