"""A shop changes its markup: why says what is missing, and replay and shadow prove the repair."""

from pathlib import Path

from penstock.quality.compare import Change
from penstock.workloads.monitor import shadow, why
from penstock.workloads.monitor.tables import scrape_targets
from tests.lamps import Bench, show
from tests.site import Site
from tests.stores import rows_of
from tests.watching import watching


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
