"""Replay, shadow and why over results in the store and pages in blobs."""

import asyncio
import itertools
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from penstock.blobs.local import LocalBlobs
from penstock.core.errors import SettingsError
from penstock.extract.adapters import product
from penstock.extract.page.document import Document
from penstock.extract.registry import Registry
from penstock.kernel.model import Page
from penstock.kernel.reader import Reader
from penstock.kernel.records import Extraction, ExtractReason
from penstock.products.tables import retailers
from penstock.quality.compare import Change
from penstock.quality.replay import Replayed, Summary
from penstock.quality.settings import QualitySettings
from penstock.quality.shadow import Shadow, report_lines
from penstock.quality.standalone import StandaloneJudge
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.monitor import replaying, shadow, why
from penstock.workloads.monitor.replaying import Replaying, Selection
from penstock.workloads.monitor.tables import (
    scrape_adapter_status,
    scrape_results,
    scrape_targets,
)
from tests.stores import Stores, rows_of
from tests.unit.products.offers import Shop, open_shop
from tests.unit.workloads.monitor.watched import add_result, add_run, add_status, add_target

URL = "https://shop.example/t1"
LAMP = """<html><head><script type="application/ld+json">{"@type": "Product", "name": "Lamp",
"offers": {"@type": "Offer", "price": "19.99", "priceCurrency": "USD",
"availability": "https://schema.org/InStock"}}</script></head><body><h1>Lamp</h1></body></html>"""
#: The same in an encoding that only the header names.
TEA = LAMP.replace("Lamp", "Thé").encode("latin-1")
QUALITY = QualitySettings()


def no_price(document: Document) -> Extraction:
    del document
    return Extraction("product", reason=ExtractReason.PRICE_NOT_FOUND, detail="no .price")


def registry() -> Registry:
    found = Registry([product.ADAPTER])
    found.register_candidate(replace(product.ADAPTER, version="2.0.0"))
    found.register_candidate(replace(product.ADAPTER, version="0.1.0", extract=no_price))
    return found


READER = Reader(registry(), StandaloneJudge(QUALITY))


def make_page(body: bytes = LAMP.encode(), charset: str = "utf-8") -> Page:
    return Page(URL, 200, {"Content-Type": f"text/html; charset={charset}"}, body, 0.1)


def document_of(page: Page, name: str = "product") -> dict[str, Any]:
    """What the lane writes of a page."""
    reading = READER.read(page, name)
    evidence = {key: list(found) for key, found in reading.extraction.evidence.items()}
    return {
        "page": {"url": page.url, "status": page.status, "content_type": "text/html"},
        "headers": dict(page.headers),
        "record": reading.as_json(),
        "evidence": evidence,
        "gates": [{"gate": "robots", "answer": "allowed", "at": 0.1}],
        "failure": None if reading.judgment.verdict else {"reason": "X", "detail": "no .price"},
    }


class Archive:
    """A store with one target, and the pages of its results."""

    def __init__(self, store: Store, blobs: LocalBlobs) -> None:
        self.store, self.blobs = store, blobs
        self.replaying = Replaying(store, blobs, registry(), QUALITY)

    async def open(self) -> "Archive":
        def work(unit: Unit) -> None:
            shop: Shop = open_shop(unit)
            add_target(unit, shop)
            add_status(unit, shop)

        await self.store.write(work)
        return self

    async def keep(
        self, name: str, page: Page, reader: str = "product", *, at: int = 1, **changes: Any
    ) -> str:
        """Keep a page as the result of a run of its own; the address of its body."""
        address = await self.blobs.put(page.body)
        document = {**document_of(page, reader), **changes.pop("document", {})}

        def work(unit: Unit) -> None:
            target = next(unit.rows(why._target_query("t1")))
            shop = Shop(target["source_id"], _retailer(unit))
            add_run(unit, shop, f"run-{name}")
            add_result(unit, name, document, at=at, run_id=f"run-{name}", body=address, **changes)

        await self.store.write(work)
        return address

    async def replay(self, name: str, **selection: Any) -> tuple[list[Replayed], Summary]:
        summary = Summary()
        found = self.replaying.run(name, Selection(**{"since": 0, **selection}), summary)
        return [each async for each in found], summary


def _retailer(unit: Unit) -> str:
    row = next(unit.rows(retailers.select()))
    found: str = row["id"]
    return found


@pytest.fixture
async def archive(stores: Stores, tmp_path: Path) -> Archive:
    return await Archive(await stores.open(), LocalBlobs(tmp_path / "blobs")).open()


async def test_kept_pages_are_read_again_oldest_first(archive: Archive) -> None:
    await archive.keep("b", make_page(), at=20)
    await archive.keep("a", make_page(), "product@0.1.0", at=10)

    found, summary = await archive.replay("product@2.0.0")

    assert [each.key for each in found] == ["a", "b"]
    assert [each.change for each in found] == [Change.NEWLY_GOOD, Change.SAME]
    assert summary.is_safe


