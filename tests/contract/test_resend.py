"""Several resenders on one store, on every engine: each item is named once, whoever looks."""

import asyncio
from collections import Counter

from penstock.queue.broker import BrokerSettings
from penstock.queue.resend import GRACE, Resender
from penstock.queue.tables import lines
from tests.stores import Stores, make_items, rows_of
from tests.unit.queue.nudgers import Ear


async def test_two_resenders_name_each_item_once(stores: Stores) -> None:
    queue, ear = await stores.queue(), Ear()
    items = [item for place in range(60) for item in make_items(5, group=f"{place}.test")]
    await queue.put(items)
    settings = BrokerSettings(resend_seconds=GRACE / 100)
    resenders = [
        Resender(await stores.open(), ear, stores.clock, settings, ["fetch"]) for _ in range(2)
    ]
    await stores.later(1)

    await asyncio.gather(*(resender.look() for resender in resenders))

    assert Counter(ear.ids) == {item.id: 1 for item in items}


async def test_lines_are_named_in_turn_and_by_priority(stores: Stores) -> None:
    queue, ear = await stores.queue(), Ear()
    late = make_items(2, group="late.test", priority=9)
    long, short = make_items(3, group="long.test"), make_items(2, group="short.test")
    await queue.put([*late, *long, *short])
    await stores.later(1)

    settings = BrokerSettings(resend_seconds=GRACE / 100)
    await Resender(await stores.open(), ear, stores.clock, settings, ["fetch"]).look()

    first, second = set(ear.ids[:2]), set(ear.ids[2:4])
    assert (first, second) == ({long[0].id, short[0].id}, {long[1].id, short[1].id})
    assert ear.ids[4:] == [long[2].id, late[0].id, late[1].id]


async def test_a_line_without_items_is_not_looked_at_again(stores: Stores) -> None:
    queue, ear = await stores.queue(), Ear()
    store = await stores.open()
    await queue.put(make_items(1))
    await queue.claim_ids("w", ["fetch--00000"])

    await Resender(store, ear, stores.clock, BrokerSettings(), ["fetch"]).look()

    assert [row["next_at"] for row in await rows_of(store, lines)] == [None]
    assert ear.heard == []
