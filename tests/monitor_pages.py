"""The monitor in a console: a shop of lamps that was read, so that there is something to see."""

import html
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.consoles import RunningConsole, console_on
from tests.lamps import HOST, PAGE, Bench, get, post, read_all, show
from tests.site import Site
from tests.site.answers import Reply
from tests.watching import QUICK

SOURCE: dict[str, Any] = {
    "name": "Lamps",
    "domain": HOST,
    "retailer": "Lighthouse",
    "adapter_id": "lamps",
}
LAMP = f"http://{HOST}/product/1"
ODD_PAGE = "<html><body><h1>{}</h1><b class=price>{}</b><p class=stock>{}</p></body></html>"


@dataclass(frozen=True, slots=True)
class Shop:
    """A console, the shop that its monitor reads, and the ids of what is there."""

    console: RunningConsole
    site: Site
    source: str
    #: By the newest of them first.
    targets: list[dict[str, Any]]

    @property
    def lamp(self) -> str:
        """The id of the target of the first lamp."""
        return next(str(row["id"]) for row in self.targets if row["url"] == LAMP)

    async def read(self) -> dict[str, Any]:
        """Read all lamps; the run when it is over."""
        return await read_all(self.console.service)

    async def ask(self, path: str, **query: Any) -> Any:
        """What the monitor's API knows."""
        return await get(self.console.service, path, **query)

    async def offer(self) -> str:
        """The id of an offer in quarantine: the first lamp costs ten times as much."""
        page = PAGE.format(1, "price", 1).replace("$19.91", "$199.10")
        self.site.reply(HOST, "/product/1", Reply(200, page))
        await self.read()
        [row] = await self.ask("/quarantine")
        return str(row["id"])


@asynccontextmanager
async def lamp_console(folder: Path, site: Site) -> AsyncIterator[Shop]:
    """A console whose monitor has read three lamps once."""
    bench = Bench(folder)
    async with console_on(
        folder, site, works=True, extract=bench.extract, monitor=QUICK
    ) as console:
        service, urls = console.service, show(site, "price")
        source = await post(service, "/sources", SOURCE, 201)
        await post(service, f"/sources/{source['id']}/approve")
        for url in urls:
            await post(service, "/targets", {"url": url}, 201)
        shop = Shop(console, site, source["id"], await get(service, "/targets"))
        await shop.read()
        yield shop


def say(site: Site, texts: Sequence[str], price: str) -> list[str]:
    """Serve pages that say texts wherever a page can; their URLs."""
    urls = []
    for place, text in enumerate(texts):
        said = html.escape(text)
        site.reply(HOST, f"/odd/{place}", Reply(200, ODD_PAGE.format(said, price, said)))
        urls.append(f"http://{HOST}/odd/{place}")
    return urls


async def odd_places(shop: Shop, texts: Sequence[str]) -> list[str]:
    """Pages of the console after pages of the shop and people said texts wherever they can."""
    console, service = shop.console, shop.console.service
    urls = say(shop.site, texts, "$19.99")
    added = [
        await post(service, "/targets", {"url": url, "notes": text}, 201)
        for url, text in zip(urls, texts, strict=True)
    ]
    await shop.read()
    say(shop.site, texts, "$199.90")
    run = await shop.read()
    offers = await shop.ask("/quarantine")
    assert len(offers) > len(texts) // 2
    for offer, text in zip(offers, texts, strict=False):
        await console.post(f"/monitor/quarantine/{offer['id']}/release", why=f"x {text}")
    prices = await shop.ask("/prices", target_id=added[0]["id"])
    for price, text in zip(prices, texts, strict=False):
        where = f"/monitor/prices/{price['price_id']}/corrections"
        await console.post(where, why=f"x {text}", do="hide")
    name = "x" + "".join(texts)[:190].replace("\n", " ").replace("\r", " ").replace("\t", " ")
    answer = await service.http.patch(f"/api/v1/monitor/sources/{shop.source}", json={"name": name})
    assert answer.status_code == 200, answer.text
    why = await shop.ask(f"/targets/{added[0]['id']}/why")
    lists = ("", "/targets", "/runs", "/adapters", "/quarantine?status=", "/sources")
    return [
        *(f"/console/monitor{path}" for path in lists),
        *(f"/console/monitor/targets/{row['id']}" for row in added),
        *(f"/console/monitor/quarantine/{row['id']}" for row in offers),
        *(f"/console/monitor/prices/{row['price_id']}" for row in prices),
        f"/console/monitor/runs/{run['id']}",
        f"/console/monitor/results/{why['last']['id']}",
        f"/console/monitor/sources/{shop.source}",
        "/console/monitor/adapters/one?id=lamps",
        "/console/audit",
    ]
