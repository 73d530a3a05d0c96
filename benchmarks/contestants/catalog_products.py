"""A catalogue of so many products: how quickly it is written, filtered and searched."""

import argparse
import json
import sqlite3
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from decimal import Decimal
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from statistics import median, quantiles
from typing import Any

import uvloop
from pydantic import SecretStr
from sqlalchemy import select, text

from benchmarks.catalogued import Catalogue, write
from benchmarks.watched import tidy
from penstock.core.clock import SystemClock
from penstock.products.catalogue_reading import Filter, Sort, list_products, place_of
from penstock.products.search import ports
from penstock.products.search.feeding import reindex
from penstock.products.search.ports import Filters, Query, SearchIndex
from penstock.products.search.rest import RestSearch, open_http
from penstock.products.search.settings import SearchSettings
from penstock.products.search.sql import SqlSearch
from penstock.products.tables import source_products
from penstock.store import migrate
from penstock.store.settings import FILE_NAME, StoreSettings
from penstock.store.store import Store, open_store
from penstock.store.unit import Unit
from tests.site.catalog_words import ADJECTIVES, BRANDS, CATEGORIES, MATERIALS

Figures = dict[str, Any]
#: Products written together, and how many in all.
BATCHES = {1: 100, 20: 400, 100: 1000, 500: 2000}
#: A page of products, as the API gives it.
PAGE = 50
INDEX = "bench"
Ask = Callable[[int], Awaitable[object]]


async def time_all(ask: Ask, times: int) -> Figures:
    """Milliseconds of a question that is asked in several ways; the first few do not count."""
    spent = []
    for number in range(times + 3):
        began = time.perf_counter()
        await ask(number)
        spent.append((time.perf_counter() - began) * 1000)
    counted = spent[3:]
    return {"p50": median(counted), "p95": quantiles(counted, n=20)[-1]}


# ── writing


async def measure_writing(store: Store, catalogue: Catalogue) -> Figures:
    """Products per second, by how many are written together."""
    figures = {}
    for size, number in BATCHES.items():
        entries = iter(catalogue.fresh(number))
        began = time.perf_counter()
        while some := list(islice(entries, size)):
            await store.write(partial(write, entries=some))
        figures[str(size)] = number / (time.perf_counter() - began)
    return figures


# ── filters


def filters() -> dict[str, Callable[[int], Filter]]:
    """What readers ask for; every time something else."""
    brand, category = _every(BRANDS), _every(CATEGORIES)

    def bounds(number: int) -> dict[str, Any]:
        least = Decimal(20 + 37 * number % 400)
        return {"price_min": least, "price_max": least + 50}

    return {
        "newest": lambda _number: Filter(limit=PAGE),
        "price and in stock, newest": lambda number: Filter(
            **bounds(number), availability=("in_stock",), limit=PAGE
        ),
        "price and in stock, cheapest": lambda number: Filter(
            **bounds(number), availability=("in_stock",), sort=Sort.PRICE_ASC, limit=PAGE
        ),
        "brand, newest": lambda number: Filter(brand=brand(number), limit=PAGE),
        "category, best rated": lambda number: Filter(
            category=category(number), sort=Sort.RATING, limit=PAGE
        ),
        "brand, category and backorder, newest": lambda number: Filter(
            brand=brand(number), category=category(number), availability=("backorder",), limit=PAGE
        ),
    }


def _every(words: Sequence[str]) -> Callable[[int], tuple[str]]:
    return lambda number: (words[number % len(words)],)


async def measure_filters(store: Store, asked: int) -> Figures:
    figures = {}
    for name, made in filters().items():
        figures[name] = await time_all(partial(_filter, store, made), asked)
    for sort in (Sort.NEWEST, Sort.PRICE_ASC, Sort.NAME):
        places = await _places(store, sort, asked)
        made = partial(_behind, sort, places)
        figures[f"deep inside, {sort}"] = await time_all(partial(_filter, store, made), asked)
    return figures


def _behind(sort: Sort, places: Sequence[Any], number: int) -> Filter:
    return Filter(sort=sort, after=places[number % len(places)], limit=PAGE)


async def _filter(store: Store, made: Callable[[int], Filter], number: int) -> None:
    await store.read(lambda unit: list_products(unit, made(number)))


async def _places(store: Store, sort: Sort, number: int) -> list[Any]:
    """Where products stand that are anywhere in the middle of an order."""

    def look(unit: Unit) -> list[Any]:
        ids = unit.run(text("SELECT id FROM source_products WHERE price IS NOT NULL")).scalars()
        chosen = Random(1).sample(list(ids), number)
        query = select(source_products).where(unit.among(source_products.c.id, chosen))
        return [place_of(row, sort) for row in unit.rows(query)]

    return await store.read(look)


# ── search


def searches(rare: Sequence[str]) -> dict[str, Callable[[int], Query]]:
    """What people look for; every time something else."""
    material, adjective = _every(MATERIALS), _every(ADJECTIVES)
    in_stock = Filters(price_min=Decimal(50), price_max=Decimal(150), availability=("IN_STOCK",))
    found: dict[str, Callable[[int], Query]] = {
        "one common word": lambda number: Query(material(number)[0]),
        "two words": lambda number: Query(f"{adjective(number)[0]} {material(number // 15)[0]}"),
        "rare word": lambda number: Query(rare[number % len(rare)]),
        "word, price and in stock": lambda number: Query(material(number)[0], in_stock),
        "no word, one brand": lambda number: Query("", Filters(brand=(BRANDS[number % 12],))),
    }
    for sort in ports.Sort:
        if sort is not ports.Sort.RELEVANCE:
            found[f"word, by {sort}"] = partial(_sorted, sort)
    return found


