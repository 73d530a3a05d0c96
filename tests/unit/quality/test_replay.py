"""Replay: kept pages are read again, one at a time, and what differs is counted."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from penstock.extract.adapters import product
from penstock.extract.page.document import Document
from penstock.extract.registry import Registry
from penstock.kernel.model import Page
from penstock.kernel.reader import Reader
from penstock.kernel.reading import Reading
from penstock.kernel.records import Extraction, ExtractReason
from penstock.quality.compare import Change
from penstock.quality.replay import CRASHED, KeptPage, Replayed, Summary, replay
from penstock.quality.settings import QualitySettings
from penstock.quality.standalone import StandaloneJudge

PAGE = """<html><head><script type="application/ld+json">{"@type": "Product", "name": "Lamp %s",
"offers": {"@type": "Offer", "price": "%s", "priceCurrency": "USD",
"availability": "https://schema.org/InStock"}}</script></head>
<body><h1>Lamp %s</h1></body></html>"""


def without_price(document: Document) -> Extraction:
    return Extraction("product", reason=ExtractReason.PRICE_NOT_FOUND, detail="no .price")


def broken(document: Document) -> Extraction:
    raise ZeroDivisionError("secret of the page")


REGISTRY = Registry([product.ADAPTER])
REGISTRY.register_candidate(replace(product.ADAPTER, version="0.9.0", extract=without_price))
REGISTRY.register_candidate(replace(product.ADAPTER, version="1.1.0"))
REGISTRY.register_candidate(replace(product.ADAPTER, version="1.2.0", extract=broken))
READER = Reader(REGISTRY, StandaloneJudge(QualitySettings()))


def page(number: int, price: str = "19.99") -> Page:
    body = PAGE % (number, price, number)
    return Page(
        f"https://shop.example/{number}", 200, {"Content-Type": "text/html"}, body.encode(), 0.0
    )


def read(version: str, page: Page) -> Reading:
    return READER.read(page, f"product@{version}")


def kept(number: int, version: str = "1.0.0") -> KeptPage:
    found = page(number)
    return KeptPage(str(number), found, read(version, found).as_json(), {"target_id": f"t{number}"})


async def one_by_one(pages: Sequence[KeptPage]) -> AsyncIterator[KeptPage]:
    for each in pages:
        yield each


async def run(pages: Sequence[KeptPage], version: str) -> tuple[list[Replayed], Summary]:
    summary = Summary()
    found = replay(one_by_one(pages), lambda page: read(version, page), summary)
    return [each async for each in found], summary


async def test_same_adapter_reads_the_same() -> None:
    found, summary = await run([kept(1), kept(2)], "1.1.0")

    assert [each.change for each in found] == [Change.SAME, Change.SAME]
    assert summary.as_json() == {
        "pages": 2,
        "same": 2,
        "changed": 0,
        "newly_good": 0,
        "newly_failing": 0,
        "lost": 0,
        "fields": {},
    }


async def test_repaired_adapter_makes_failed_pages_good() -> None:
    found, summary = await run([kept(1, "0.9.0"), kept(2)], "1.1.0")

    assert [each.change for each in found] == [Change.NEWLY_GOOD, Change.SAME]
    assert summary.is_safe
    price = next(each for each in found[0].comparison.differences if each.field == "price")
    assert (price.before, price.after) == (None, "19.99")


async def test_worse_adapter_is_found_out() -> None:
    found, summary = await run([kept(1)], "0.9.0")

    assert found[0].change is Change.NEWLY_FAILING
    assert not summary.is_safe
    assert found[0].as_json()["target_id"] == "t1"


async def test_adapter_that_crashes_ends_nothing() -> None:
    found, summary = await run([kept(1), kept(2, "0.9.0")], "1.2.0")

    assert [each.change for each in found] == [Change.NEWLY_FAILING, Change.CHANGED]
    assert found[0].now["reason"] == CRASHED
    assert summary.pages == 2


async def test_page_that_is_gone_is_counted_as_lost() -> None:
    gone = KeptPage("1", None, {})

    found, summary = await run([gone, kept(2)], "1.0.0")

    assert [each.key for each in found] == ["2"]
    assert (summary.lost, summary.pages) == (1, 1)


async def test_pages_are_taken_one_at_a_time() -> None:
    taken: list[str] = []
    seen: list[int] = []

    async def pages() -> AsyncIterator[KeptPage]:
        for number in (1, 2, 3):
            taken.append(str(number))
            yield kept(number)

    summary = Summary()
    found = replay(
        pages(), lambda page: read("1.0.0", page), summary, lambda so_far: seen.append(so_far.pages)
    )
    await anext(found)

    assert taken == ["1"]
    assert seen == [1]
