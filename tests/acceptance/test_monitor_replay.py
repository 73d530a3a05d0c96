"""A shop changes its markup: why says what is missing, and replay and shadow prove the repair."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from penstock.extract.registry import open_registry
from penstock.quality.compare import Change
from penstock.quality.replay import Replayed, Summary
from penstock.quality.settings import QualitySettings
from penstock.workloads.monitor import shadow, why
from penstock.workloads.monitor.replaying import Replaying, Selection
from penstock.workloads.monitor.tables import scrape_targets
from tests.site import Site
from tests.site.answers import Reply
from tests.stores import rows_of
from tests.watching import Watch, watching

ADAPTER = """
from penstock.extract.adapter import Adapter, Findings
from penstock.extract.page.document import Document
from penstock.kernel.records import Availability, Extraction, ExtractReason


def extract(document: Document) -> Extraction:
    found = Findings()
    found.add("url", document.url, "the page")
    found.add("name", document.first_text("h1"), "h1")
    text = document.first_text("{selector}")
    if not text:
        return found.failed("product", ExtractReason.SELECTOR_NOT_FOUND, "no {selector}")
    found.add("price_minor", int(text.strip("$").replace(".", "")), "{selector}", text)
    found.add("currency", "USD", "{selector}", text)
    found.add("availability", Availability.IN_STOCK, ".stock", document.first_text(".stock"))
    return found.found("product")


ADAPTER = Adapter(
    id="lamps", version="{version}", gives="product", extract=extract, domain="lamps.test",
    urls=("lamps.test/*",),
)
"""
PAGE = (
    "<html><body><h1>Lamp {}</h1><b class={}>$19.9{}</b><p class=stock>In stock</p></body></html>"
)
HOST = "lamps.test"
NUMBERS = (1, 2, 3)


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as site:
        yield site


def write_adapter(folder: Path, version: str, selector: str) -> str:
    path = folder / f"lamps_{version.replace('.', '_')}.py"
    path.write_text(ADAPTER.replace("{version}", version).replace("{selector}", selector))
    return str(path)


def show(site: Site, price_class: str) -> list[str]:
    """Serve the shop with its prices in elements of a class; the URLs."""
    for number in NUMBERS:
        page = PAGE.format(number, price_class, number)
        site.reply(HOST, f"/product/{number}", Reply(200, page))
    return [f"http://{HOST}/product/{number}" for number in NUMBERS]


class Bench:
    """The adapter in use, its repaired version, and the pages of a monitor."""

    def __init__(self, folder: Path) -> None:
        self.old = write_adapter(folder, "1.0.0", ".price")
        self.new = write_adapter(folder, "1.1.0", ".price, .amount")

    @property
    def extract(self) -> dict[str, tuple[str, ...]]:
        return {"adapters": (self.old,), "candidates": (self.new,)}

    async def replay(self, watch: Watch, name: str) -> tuple[list[Replayed], Summary]:
        registry = open_registry([self.old], [self.new])
        replaying = Replaying(watch.store, watch.engine.blobs, registry, QualitySettings())
        summary = Summary()
        found = replaying.run(name, Selection(since=0), summary)
        return [each async for each in found], summary


async def test_replay_proves_the_repaired_adapter_on_pages_that_were_kept(
    site: Site, tmp_path: Path
) -> None:
    bench = Bench(tmp_path)
    async with watching(site, tmp_path, extract=bench.extract) as watch:
        await watch.shop("lamps", show(site, "price"), adapter_id="lamps")
        [good] = await watch.run()
        show(site, "amount")
        [bad] = await watch.run()
        _, current = await bench.replay(watch, "lamps")
        pages, repaired = await bench.replay(watch, "lamps@1.1.0")
        [target, *_] = await rows_of(watch.store, scrape_targets)
        explanation = await watch.store.read(lambda unit: why.explain(unit, target["id"]))

    assert (good["offers_valid"], bad["extraction_failures"]) == (3, 3)
    assert current.changes == {Change.SAME: 6}
    assert repaired.changes == {Change.SAME: 3, Change.NEWLY_GOOD: 3}
    assert repaired.is_safe
    assert {each.now["price"] for each in pages} == {"19.91", "19.92", "19.93"}
    assert explanation is not None
    text = "\n".join(why.as_text(explanation))
    assert "SELECTOR_NOT_FOUND" in text
    assert "no .price" in text
    assert "- price: 19.9" in text
    assert "← .price" in text


async def test_candidate_in_shadow_is_compared_on_live_pages_and_counts_for_nothing(
    site: Site, tmp_path: Path
) -> None:
    bench = Bench(tmp_path)
    beside = {"shadow": {"lamps": "lamps@1.1.0"}}
    async with watching(site, tmp_path, extract=bench.extract, monitor=beside) as watch:
        await watch.shop("lamps", show(site, "price"), adapter_id="lamps")
        await watch.run()
        show(site, "amount")
        [bad] = await watch.run()
        [report] = await watch.store.read(lambda unit: shadow.report(unit, "lamps", 0))

    assert (bad["offers_valid"], bad["extraction_failures"]) == (0, 3)
    assert report.candidate == "lamps@1.1.0"
    assert report.summary.changes == {Change.SAME: 3, Change.NEWLY_GOOD: 3}
