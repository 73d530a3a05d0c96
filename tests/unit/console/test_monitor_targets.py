"""Targets in the console, and files of them: found, added, changed one by one and many at once."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.consoles import XSS, assert_harmless, text_of
from tests.lamps import HOST, post, show
from tests.monitor_pages import LAMP, Shop, lamp_console
from tests.site import Site


@pytest.fixture
async def shop(tmp_path: Path, site: Site) -> AsyncIterator[Shop]:
    async with lamp_console(tmp_path, site) as shop:
        yield shop


async def test_a_target_is_added_and_refused_where_it_is_wrong(shop: Shop) -> None:
    console = shop.console
    page = await console.post("/monitor/targets/new", url="nowhere", schedule="6h")
    assert page.status_code == 422
    assert 'id="error-url"' in page.text
    assert 'value="6h"' in page.text
    page = await console.post("/monitor/targets/new", url=LAMP)
    assert page.status_code == 409
    assert "already" in text_of(page)
    page = await console.post("/monitor/targets/new", url=f"http://{HOST}/product/9", priority="x")
    assert 'id="error-priority"' in page.text
    url = f"http://{HOST}/product/9"
    page = await console.post("/monitor/targets/new", url=url, schedule="6h", priority="-2")
    assert "The target was added" in text_of(page)
    target = await shop.ask(f"/targets/{page.url.path.rpartition('/')[2]}")
    assert (target["url"], target["schedule"], target["priority"]) == (url, "6h", -2)


async def test_targets_are_searched_filtered_and_sorted(shop: Shop) -> None:
    console = shop.console
    await post(shop.console.service, f"/targets/{shop.lamp}/pause")
    found = text_of(await console.get("/monitor/targets", q="product/2"))
    assert "product/2" in found
    assert "product/1" not in found
    found = text_of(await console.get("/monitor/targets", status="PAUSED", source="Lamps"))
    assert "product/1" in found
    assert "product/2" not in found
    page = await console.get("/monitor/targets", kind="disabled")
    assert "No target is like that" in text_of(page)
    page = await console.get("/monitor/targets", source="nobody")
    assert "There is no such source" in text_of(page)
    for order, first in (("newest", 3), ("oldest", 1), ("address", 1)):
        listed = text_of(await console.get("/monitor/targets", order=order))
        places = [listed.index(f"product/{number}") for number in (1, 2, 3)]
        assert min(places) == places[first - 1]
    due = text_of(await console.get("/monitor/targets", order="due"))
    assert "product/1" not in due
    assert "product/2" in due


@pytest.mark.parametrize("order", ["newest", "oldest", "due", "address"])
async def test_lists_of_targets_go_on_where_they_ended(
    shop: Shop, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.console.monitor_targets.PART", 2)
    first = await shop.console.get("/monitor/targets", order=order)
    [link] = [part.partition('"')[0] for part in first.text.split('<p class="more"><a href="')[1:]]
    second = await shop.console.get(link.replace("&amp;", "&"))
    found = [
        row["id"]
        for row in shop.targets
        for page in (first, second)
        if f'name="id" value="{row["id"]}"' in page.text
    ]
    assert sorted(found) == sorted(row["id"] for row in shop.targets)
    assert "More" not in text_of(second)
    wrong = await shop.console.get("/monitor/targets", order=order, after="'; drop")
    assert "is no place in a list" in text_of(wrong)


async def test_many_targets_are_changed_at_once(shop: Shop) -> None:
    ids = [row["id"] for row in shop.targets]
    page = await shop.console.post(
        "/monitor/targets/bulk", do="pause", id=[*ids[:2], "0" * 32], asked="order=oldest&q=lamps"
    )
    assert "2 of 3 targets: paused. Not done for 1: Target not found" in text_of(page)
    assert dict(page.url.params) == {"order": "oldest", "q": "lamps"}
    statuses = {row["id"]: row["status"] for row in await shop.ask("/targets")}
    assert [statuses[each] for each in ids] == ["PAUSED", "PAUSED", "ACTIVE"]
    await shop.console.post("/monitor/targets/bulk", do="resume", id=ids)
    await shop.console.post("/monitor/targets/bulk", do="remove", id=ids)
    rows = await shop.ask("/targets")
    assert [(row["status"], row["enabled"]) for row in rows] == [("ACTIVE", False)] * 3
    await shop.console.post("/monitor/targets/bulk", do="enable", id=ids)
    assert all(row["enabled"] for row in await shop.ask("/targets"))
    nothing = await shop.console.post("/monitor/targets/bulk", do="pause")
    assert "tick the boxes" in text_of(nothing)


async def test_a_targets_page_shows_its_price_its_steps_and_what_was_found(shop: Shop) -> None:
    page = await shop.console.get(f"/monitor/targets/{shop.lamp}")
    words = text_of(page)
    assert "19.91 USD" in words
    assert '<circle class="good"' in page.text
    assert "robots" in words
    assert ".price" in words
    assert "success" in words
    [result] = [part.partition('"')[0] for part in page.text.split("/monitor/results/")[1:2]]
    stored = await shop.console.get(f"/monitor/results/{result}")
    assert stored.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in stored.headers["content-security-policy"]
    assert "Lamp 1" in stored.text


async def test_what_was_found_stands_next_to_the_last_good_one(shop: Shop) -> None:
    show(shop.site, "amount")
    await shop.read()
    page = await shop.console.get(f"/monitor/targets/{shop.lamp}")
    words = text_of(page)
    assert "Last good" in words
    assert "selector not found" in words
    assert "19.91" in words
    assert "differs" in words


async def test_a_target_is_switched_edited_read_and_removed(shop: Shop) -> None:
    console, where = shop.console, f"/monitor/targets/{shop.lamp}"
    for do, name, value in (
        ("pause", "status", "PAUSED"),
        ("resume", "status", "ACTIVE"),
        ("disable", "enabled", False),
        ("enable", "enabled", True),
        ("block", "robots_path_blocked", True),
        ("unblock", "robots_path_blocked", False),
    ):
        page = await console.post(f"{where}/{do}")
        assert page.status_code == 200
        assert (await shop.ask(f"/targets/{shop.lamp}"))[name] == value
    page = await console.post(f"{where}/edit", schedule="often", priority="1", notes="mine")
    assert page.status_code == 422
    assert 'id="error-schedule"' in page.text
    assert "mine" in page.text
    await console.post(
        f"{where}/edit", schedule="12h", priority="7", notes="ask Ann", adapter="lamps"
    )
    target = await shop.ask(f"/targets/{shop.lamp}")
    assert (target["schedule"], target["priority"]) == ("12h", 7)
    assert (target["notes"], target["adapter_id"]) == ("ask Ann", "lamps")
    page = await console.post(f"{where}/read")
    assert "look again in a moment" in text_of(page)
    page = await console.post(f"{where}/explode")
    assert "nothing of that name" in text_of(page)
    added = await console.post("/monitor/targets/new", url=f"http://{HOST}/product/8")
    gone = await console.post(f"{added.url.path}/remove")
    assert "The target was deleted" in text_of(gone)


# ── files


async def test_a_file_is_looked_at_before_it_is_taken_in(shop: Shop) -> None:
    console = shop.console
    text = f"url,schedule\nhttp://{HOST}/product/7,6h\nnowhere,6h\n{LAMP},1d\n"
    page = await console.post("/monitor/import", text=text, format="csv", do="preview")
    words = text_of(page)
    assert page.status_code == 422
    assert "3 nowhere url:" in words
    assert "already" in words
    assert "product/7" in page.text
    good = f"url,schedule\nhttp://{HOST}/product/7,6h\n{LAMP},1d\n"
    file = {"file": ("targets.csv", good.encode())}
    page = await console.post(
        "/monitor/import", files=file, format="csv", existing="skip", do="preview"
    )
    assert "Would be added 1" in text_of(page)
    assert "Import 1 target" in text_of(page)
    assert len(await shop.ask("/targets")) == 3
    page = await console.post(
        "/monitor/import", text=good, format="csv", existing="skip", do="import"
    )
    assert "1 targets were added, 1 were there already" in text_of(page)
    assert len(await shop.ask("/targets")) == 4


async def test_an_import_that_is_wrong_by_now_adds_nothing(shop: Shop) -> None:
    page = await shop.console.post(
        "/monitor/import", text=f"url\n{LAMP}", format="csv", do="import"
    )
    assert page.status_code == 422
    assert "Not imported" in text_of(page)
    binary = {"file": ("targets.csv", b"\xff\xfe\x00")}
    page = await shop.console.post("/monitor/import", files=binary, format="csv", do="preview")
    assert "is not written in UTF-8" in text_of(page)
    page = await shop.console.post("/monitor/import", text="", format="csv", do="preview")
    assert 'id="error-text"' in page.text


async def test_all_targets_come_as_a_file(shop: Shop) -> None:
    csv = await shop.console.get("/monitor/export")
    assert csv.headers["content-disposition"] == 'attachment; filename="targets.csv"'
    assert csv.text.count(HOST) == 3
    lines = await shop.console.get("/monitor/export", format="json", source="Lamps")
    assert lines.text.count('"url"') == 3
    assert (await shop.console.get("/monitor/export", format="xml")).status_code == 422


# ── what is typed


async def test_whatever_is_typed_is_shown_again_as_text(shop: Shop) -> None:
    console, lamp = shop.console, f"/monitor/targets/{shop.lamp}"
    fields = ("url", "source", "adapter", "schedule", "priority", "notes", "text", "format")
    more = ("name", "domain", "retailer", "rate", "headers", "q", "status", "order", "why", "price")
    for text in XSS:
        typed: dict[str, Any] = dict.fromkeys((*fields, *more), text)
        for path in (
            "/monitor/targets/new",
            f"{lamp}/edit",
            "/monitor/import",
            "/monitor/runs/new",
            "/monitor/sources/new",
            f"/monitor/sources/{shop.source}/edit",
            "/monitor/adapters/disable",
        ):
            assert_harmless(await console.post(path, **typed))
        for path in ("targets", "targets/new", "runs", "quarantine", "sources", "adapters/one"):
            assert_harmless(await console.get(f"/monitor/{path}", **typed))
