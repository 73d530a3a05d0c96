"""A shop of three lamps that changes its markup, and an adapter that has to be repaired for it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from penstock.extract.registry import open_registry
from penstock.quality.replay import Replayed, Summary
from penstock.quality.settings import QualitySettings
from penstock.workloads.monitor.replaying import Replaying, Selection
from tests.services import Service, serving
from tests.site import Site
from tests.site.answers import Reply
from tests.watching import QUICK, Watch

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


@asynccontextmanager
async def with_lamps(folder: Path, **monitor: Any) -> AsyncIterator[tuple[Service, str]]:
    """A service that has read a shop of three lamps once; the id of the shop's source."""
    bench = Bench(folder)
    async with (
        Site() as site,
        serving(site, folder, extract=bench.extract, monitor={**QUICK, **monitor}) as service,
    ):
        urls = show(site, "price")
        lamps = {"name": "Lamps", "domain": "lamps.test", "retailer": "L", "adapter_id": "lamps"}
        source = await post(service, "/sources", lamps, 201)
        await post(service, f"/sources/{source['id']}/approve")
        for url in urls:
            await post(service, "/targets", {"url": url}, 201)
        await read_all(service)
        yield service, source["id"]


async def read_all(service: Service) -> dict[str, Any]:
    """Read the lamps; the run when it is over."""
    launch = await post(service, "/runs", {"source": "Lamps"}, 202)
    async with asyncio.timeout(20):
        while True:
            run: dict[str, Any] = await get(service, f"/runs/{launch['runs'][0]}")
            if run["status"] != "RUNNING":
                return run


async def post(service: Service, path: str, body: Any = None, status: int = 200) -> Any:
    """What the monitor's API answers to a POST."""
    answer = await service.post(f"/monitor{path}", body)
    assert answer.status_code == status, answer.text
    return answer.json()["data"]


async def get(service: Service, path: str, expected: int = 200, /, **query: Any) -> Any:
    """What the monitor's API answers to a GET."""
    answer = await service.get(f"/monitor{path}", **query)
    assert answer.status_code == expected, answer.text
    return answer.json()["data"]
