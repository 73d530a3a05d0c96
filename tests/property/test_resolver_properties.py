"""The resolver against a model of it, in worlds in which everything may be ambiguous."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from penstock.products.resolving import Keys, keys_of
from penstock.products.sources import set_trust
from penstock.products.tables import product_keys, products, source_products
from penstock.products.writing import write_offers
from penstock.store.dialect import Dialect
from penstock.store.settings import StoreSettings
from penstock.store.store import open_dialect
from penstock.store.unit import Unit
from tests.clocks import HandClock
from tests.stores import make_sqlite
from tests.unit.products.offers import GTINS, Shop, open_shop

FIELDS = ("gtin", "brand", "mpn", "caliber", "grain_weight", "round_count")
SHOPS = ("a", "b", "c")

Partition = frozenset[frozenset[str]]


class Seen(NamedTuple):
    """An offer: what a shop says of an item."""

    shop: str
    item: int
    facts: tuple[tuple[str, Any], ...]

    @property
    def name(self) -> str:
        return f"{self.shop}{self.item}"


# Most facts are known and few differ, so that much can be compared and much is ambiguous.
facts = st.fixed_dictionaries(
    {
        "gtin": st.sampled_from([GTINS[0], GTINS[1], None]),
        "brand": st.sampled_from(["Federal", "federal ", "Federal", None]),
        "mpn": st.sampled_from(["AE9DP", "ae9dp", "5200", None]),
        "caliber": st.just("9mm Luger"),
        "grain_weight": st.sampled_from([115, 115, None]),
        "round_count": st.sampled_from([50, 50, 1000, None]),
    }
)
offers = st.builds(
    Seen,
    shop=st.sampled_from(SHOPS),
    item=st.integers(0, 3),
    facts=facts.map(lambda found: tuple(sorted(found.items()))),
)
once_each = st.lists(offers, max_size=9, unique_by=lambda offer: offer.name)
trusted = st.frozensets(st.sampled_from(SHOPS))
several_examples = settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture(scope="module")
def dialect(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dialect]:
    folder = tmp_path_factory.mktemp("resolver")
    asyncio.run(make_sqlite(folder))
    found = open_dialect(StoreSettings(folder=folder), HandClock())
    yield found
    asyncio.run(found.close())


class World:
    """Three shops in a store that is forgotten afterwards."""

    def __init__(self, unit: Unit, trusted: frozenset[str]) -> None:
        self.unit = unit
        self._runs = 0
        self._shops: dict[str, Shop] = {
            name: open_shop(unit, name, trusted=name in trusted) for name in SHOPS
        }

    def see(self, *batch: Seen) -> None:
        self._runs += 1
        write_offers(
            self.unit,
            [
                self._shops[seen.shop].offer(
                    str(seen.item), run=f"run-{self._runs}", **dict(seen.facts)
                )
                for seen in batch
            ],
        )

    def trust(self, shop: str, *, upc_trusted: bool) -> None:
        set_trust(self.unit, self._shops[shop].source_id, upc_trusted=upc_trusted, who="ann")

    def partition(self) -> Partition:
        """Which items are the same product."""
        names = {
            (shop.source_id, f"PID:{item}"): f"{name}{item}"
            for name, shop in self._shops.items()
            for item in range(4)
        }
        together: defaultdict[str, set[str]] = defaultdict(set)
        column = source_products.c
        query = select(column.source_id, column.identity_key, column.product_id)
        for source_id, key, product_id in self.unit.run(query):
            assert product_id is not None
            together[product_id].add(names[source_id, key])
        return frozenset(map(frozenset, together.values()))

    def gtins_of_products(self) -> Mapping[str, set[str]]:
        """The trusted numbers under which each product is known."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for key, product_id in self.unit.run(select(product_keys.c.key, product_keys.c.product_id)):
            if key.startswith("gtin:"):
                found[product_id].add(key)
        return found

    def number_of_products(self) -> int:
        return len(self.unit.run(select(products.c.id)).all())


@contextmanager
def world(dialect: Dialect, trusted: frozenset[str]) -> Iterator[World]:
    with dialect.writing.connect() as connection, connection.begin() as transaction:
        yield World(Unit(connection, dialect), trusted)
        transaction.rollback()