async def test_what_came_instead_of_a_page_is_not_read(archive: Archive) -> None:
    nothing_read = {"record": None, "failure": {"reason": "http_404", "detail": "gone"}}
    gone: dict[str, Any] = {"fetch_status": "error", "verdict": None, "reason": "http_404"}
    await archive.keep("a", make_page(), document=nothing_read, **gone)
    await archive.keep("b", make_page(), "product@0.1.0", at=2, verdict=None)

    found, summary = await archive.replay("product")

    assert ([each.key for each in found], summary.pages) == (["b"], 1)


async def test_replay_changes_nothing(archive: Archive) -> None:
    await archive.keep("a", make_page())
    before = await rows_of(archive.store, scrape_results)

    await archive.replay("product@0.1.0")

    assert await rows_of(archive.store, scrape_results) == before


async def test_only_pages_since_a_time_are_read(archive: Archive) -> None:
    await archive.keep("a", make_page(), at=10)
    await archive.keep("b", make_page(), at=20)

    assert [each.key for each in (await archive.replay("product", since=20))[0]] == ["b"]
    assert (await archive.replay("product", source_id="nobody"))[1].pages == 0
    assert (await archive.replay("product", target_ids=("t1",)))[1].pages == 2


async def test_more_pages_than_are_read_at_once(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replaying, "AT_ONCE", 2)
    for place in range(5):
        await archive.keep(f"r{place}", make_page(), at=7)

    found, _ = await archive.replay("product")

    assert [each.key for each in found] == ["r0", "r1", "r2", "r3", "r4"]


async def test_replay_in_parts_goes_on_where_the_last_one_ended(archive: Archive) -> None:
    for place in range(3):
        await archive.keep(f"r{place}", make_page(), "product@0.1.0", at=7)
    lost = await archive.keep("r3", make_page(TEA, "latin-1"), at=8)
    await archive.blobs.delete(lost)
    found, after = [], None
    for _ in range(2):
        part = await archive.replaying.part("product", Selection(0, after=after), 2, 60.0)
        found.append(([each.key for each in part.differing], part.summary.lost))
        after = part.next_after

    assert found == [(["r0", "r1"], 0), (["r2"], 1)]
    assert after is None


async def test_replay_ends_in_time_but_not_before_a_page_is_read(archive: Archive) -> None:
    for place in range(3):
        await archive.keep(f"r{place}", make_page(), at=7)
    hours = itertools.count(step=3600.0)
    slow = Replaying(
        archive.store, archive.blobs, registry(), QUALITY, monotonic=lambda: next(hours)
    )

    part = await slow.part("product", Selection(0), 100, 60.0)

    assert (part.summary.pages, part.next_after) == (1, (7, "r0"))


async def test_other_work_goes_on_while_a_page_is_read(archive: Archive) -> None:
    await archive.keep("a", make_page())
    begun, end = threading.Event(), threading.Event()

    def wait(document: Document) -> Extraction:
        begun.set()
        assert end.wait(20)
        return product.ADAPTER.extract(document)

    slow = registry()
    slow.register_candidate(replace(product.ADAPTER, version="3.0.0", extract=wait))
    replaying = Replaying(archive.store, archive.blobs, slow, QUALITY)
    work = asyncio.create_task(replaying.part("product@3.0.0", Selection(0), 1, 60.0))
    assert await asyncio.to_thread(begun.wait, 20)
    # We are here although the page is being read.
    end.set()

    assert (await work).summary.changes == {Change.SAME: 1}


async def test_page_is_decoded_as_it_was(archive: Archive) -> None:
    await archive.keep("a", make_page(TEA, "latin-1"))

    (replayed,), _ = await archive.replay("product")

    assert replayed.change is Change.SAME
    assert replayed.now["name"] == "Thé"


async def test_page_whose_blob_is_gone_is_lost(archive: Archive) -> None:
    await archive.blobs.delete(await archive.keep("a", make_page()))

    found, summary = await archive.replay("product")

    assert (found, summary.lost) == ([], 1)
    assert "1 pages are not kept any more" in replaying.summary_lines("product", summary)


async def test_unknown_version_is_named_with_those_there_are(archive: Archive) -> None:
    with pytest.raises(SettingsError, match=r"known: product@0\.1\.0, .*CANDIDATES"):
        await archive.replay("product@3.0.0")


async def test_diff_shows_both_values(archive: Archive) -> None:
    await archive.keep("a", make_page())

    (replayed,), _ = await archive.replay("product@0.1.0")

    lines = replaying.diff_lines(replayed)
    assert lines[0] == f"newly failing: {URL}"
    assert "  - price: 19.99" in lines
    assert "  + price: -" in lines


# ── shadow