def _sorted(sort: ports.Sort, number: int) -> Query:
    return Query(MATERIALS[number % len(MATERIALS)], sort=sort)


async def measure_search(index: SearchIndex, rare: Sequence[str], asked: int) -> Figures:
    figures = {}
    for name, made in searches(rare).items():
        found = await index.search(made(0))
        if not found.hits:
            raise RuntimeError(f"{name}: nothing is found")
        figures[name] = await time_all(partial(_search, index, made), asked)
        figures[name]["found"] = found.total.number
    figures["tenth page of a common word"] = await _tenth_page(index, asked)
    return figures


async def _search(index: SearchIndex, made: Callable[[int], Query], number: int) -> None:
    await index.search(made(number))


async def _tenth_page(index: SearchIndex, asked: int) -> Figures:
    queries = []
    for word in MATERIALS:
        query = Query(word)
        for _ in range(9):
            found = await index.search(query)
            query = Query(word, cursor=found.next_cursor)
        queries.append(query)
    return await time_all(
        partial(_search, index, lambda number: queries[number % len(queries)]), asked
    )


async def build(store: Store, index: SearchIndex) -> Figures:
    """Build an index from the store, from nothing."""
    began = time.perf_counter()
    number = await reindex(store, index, lambda _number: None)
    return {"documents": number, "seconds": time.perf_counter() - began}


async def rare_words(store: Store) -> list[str]:
    """Words that few products have: their models."""
    query = text("SELECT title FROM source_products LIMIT 500")
    titles = await store.read(lambda unit: list(unit.run(query).scalars()))
    return [title.split(" R")[0].split()[-1] for title in titles]


# ── sizes


async def size_of(store: Store, settings: StoreSettings) -> Figures:
    """Megabytes of the products, and of the table that is searched, with their indexes."""
    if settings.is_shared:
        query = text(
            "SELECT pg_total_relation_size('source_products'), "
            "pg_indexes_size('source_products'), pg_total_relation_size('prices'), "
            "pg_total_relation_size('product_search')"
        )
        rows = await store.read(lambda unit: tuple(unit.run(query).one()))
    else:
        rows = _sizes_of_file(settings.folder / FILE_NAME)
    names = ("products", "their indexes", "prices", "search")
    return {name: int(size) / 1e6 for name, size in zip(names, rows, strict=True)}


def _sizes_of_file(file: Path) -> tuple[int, ...]:
    query = (
        "SELECT COALESCE(SUM(pgsize), 0) FROM dbstat('main', 1) AS part "
        "LEFT JOIN sqlite_master AS made ON made.name = part.name WHERE "
    )
    of_table = "made.tbl_name = 'source_products'"
    wanted = (
        of_table,
        f"{of_table} AND made.type = 'index'",
        "made.tbl_name = 'prices'",
        "made.tbl_name = 'product_search' OR part.name LIKE 'fts_product_search%'",
    )
    with closing(sqlite3.connect(file)) as connection:
        return tuple(connection.execute(query + each).fetchone()[0] for each in wanted)


def say(figures: Figures) -> None:
    """Tell what is known up to now: the rest takes long."""
    print(json.dumps(figures), file=sys.stderr)


async def measure(url: str, depths: Sequence[int], asked: int, server: str) -> Figures:
    figures: Figures = {"at": {}}
    with tempfile.TemporaryDirectory() as folder:
        settings = StoreSettings(folder=Path(folder), url=SecretStr(url))
        async with open_store(settings, SystemClock()) as store:
            await migrate.upgrade(store)
            catalogue = Catalogue(store)
            await catalogue.begin()
            for depth in depths:
                await catalogue.grow(depth)
                await tidy(settings)
                figures["at"][depth] = {
                    "writing": await measure_writing(store, catalogue),
                    "filters": await measure_filters(store, asked),
                }
                say(figures)
            rare = await rare_words(store)
            index = SqlSearch(store)
            figures["build"] = await build(store, index)
            await tidy(settings)
            figures["search"] = await measure_search(index, rare, asked)
            figures["sizes"] = await size_of(store, settings)
            say(figures)
            if server:
                figures["server"] = await _on_server(store, server, rare, asked)
    return figures


async def _on_server(store: Store, url: str, rare: Sequence[str], asked: int) -> Figures:
    async with open_http(SearchSettings(url=SecretStr(url), index=INDEX)) as http:
        index = RestSearch(http, INDEX)
        await index.prepare()
        figures = {"build": await build(store, index)}
        await http.post(f"/{INDEX}/_refresh")
        figures["search"] = await measure_search(index, rare, asked)
        told = (await http.get(f"/{INDEX}/_stats/store")).json()
        return figures | {"megabytes": told["_all"]["total"]["store"]["size_in_bytes"] / 1e6}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="")
    parser.add_argument("--number", type=int, required=True, help="times that each is asked")
    parser.add_argument("--depths", required=True, help="products, with commas")
    parser.add_argument("--server", default="", help="a search server to measure beside it")
    options = parser.parse_args()
    depths = [int(depth) for depth in options.depths.split(",")]
    found = uvloop.run(measure(options.url, depths, options.number, options.server))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