def expected(known: Mapping[str, Mapping[str, Any]], trusted: frozenset[str]) -> Partition:
    """The rules, said again in the plainest way."""
    keys = {name: keys_of({**said, "upc": said["gtin"]}) for name, said in known.items()}
    keys = {
        name: found if name[0] in trusted else found._replace(gtin=None)
        for name, found in keys.items()
    }

    def by_attributes(own: Keys) -> str | None:
        if own.gtin or not own.attributes:
            return own.gtin
        gtins = {o.gtin for o in keys.values() if o.attributes == own.attributes and o.gtin}
        return gtins.pop() if len(gtins) == 1 else own.attributes

    def root(name: str) -> str:
        own = keys[name]
        if found := by_attributes(own):
            return found
        if not own.mpn:
            return name
        others = {by_attributes(other) for other in keys.values() if other.mpn == own.mpn}
        roots = {found for found in others if found}
        return roots.pop() if len(roots) == 1 else own.mpn

    together: defaultdict[str, set[str]] = defaultdict(set)
    for name in keys:
        together[root(name)].add(name)
    return frozenset(map(frozenset, together.values()))


def merged(history: Sequence[Seen]) -> dict[str, dict[str, Any]]:
    """What is known in the end: what was said last of each field."""
    known: defaultdict[str, dict[str, Any]] = defaultdict(lambda: dict.fromkeys(FIELDS))
    for seen in history:
        known[seen.name] |= {name: value for name, value in seen.facts if value}
    return known


@given(once_each, trusted, st.randoms(use_true_random=False), st.integers(1, 9))
@several_examples
def test_order_and_batches_do_not_matter(
    dialect: Dialect, seen: list[Seen], trusted: frozenset[str], chance: Any, size: int
) -> None:
    with world(dialect, trusted) as one:
        for each in seen:
            one.see(each)
        in_order = one.partition()
    shuffled = chance.sample(seen, len(seen))
    with world(dialect, trusted) as other:
        for start in range(0, len(shuffled), size):
            other.see(*shuffled[start : start + size])
        in_another = other.partition()

    assert in_order == in_another == expected(merged(seen), trusted)


@given(st.lists(offers, max_size=14), trusted, st.integers(1, 5))
@several_examples
def test_links_are_those_of_what_is_known_in_the_end(
    dialect: Dialect, seen: list[Seen], trusted: frozenset[str], size: int
) -> None:
    with world(dialect, trusted) as found:
        for start in range(0, len(seen), size):
            found.see(*seen[start : start + size])

        assert found.partition() == expected(merged(seen), trusted)


@given(
    once_each,
    once_each,
    trusted,
    st.lists(st.tuples(st.sampled_from(SHOPS), st.booleans()), max_size=4),
)
@several_examples
def test_trust_given_or_taken_later_is_as_if_it_had_always_been_so(
    dialect: Dialect,
    before: list[Seen],
    after: list[Seen],
    trusted: frozenset[str],
    decisions: list[tuple[str, bool]],
) -> None:
    with world(dialect, trusted) as found:
        found.see(*before)
        for shop, is_trusted in decisions:
            found.trust(shop, upc_trusted=is_trusted)
        found.see(*after)
        final = {shop: shop in trusted for shop in SHOPS} | dict(decisions)
        believed = frozenset(shop for shop, is_trusted in final.items() if is_trusted)

        assert found.partition() == expected(merged([*before, *after]), believed)


@given(st.lists(offers, max_size=14), trusted)
@several_examples
def test_two_trusted_gtins_are_never_one_product(
    dialect: Dialect, seen: list[Seen], trusted: frozenset[str]
) -> None:
    with world(dialect, trusted) as found:
        for each in seen:
            found.see(each)
            assert all(len(gtins) == 1 for gtins in found.gtins_of_products().values())
        known = merged(seen)
        for together in found.partition():
            gtins = {known[name]["gtin"] for name in together if name[0] in trusted}
            assert len(gtins - {None}) <= 1


@given(once_each, trusted)
@several_examples
def test_what_is_seen_again_changes_nothing(
    dialect: Dialect, seen: list[Seen], trusted: frozenset[str]
) -> None:
    with world(dialect, trusted) as found:
        found.see(*seen)
        first, number = found.partition(), found.number_of_products()
        found.see(*seen)
        found.see(*reversed(seen))

        assert (found.partition(), found.number_of_products()) == (first, number)
