"""The catalogue against models of it: when content is the same, and which price counts."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from penstock.kernel.records import Availability
from penstock.products import corrections
from penstock.products.catalogue import write_entries
from penstock.products.content import content_hash
from penstock.products.tables import prices, source_products
from penstock.products.writing import write_offers
from penstock.store.dialect import Dialect
from penstock.store.settings import StoreSettings
from penstock.store.store import open_dialect
from penstock.store.unit import Unit
from tests.clocks import HandClock
from tests.stores import make_sqlite
from tests.unit.products.entries import Site, open_site
from tests.unit.products.offers import HOUR, NOON

# ── content

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=8)
leaves = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
contents = st.dictionaries(texts, values, max_size=5)


def reversed_keys(value: Any) -> Any:
    """The same data, written down the other way round."""
    match value:
        case Mapping():
            return {key: reversed_keys(value[key]) for key in reversed(list(value))}
        case list():
            return tuple(reversed_keys(each) for each in value)
        case _:
            return value


@given(contents)
def test_order_of_keys_does_not_matter(content: dict[str, Any]) -> None:
    assert content_hash(content) == content_hash(reversed_keys(content))


@given(contents, texts, values)
def test_any_other_value_is_another_content(content: dict[str, Any], key: str, new: Any) -> None:
    changed = content | {key: new}
    # What Python holds for the same, such as 1 and True, is not: compare as it is written.
    assume(key not in content or repr(content[key]) != repr(new))
    assume(key not in content or not isinstance(new, dict) or content[key] != new)

    assert content_hash(content) != content_hash(changed)


@given(st.decimals(-1000, 1000, places=3), st.integers(0, 4))
def test_way_a_number_is_written_does_not_matter(number: Decimal, zeros: int) -> None:
    written = Decimal(f"{number:f}{'0' * zeros}")

    assert content_hash({"price": number}) == content_hash({"price": written})


# ── the price that counts


class Seen(NamedTuple):
    """Something that is seen of the product; by the monitor, or by the catalogue."""

    hour: int
    price: int | None
    stock: Availability
    is_monitor: bool


class Corrected(NamedTuple):
    """What is said of one of the prices that were seen, by its number."""

    number: int
    #: None hides it; 0 takes back what was said.
    price: int | None


stocks = st.sampled_from(list(Availability))
hours = st.integers(0, 6)
sightings = st.builds(
    Seen,
    hour=hours,
    price=st.none() | st.integers(100, 300),
    stock=stocks,
    is_monitor=st.booleans(),
).filter(lambda seen: not seen.is_monitor or seen.price is not None)
corrected = st.builds(
    Corrected, number=st.integers(0, 5), price=st.none() | st.integers(0, 2) | st.just(999)
)
steps = st.lists(sightings | corrected, max_size=12)


class Model:
    """The rule: the newest price that is not hidden, unless a page showed none since."""

    def __init__(self) -> None:
        self.prices: list[tuple[int, str, Decimal, str | None]] = []
        self.said: dict[str, Decimal | None] = {}
        self.last: Seen | None = None

    def look_at(self, seen: Seen) -> None:
        if not seen.is_monitor and (self.last is None or seen.hour >= self.last.hour):
            self.last = seen

    def shown(self) -> tuple[Any, ...]:
        counted = [
            (hour, each, self.said.get(each, price), stock)
            for hour, each, price, stock in self.prices
            if self.said.get(each, price) is not None
        ]
        newest = max(counted, default=None, key=lambda price: price[:2])
        is_bare = self.last is not None and self.last.price is None
        if self.last and is_bare and (newest is None or newest[0] <= self.last.hour):
            return None, None, written(self.last.stock)
        return (newest[2], "USD", newest[3]) if newest else (None, None, None)


def written(stock: Availability) -> str | None:
    return None if stock is Availability.UNKNOWN else stock.value


@pytest.fixture(scope="module")
def dialect(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dialect]:
    folder = tmp_path_factory.mktemp("catalogue")
    asyncio.run(make_sqlite(folder))
    found = open_dialect(StoreSettings(folder=folder), HandClock())
    yield found
    asyncio.run(found.close())


@contextmanager
def forgotten(dialect: Dialect) -> Iterator[Unit]:
    """A unit of work that is never committed."""
    with dialect.writing.connect() as connection, connection.begin() as transaction:
        yield Unit(connection, dialect)
        transaction.rollback()


def see(unit: Unit, model: Model, site: Site, seen: Seen, run: str) -> None:
    facts: dict[str, Any] = {"price": seen.price, "availability": seen.stock, "run": run}
    facts["at"] = NOON + seen.hour * HOUR
    if seen.is_monitor:
        write_offers(unit, [site.shop.offer(**facts)])
    else:
        write_entries(unit, [site.entry(**facts)])
    model.look_at(seen)
    known = {each for _, each, *_ in model.prices}
    for row in unit.rows(select(prices)):
        if row["id"] not in known:
            model.prices.append((seen.hour, row["id"], row["price"], row["availability"]))


def correct(unit: Unit, model: Model, made: dict[str, str], step: Corrected) -> None:
    if step.number >= len(model.prices):
        return
    each = model.prices[step.number][1]
    if each in made:
        corrections.revoke(unit, made.pop(each), who="ann")
        del model.said[each]
    if step.price is None:
        made[each] = corrections.hide(unit, each, who="ann", why="misread")
        model.said[each] = None
    elif step.price:
        price = Decimal(step.price) / 100
        made[each] = corrections.override(unit, each, price, who="ann", why="per box")
        model.said[each] = price


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=steps)
def test_catalogue_shows_the_price_that_counts(dialect: Dialect, steps: list[Any]) -> None:
    with forgotten(dialect) as unit:
        site, model = open_site(unit), Model()
        made: dict[str, str] = {}
        for number, step in enumerate(steps):
            if isinstance(step, Corrected):
                correct(unit, model, made, step)
            else:
                see(unit, model, site, step, f"run-{number}")
            if model.last is not None:
                column = source_products.c
                shown = unit.run(select(column.price, column.currency, column.availability))
                assert tuple(shown.one()) == model.shown()
