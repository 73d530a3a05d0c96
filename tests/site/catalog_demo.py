"""The demo of the catalogue: a shop is crawled by its sitemap, and searched."""

import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console

from tests.catalogs import expected
from tests.site import Site
from tests.site.monitor_demo import INDENT, Demo, running
from tests.site.shopkeeper import Shopkeeper

#: Of this demo only: by default a shop is asked for one page a second.
PACE = {
    "PENSTOCK_CATALOG__CRAWL_DELAY_SECONDS": "0",
    "PENSTOCK_CATALOG__MAX_CONCURRENT_REQUESTS": "20",
    "PENSTOCK_CATALOG__TICK_SECONDS": "0.2",
}
SHOP = "goods01.test"
PAGES = 100
WATCHED = 2

Row = dict[str, Any]


async def show_catalog(console: Console, site: Site, settings: Mapping[str, str]) -> None:
    """Show the catalogue; raise `NotSeenError` if anything is not as it should be."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        own = {
            **settings,
            **PACE,
            "PENSTOCK_STORE__FOLDER": str(folder / "data"),
            "PENSTOCK_SHARED__LOCK_FILE": str(folder / "lock"),
            "PENSTOCK_API__SERVICE_KEY": secrets.token_hex(16),
            "PENSTOCK_LOG__LEVEL": "ERROR",
            "COLUMNS": str(console.width - len(INDENT)),
        }
        demo = Demo(console, site, own, folder)
        demo.head("The catalogue, with a faster policy than the default (1 request/s to a shop):")
        for setting, value in PACE.items():
            demo.tell(f"{setting}={value}")
        async with running(own):
            await _crawl(demo)
            await _search(demo)
            await _change(demo, Shopkeeper(site))


async def _crawl(demo: Demo) -> None:
    url = f"http://{SHOP}/sitemap.xml"
    code, said = await demo.command("catalog", "submit", "--sitemap", url, "--wait", "--json")
    last: Row = json.loads(said.splitlines()[-1])
    demo.saw(code == 0 and last["done"] == PAGES, f"{PAGES} pages of {SHOP} are products now")


async def _search(demo: Demo) -> None:
    wanted = expected(SHOP, WATCHED)
    _, said = await demo.command("catalog", "products", "search", wanted.name, "--json")
    found = [json.loads(line) for line in said.splitlines()]
    demo.saw(found[0]["product_name"] == wanted.name, "who asks for a title gets it first")
    word = wanted.name.split()[0]
    _, said = await demo.command(
        "catalog", "products", "search", word, "--availability", "in_stock", "--sort", "price_asc"
    )
    for line in said.splitlines()[:8]:
        demo.tell(line)


async def _change(demo: Demo, shopkeeper: Shopkeeper) -> None:
    url = f"http://{SHOP}/product/{WATCHED}"
    shopkeeper.change_price(SHOP, WATCHED, (shopkeeper.item(SHOP, WATCHED).price_minor or 0) - 100)
    code, _ = await demo.command("catalog", "submit", url, "--recrawl", "--wait", "--json")
    demo.saw(code == 0, "a price that changed is seen when the page is crawled again")
    code, said = await demo.command("catalog", "audit")
    for line in said.splitlines()[:3]:
        demo.tell(line)
    demo.saw(code == 0, "nothing in the catalogue is what it cannot be")