def test_candidate_reads_beside_the_adapter_in_use() -> None:
    beside = Shadow({"product": "product@0.1.0"}, registry(), QUALITY, shadow.SETTING)
    page = make_page()

    found = beside.compare(page, READER.read(page, "product"))

    assert found is not None
    assert (found["candidate"], found["change"]) == ("product@0.1.0", "newly_failing")
    assert Shadow({}, registry(), QUALITY, "").compare(page, READER.read(page, "product")) is None


def test_shadow_of_an_unknown_adapter_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"PENSTOCK_MONITOR__SHADOW: .*'product@9\.9\.9'"):
        Shadow({"product": "product@9.9.9"}, registry(), QUALITY, shadow.SETTING)


async def test_report_says_how_candidates_agreed(archive: Archive) -> None:
    page = make_page()
    reading = READER.read(page, "product")
    for place, candidate in enumerate(("2.0.0", "2.0.0", "0.1.0")):
        beside = Shadow({"product": f"product@{candidate}"}, registry(), QUALITY, shadow.SETTING)
        compared = {"shadow": beside.compare(page, reading)}
        await archive.keep(f"r{place}", page, at=place, document=compared)
    await archive.keep("alone", page, at=9)

    bad, good = await archive.store.read(lambda unit: shadow.report(unit, "product", 0))

    assert (good.candidate, good.agreement, good.summary.pages) == ("product@2.0.0", 1.0, 2)
    assert (bad.agreement, bad.as_json()["newly_failing"]) == (0.0, 1)
    assert bad.examples[0]["target_id"] == "t1"
    assert "1 newly failing" in report_lines(bad)[0]


# ── why


async def test_why_shows_the_last_result_beside_the_last_good_one(archive: Archive) -> None:
    good = await archive.keep("good", make_page(), at=10)
    bad = await archive.keep(
        "bad", make_page(LAMP.replace("19.99", "29.99").encode()), at=20, verdict="drop"
    )
    await archive.store.write(lambda unit: _set_good(unit, "good"))

    found = await archive.store.read(lambda unit: why.explain(unit, "t1"))

    assert found is not None
    assert found.last is not None
    assert found.good is not None
    assert (found.last.body, found.good.body) == (bad, good)
    price = next(each for each in found.last.found if each.field == "price")
    assert (price.value, price.text) == ("29.99", "29.99")
    assert price.where
    assert [(each.field, each.before, each.after) for each in found.differences] == [
        ("price", "19.99", "29.99")
    ]
    text = "\n".join(why.as_text(found))
    assert f"page: blob {bad}" in text
    assert "allowed" in text
    assert "- price: 19.99" in text
    assert found.as_json()["last_good"]["id"] == "good"


async def test_why_tells_what_an_adapter_missed(archive: Archive) -> None:
    await archive.keep("good", make_page(), at=10)
    await archive.keep(
        "bad", make_page(), "product@0.1.0", at=20, verdict=None, reason="PRICE_NOT_FOUND"
    )
    await archive.store.write(lambda unit: _set_good(unit, "good"))

    found = await archive.store.read(lambda unit: why.explain(unit, "t1"))

    assert found is not None
    text = "\n".join(why.as_text(found))
    assert "last result: ok PRICE_NOT_FOUND" in text
    assert "no .price" in text


async def test_why_tells_what_is_in_the_way(archive: Archive) -> None:
    def stop(unit: Unit) -> None:
        unit.run(scrape_targets.update().values(status="PAUSED"))
        values = {"enabled": False, "disabled_reason": "DRIFT_DETECTED", "disabled_by": "drift"}
        unit.run(scrape_adapter_status.update().values(values))

    await archive.store.write(stop)

    found = await archive.store.read(lambda unit: why.explain(unit, "t1"))

    assert found is not None
    assert found.held_up == (
        "it is paused: resume it",
        "nobody has approved the terms of service of source 'shop'",
        "the adapter product@shop was disabled by drift: DRIFT_DETECTED",
    )
    assert "It has not been fetched yet." in why.as_text(found)


async def test_nobody_knows_why_of_an_unknown_target(archive: Archive) -> None:
    assert await archive.store.read(lambda unit: why.explain(unit, "nobody")) is None


def _set_good(unit: Unit, result_id: str) -> None:
    unit.run(scrape_targets.update().values(last_good_result_id=result_id))


async def test_report_of_the_newest_says_how_far_it_goes_back(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.quality.shadow.AT_ONCE", 2)
    page = make_page()
    beside = Shadow({"product": "product@2.0.0"}, registry(), QUALITY, shadow.SETTING)
    compared = {"shadow": beside.compare(page, READER.read(page, "product"))}
    for place in range(5):
        await archive.keep(f"r{place}", page, at=place, document=compared)

    def look(most: int) -> Any:
        return archive.store.read(lambda unit: shadow.report_of_newest(unit, "product", 0, most))

    [some], stopped_at = await look(3)
    [all_of_them], end = await look(10)

    assert (some.summary.pages, stopped_at) == (4, 1)
    assert (all_of_them.summary.pages, end) == (5, None)
