"""What nobody came to for long is not passed over for ever."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from penstock.queue.claiming import NEGLECTED_MS, TURN_OF_NEGLECTED
from penstock.queue.ports import Done, Item
from tests.stores import Stores, all_of, enter_worker, sqlite_stores


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with sqlite_stores(tmp_path) as stores:
        await enter_worker(await stores.open(), "w")
        yield stores


async def claimed_by_the_second(stores: Stores, seconds: int) -> list[str]:
    """Which item is claimed in each second, while something urgent is always there, too."""
    queue = await stores.queue()
    await queue.put([Item("calm", "fetch", {}, group="calm", priority=9)])
    order = []
    for second in range(seconds):
        await queue.put([Item(f"urgent-{second}", "fetch", {}, group="urgent", priority=0)])
        (claim,) = await queue.claim("w", ["fetch"], 1, all_of)
        await queue.settle([(claim, Done())])
        order.append(claim.id)
        await stores.later(1)
    return order


async def test_what_is_urgent_goes_first_for_a_minute(stores: Stores) -> None:
    assert "calm" not in await claimed_by_the_second(stores, NEGLECTED_MS // 1000)


async def test_what_was_passed_over_for_a_minute_has_its_turn(stores: Stores) -> None:
    order = await claimed_by_the_second(stores, NEGLECTED_MS // 1000 + TURN_OF_NEGLECTED)
    assert order.count("calm") == 1


async def test_most_turns_stay_with_what_is_urgent(stores: Stores) -> None:
    queue = await stores.queue()
    await queue.put([Item(f"calm-{n}", "fetch", {}, group="calm", priority=9) for n in range(20)])
    await stores.later(NEGLECTED_MS / 1000)
    order = await claimed_by_the_second(stores, 2 * TURN_OF_NEGLECTED)
    assert sum(item.startswith("calm") for item in order) == 1
