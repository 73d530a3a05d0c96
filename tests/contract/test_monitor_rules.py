"""Price rules in the store, and what they tell of offers that are written."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

from penstock.events.log import EventLog
from penstock.notify.topics import PRICE_ALERT
from penstock.products.model import Seen
from penstock.products.writing import write_offers
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.monitor import rules
from penstock.workloads.monitor.changes import Change
from penstock.workloads.monitor.rules import PriceAlerts, RuleKind, RuleRefused
from tests.stores import Stores
from tests.unit.products.offers import GTINS, Shop, open_shop, show
from tests.unit.workloads.monitor.watched import add_target


@pytest.fixture
async def store(stores: Stores) -> Store:
    return await stores.open()


@dataclass(frozen=True, slots=True)
class Watched:
    """A price of a shop that has a target."""

    shop: Shop
    product_id: str
    price_id: str


async def watch(store: Store, name: str = "shop", *, is_shown: bool = True) -> Watched:
    """A shop that consumers see or not, with a target and a price of a product."""

    def work(unit: Unit) -> Watched:
        shop = open_shop(unit, name, trusted=True)
        if is_shown:
            show(unit, shop)
        target = add_target(unit, shop, "t1" if is_shown else f"t-{name}")
        [written] = write_offers(unit, [shop.offer(target=target, gtin=GTINS[0])])
        return Watched(shop, written.product_id, written.price_id)

    return await store.write(work)


def seen(price: str, availability: str = "IN_STOCK") -> Seen:
    return Seen(Decimal(price), "USD", availability, 0)


def change(watched: Watched, before: Seen | None, after: Seen, target_id: str = "t1") -> Change:
    url = "https://shop.example/1"
    ids = (target_id, "sp1", watched.product_id, watched.price_id, "run-2")
    return Change(*ids, url, before, after)


async def add(store: Store, kind: RuleKind, **about: Any) -> rules.Rule:
    return await store.write(lambda unit: rules.add_rule(unit, kind, "ann", **about))


async def tell(store: Store, *changes: Change) -> list[dict[str, Any]]:
    log = EventLog(store)
    await store.write(lambda unit: PriceAlerts(log).tell(unit, changes))
    return [dict(event.message.data) for event in await log.read(topics=[PRICE_ALERT])]


async def test_rules_of_target_and_product_are_told_of(store: Store) -> None:
    watched = await watch(store)
    below = await add(
        store, RuleKind.BELOW_PRICE, target_id="t1", threshold=Decimal(20), currency="USD"
    )
    drop = await add(
        store, RuleKind.DROP_PERCENT, product_id=watched.product_id, threshold=Decimal(5)
    )
    await add(store, RuleKind.BACK_IN_STOCK, target_id="t1")

    told = await tell(store, change(watched, seen("25"), seen("19.99")))

    assert {each["rule_id"] for each in told} == {below.id, drop.id}
    assert told[0]["after"]["price"] == "19.99"
    assert told[0]["message"] == "19.99 USD now, 25 USD before"


async def test_rule_on_a_product_sees_what_consumers_see_and_one_on_a_target_all_of_it(
    store: Store,
) -> None:
    seen_by_all, hidden = await watch(store), await watch(store, "other", is_shown=False)
    product_id = seen_by_all.product_id
    assert hidden.product_id == product_id
    user = await add(store, RuleKind.DROP_PERCENT, product_id=product_id, threshold=Decimal(5))
    ops = await add(store, RuleKind.DROP_PERCENT, target_id="t-other", threshold=Decimal(5))
    fall = change(hidden, seen("25"), seen("9"), "t-other")

    assert [each["rule_id"] for each in await tell(store, fall)] == [ops.id]

    await store.write(lambda unit: show(unit, hidden.shop))
    told = await tell(store, fall, change(seen_by_all, seen("25"), seen("9")))

    assert sorted(each["rule_id"] for each in told) == sorted([ops.id, user.id, user.id])


async def test_same_observation_is_told_once(store: Store) -> None:
    watched = await watch(store)
    await add(store, RuleKind.DROP_PERCENT, target_id="t1", threshold=Decimal(5))
    once = change(watched, seen("25"), seen("19.99"))

    await tell(store, once)

    assert len(await tell(store, once)) == 1


async def test_rule_that_is_off_or_of_another_target_says_nothing(store: Store) -> None:
    watched = await watch(store)
    off = await add(store, RuleKind.DROP_PERCENT, target_id="t1", threshold=Decimal(5))
    await store.write(lambda unit: rules.switch_rule(unit, off.id, enabled=False))

    def another(unit: Unit) -> None:
        add_target(unit, open_shop(unit, "other"), "t2")
        rules.add_rule(unit, RuleKind.DROP_PERCENT, "ann", target_id="t2", threshold=Decimal(5))

    await store.write(another)

    assert await tell(store, change(watched, seen("25"), seen("9"))) == []


async def test_webhook_of_a_rule_goes_with_the_event(store: Store) -> None:
    watched = await watch(store)
    url = "https://me.example/hook"
    await add(store, RuleKind.BACK_IN_STOCK, product_id=watched.product_id, notify_url=url)

    (told,) = await tell(store, change(watched, seen("25", "OUT_OF_STOCK"), seen("25")))

    assert told["callback_url"] == url
    assert told["message"] == "in stock again, for 25 USD"


async def test_rules_are_kept_listed_and_removed(store: Store) -> None:
    watched = await watch(store)
    first = await add(
        store, RuleKind.BELOW_PRICE, target_id="t1", threshold=Decimal("19.95"), currency="USD"
    )
    second = await add(store, RuleKind.BACK_IN_STOCK, product_id=watched.product_id)

    assert await store.read(lambda unit: rules.find_rule(unit, first.id)) == first
    assert await store.read(rules.list_rules) == [first, second]
    assert await store.read(lambda unit: rules.list_rules(unit, target_id="t1")) == [first]
    assert await store.read(lambda unit: rules.list_rules(unit, after=first.id)) == [second]
    assert await store.write(lambda unit: rules.remove_rule(unit, first.id))
    assert not await store.write(lambda unit: rules.remove_rule(unit, first.id))
    assert await store.read(lambda unit: rules.find_rule(unit, first.id)) is None


@pytest.mark.parametrize(
    ("kind", "about", "problem"),
    [
        (RuleKind.BACK_IN_STOCK, {}, "one target or one product"),
        (RuleKind.BACK_IN_STOCK, {"target_id": "t1", "product_id": "p"}, "one target or one"),
        (RuleKind.BACK_IN_STOCK, {"target_id": "nobody"}, "no such target"),
        (RuleKind.BACK_IN_STOCK, {"target_id": "t1", "threshold": Decimal(1)}, "no threshold"),
        (RuleKind.DROP_PERCENT, {"target_id": "t1"}, "above zero"),
        (RuleKind.DROP_PERCENT, {"target_id": "t1", "threshold": Decimal("NaN")}, "above zero"),
        (RuleKind.DROP_PERCENT, {"target_id": "t1", "threshold": Decimal(101)}, "at most 100"),
        (RuleKind.DROP_PERCENT, {"target_id": "t1", "threshold": Decimal("0.001")}, "decimals"),
        (RuleKind.BELOW_PRICE, {"target_id": "t1", "threshold": Decimal(5)}, "its currency"),
        (
            RuleKind.BACK_IN_STOCK,
            {"target_id": "t1", "notify_url": "ftp://me.example"},
            "URL to notify",
        ),
    ],
)
async def test_rule_that_could_never_come_true_is_refused(
    store: Store, kind: RuleKind, about: dict[str, Any], problem: str
) -> None:
    await watch(store)

    with pytest.raises(RuleRefused, match=problem):
        await add(store, kind, **about)
