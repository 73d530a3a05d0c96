"""The monitor's pages over HTTP: what they show, what their forms change, and what they refuse."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.consoles import assert_harmless, console_on, text_of
from tests.lamps import HOST, get, post
from tests.monitor_pages import SOURCE, Shop, lamp_console
from tests.site import Site

EMPTY = {
    "/monitor": "add a source",
    "/monitor/targets": "Add a target",
    "/monitor/runs": "Nothing has been read yet",
    "/monitor/adapters": "No adapter has read pages",
    "/monitor/quarantine": "Nothing waits for a decision",
    "/monitor/sources": "Add the first one",
}


@pytest.fixture
async def shop(tmp_path: Path, site: Site) -> AsyncIterator[Shop]:
    async with lamp_console(tmp_path, site) as shop:
        yield shop


async def test_empty_pages_teach_the_next_step(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        for path, words in EMPTY.items():
            page = await console.get(path)
            assert page.status_code == 200
            assert words in text_of(page)


async def test_the_overview_leads_to_what_needs_somebody(shop: Shop) -> None:
    await shop.offer()
    await post(shop.console.service, "/adapters/lamps/disable", {"reason": "MANUAL"})
    page = text_of(await shop.console.get("/monitor"))
    assert "Active 3" in page
    assert "In quarantine 1" in page
    assert "Adapters disabled 1" in page
    assert "manual" in page


# ── sources


async def test_a_source_is_added_approved_edited_and_revoked(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        page = await console.post(
            "/monitor/sources/new",
            **SOURCE | {"adapter_id": "product"},
            rate="0.5",
            headers="X-A: 1",
        )
        assert "Nothing is fetched from it until" in text_of(page)
        where = page.url.path
        page = await console.post(f"{where}/approve")
        assert "accepted by service" in text_of(page)
        page = await console.post(
            f"{where}/edit",
            name="Better lamps",
            domain=HOST,
            rate="2",
            visibility_status="ELIGIBLE",
            robots_compliant="yes",
            upc_trusted="yes",
        )
        assert "The source was changed" in text_of(page)
        [source] = await get(console.service, "/sources")
        assert source["name"] == "Better lamps"
        assert source["scrape_config"] == {"rateLimit": {"requestsPerSecond": 2.0}}
        assert (source["adapter_id"], source["upc_trusted"]) == (None, True)
        assert source["visibility_status"] == "ELIGIBLE"
        page = await console.post(f"{where}/revoke")
        assert "nobody has approved them" in text_of(page)
        audit = text_of(await console.get("/audit"))
        for action in ("add source", "approve source", "edit source", "revoke source"):
            assert action in audit


async def test_a_wrong_source_is_shown_again_with_what_is_wrong(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        page = await console.post(
            "/monitor/sources/new",
            name="Lamps",
            domain="lamps.test",
            retailer="Lighthouse",
            rate="-1",
            headers="Host: other.test",
        )
        assert page.status_code == 422
        assert 'id="error-rate"' in page.text
        assert 'id="error-headers"' in page.text
        assert 'value="Lighthouse"' in page.text
        page = await console.post(
            "/monitor/sources/new", name="Lamps", domain="lamps.test", retailer="L", headers="odd"
        )
        assert "one header a line" in text_of(page)
        assert await get(console.service, "/sources") == []


# ── runs and adapters


async def test_runs_are_listed_shown_started_and_tried_again(shop: Shop) -> None:
    console = shop.console
    page = await console.get("/monitor/runs", source="Lamps", status="SUCCESS")
    assert "3 of 3" in text_of(page)
    assert page.text.count("<svg") == 2
    assert "is none that there is" in text_of(await console.get("/monitor/runs", status="odd"))
    [run] = await shop.ask("/runs")
    words = text_of(await console.get(f"/monitor/runs/{run['id']}"))
    assert "Prices 3" in words
    assert "product/3" in words
    failed = await console.get(f"/monitor/runs/{run['id']}", ended="failed")
    assert "No result is like that" in text_of(failed)
    page = await console.post(f"/monitor/runs/{run['id']}/retry")
    assert "no target of that run failed" in text_of(page)
    page = await console.post("/monitor/runs/new")
    assert "say which targets to read" in text_of(page)
    page = await console.post("/monitor/runs/new", source="Lamps")
    assert "3 targets are read as soon as it is their turn" in text_of(page)
    assert (await console.get("/monitor/runs/" + "0" * 32)).status_code == 404


async def test_results_of_a_run_come_in_parts(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.console.monitor_runs.RESULTS", 2)
    [run] = await shop.ask("/runs")
    first = await shop.console.get(f"/monitor/runs/{run['id']}", ended="accept")
    [link] = [part.partition('"')[0] for part in first.text.split('<p class="more"><a href="')[1:]]
    second = await shop.console.get(link.replace("&amp;", "&"))
    shown = [page.text.count("step by step</a>") for page in (first, second)]
    assert shown == [2, 1]


async def test_an_adapter_is_disabled_with_a_reason_and_enabled_with_a_canary(shop: Shop) -> None:
    console = shop.console
    page = await console.get("/monitor/adapters")
    assert "lamps" in text_of(page)
    page = await console.post("/monitor/adapters/disable", id="lamps", reason="because")
    assert "must be one of" in text_of(page)
    page = await console.post("/monitor/adapters/disable", id="lamps", reason="ToS_VIOLATION")
    assert "tos violation" in text_of(page)
    listed = await console.get("/monitor/adapters", state="disabled")
    assert "lamps" in text_of(listed)
    page = await console.post("/monitor/adapters/enable", id="lamps")
    assert "canary next" in text_of(page)
    [status] = await shop.ask("/adapters")
    assert (status["enabled"], status["needs_canary"]) == (True, True)
    assert (await console.get("/monitor/adapters/one", id="nobody")).status_code == 404
    page = await console.post("/monitor/adapters/enable", id="nobody")
    assert "no adapter 'nobody'" in text_of(page)


# ── quarantine and prices


async def test_an_offer_is_shown_with_both_values_and_released(shop: Shop) -> None:
    console, offer = shop.console, await shop.offer()
    listed = text_of(await console.get("/monitor/quarantine"))
    assert "199.10 USD" in listed
    assert "19.91 USD" in listed
    page = await console.get(f"/monitor/quarantine/{offer}")
    words = text_of(page)
    assert "199.10 USD" in words
    assert "19.91 USD" in words
    assert ".price" in words
    page = await console.post(f"/monitor/quarantine/{offer}/release", price="25", why="")
    assert page.status_code == 422
    assert 'id="error-why"' in page.text
    assert 'value="25"' in page.text
    page = await console.post(f"/monitor/quarantine/{offer}/release", why="seen it", price="1e3")
    assert 'id="error-price"' in page.text
    page = await console.post(
        f"/monitor/quarantine/{offer}/release", why="seen it", price="25.00", currency="usd"
    )
    assert "released by service" in text_of(page)
    target = await console.get(f"/monitor/targets/{shop.lamp}")
    assert "25.00 USD" in text_of(target)
    again = await console.post(f"/monitor/quarantine/{offer}/discard", why="no")
    assert "released by service already" in text_of(again)


async def test_an_offer_is_discarded_with_a_reason(shop: Shop) -> None:
    offer = await shop.offer()
    page = await shop.console.post(f"/monitor/quarantine/{offer}/discard", why="a typing error")
    assert "discarded by service" in text_of(page)
    assert "a typing error" in text_of(page)
    assert "a typing error" in text_of(await shop.console.get("/audit"))
    chart = (await shop.console.get(f"/monitor/targets/{shop.lamp}")).text
    assert '<circle class="bad"' in chart


async def test_a_price_is_corrected_hidden_and_counts_again(shop: Shop) -> None:
    console = shop.console
    [price] = await shop.ask("/prices", target_id=shop.lamp)
    where = f"/monitor/prices/{price['price_id']}"
    page = await console.post(f"{where}/corrections", why="misread", price="", do="override")
    assert page.status_code == 422
    assert 'id="error-price"' in page.text
    page = await console.post(f"{where}/corrections", why="misread", price="18.00", do="override")
    assert "18.00 USD" in text_of(page)
    [made] = await shop.ask(f"{where.removeprefix('/monitor')}/corrections")
    page = await console.post(f"{where}/corrections/{made['id']}/revoke")
    assert "counts again as it was seen" in text_of(page)
    page = await console.post(f"{where}/corrections", why="wrong lamp", do="hide")
    assert "The price is hidden" in text_of(page)


# ── who may what


async def test_who_may_only_look_sees_everything_and_changes_nothing(shop: Shop) -> None:
    offer = await shop.offer()
    [run, *_] = await shop.ask("/runs")
    reader = shop.console.reader
    for path in (
        "/monitor",
        "/monitor/targets",
        f"/monitor/targets/{shop.lamp}",
        f"/monitor/runs/{run['id']}",
        "/monitor/adapters/one?id=lamps",
        f"/monitor/quarantine/{offer}",
        f"/monitor/sources/{shop.source}",
    ):
        page = await reader.get(path)
        assert page.status_code == 200
        assert_harmless(page)
        assert page.text.count("<button") - page.text.count(" disabled") <= 2
    page = await reader.post(f"/monitor/targets/{shop.lamp}/pause")
    assert "may look, and not change" in text_of(page)
    assert (await shop.ask(f"/targets/{shop.lamp}"))["status"] == "ACTIVE"
