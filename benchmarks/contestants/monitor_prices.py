"""How long it takes to find the prices of one product, by how many there are of all."""

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random
from statistics import median, quantiles
from typing import Any

import uvloop
from pydantic import SecretStr
from sqlalchemy import select

from benchmarks import watched
from penstock.core.clock import SystemClock
from penstock.products import history, visible
from penstock.products.tables import products
from penstock.store import migrate
from penstock.store.settings import StoreSettings
from penstock.store.store import Store, open_store
from penstock.store.unit import Unit

PRODUCTS, SHOPS_OF_EACH = 2_500, 4
OFFERS = PRODUCTS * SHOPS_OF_EACH
#: What a page of a history shows.
NEWEST = 1000

Look = Callable[[Unit, str], Sequence[Any]]
LOOKS: dict[str, Look] = {
    "history": lambda unit, product: visible.history(unit, product, limit=NEWEST),
    "ops": lambda unit, product: history.list_prices(
        unit, history.Filter(product_id=product, limit=NEWEST)
    ),
    "current": visible.current,
}


async def ask(store: Store, look: Look, ids: Sequence[str]) -> dict[str, float]:
    """Milliseconds of one question, and how many rows the answer has."""
    spent, found = [], 0
    for product in ids:
        began = time.perf_counter()
        rows = await store.read(partial(_look, look, product))
        spent.append((time.perf_counter() - began) * 1000)
        found += len(rows)
    return {"p50": median(spent), "p95": quantiles(spent, n=20)[-1], "rows": found / len(ids)}


def _look(look: Look, product: str, unit: Unit) -> Sequence[Any]:
    return look(unit, product)


async def measure(
    url: str, number: int, depths: Sequence[int]
) -> dict[int, dict[str, dict[str, float]]]:
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        settings = StoreSettings(folder=Path(folder), url=SecretStr(url))
        async with open_store(settings, SystemClock()) as store:
            await migrate.upgrade(store)
            await watched.make_shops(store)
            await watched.make_offers(store, PRODUCTS, SHOPS_OF_EACH)
            query = select(products.c.id)
            every = await store.read(lambda unit: unit.run(query).scalars().all())
            ids = Random(1).sample(sorted(every), number)
            done = 0
            for depth in depths:
                rounds = depth // OFFERS
                await watched.make_prices(store, range(done, rounds))
                await watched.tidy(settings)
                done = rounds
                figures[depth] = {name: await ask(store, look, ids) for name, look in LOOKS.items()}
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="")
    parser.add_argument("--number", type=int, required=True, help="products that are asked for")
    parser.add_argument("--depths", required=True, help="rows, with commas")
    options = parser.parse_args()
    depths = [int(depth) for depth in options.depths.split(",")]
    print(json.dumps(uvloop.run(measure(options.url, options.number, depths))))


if __name__ == "__main__":
    main()
