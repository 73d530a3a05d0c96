"""Steps 10 and 11 on a real site: a request that asks for a record gets one, or a reason."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from penstock.app import Platform
from penstock.core.errors import SettingsError
from penstock.kernel.model import Broken, Outcome, Request, UrlSpecific
from penstock.kernel.reading import Reading
from penstock.kernel.records import Accept, ExtractReason, Product
from penstock.queue.worker import Crew, CrewSettings
from tests.platforms import platform_for
from tests.site import Site
from tests.site.shops import product


def read(outcome: Outcome) -> Reading:
    assert outcome.reading
    return outcome.reading


async def test_a_product_is_extracted_judged_and_accepted(platform: Platform) -> None:
    item = product("shop02.test", 3)
    outcome = await platform.pipeline.run(Request(item.url, extract="product"))
    reading = read(outcome)
    assert outcome.ok
    assert isinstance(reading.judgment.verdict, Accept)
    assert isinstance(reading.record, Product)
    assert reading.record.price_minor == item.price_minor
    assert reading.record.currency == item.currency
    assert reading.extraction.adapter.startswith("product@")
    assert [said.gate for said in outcome.trace][-2:] == ["extract", "judge"]
    assert outcome.as_json()["record"]["name"] == item.title


async def test_without_a_wish_nothing_is_extracted(platform: Platform) -> None:
    outcome = await platform.pipeline.run(Request(product("shop02.test", 3).url))
    assert outcome.ok
    assert outcome.reading is None
    assert "record" not in outcome.as_json()


async def test_a_page_without_a_product_fails_with_the_adapters_reason(platform: Platform) -> None:
    outcome = await platform.pipeline.run(Request("http://shop01.test/", extract="product"))
    assert isinstance(outcome.failure, UrlSpecific)
    assert outcome.failure.reason == ExtractReason.PRICE_NOT_FOUND
    assert outcome.page is not None
    assert read(outcome).judgment.verdict is None


async def test_a_picture_has_nothing_to_extract(platform: Platform) -> None:
    outcome = await platform.pipeline.run(Request("http://shop01.test/image/1.png", extract=""))
    assert isinstance(outcome.failure, UrlSpecific)
    assert outcome.failure.reason == "content_type"


async def test_a_page_that_has_not_changed_gives_no_record(platform: Platform) -> None:
    url = product("shop01.test", 1).url
    first = await platform.pipeline.run(Request(url))
    assert first.page
    etag = first.page.headers["ETag"]
    again = await platform.pipeline.run(Request(url, etag=etag, extract="product"))
    assert again.page is not None
    assert again.page.status == 304
    assert (again.failure, again.reading) == (None, None)


async def test_an_unknown_adapter_is_a_mistake_of_the_caller(platform: Platform) -> None:
    with pytest.raises(SettingsError, match="no adapter or target type 'nonsense'"):
        await platform.pipeline.run(Request("http://shop01.test/product/1", extract="nonsense"))


async def test_an_adapter_that_breaks_costs_its_own_page_only(site: Site, tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text(
        "from penstock.extract.adapter import Adapter\n"
        "def extract(document):\n    raise KeyError('oops')\n"
        "ADAPTER = Adapter(id='broken', version='1.0.0', gives='product', extract=extract,\n"
        "                  domain='shop01.test', urls=('shop01.test/product/1',))\n"
    )
    outcomes: dict[str, Outcome] = {}

    async def requests() -> AsyncIterator[Request]:
        for number in (1, 2):
            yield Request(product("shop01.test", number).url, extract="")

    async with platform_for(site, extract={"adapters": (str(file),)}) as platform:
        crew = Crew(
            platform.pipeline,
            platform.clock,
            lambda outcome: outcomes.update({outcome.request.url: outcome}),
            CrewSettings(2, 10, 10),
        )
        await crew.work(requests())
    broken, well = (outcomes[product("shop01.test", number).url] for number in (1, 2))
    assert isinstance(broken.failure, Broken)
    assert "oops" in broken.failure.detail
    assert well.ok
