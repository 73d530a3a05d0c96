"""Where claims come from: as many as are wanted, and none that are not."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from penstock.queue.sources import LONGEST_PAUSE, Told
from tests.stores import Stores, all_of, enter_worker, ids_of, make_items, sqlite_stores


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with sqlite_stores(tmp_path) as stores:
        await enter_worker(await stores.open(), "w")
        yield stores


async def test_who_is_told_of_an_item_leaves_it_while_none_is_wanted(stores: Stores) -> None:
    queue = await stores.queue()
    [item] = make_items(1)
    await queue.put([item])
    told, began = Told(queue, stores.clock), stores.clock.monotonic()
    message = asyncio.create_task(told.take(item.id))
    await asyncio.sleep(0)

    assert await told.claims("w", 0, all_of) == []
    assert stores.clock.monotonic() - began == LONGEST_PAUSE
    assert ids_of(await told.claims("w", 1, all_of)) == [item.id]
    told.over(item.id)
    await message


async def test_who_wants_none_looks_again_as_soon_as_one_is_over(stores: Stores) -> None:
    told, began = Told(await stores.queue(), stores.clock), stores.clock.monotonic()
    unwanted = asyncio.create_task(told.claims("w", 0, all_of))
    await asyncio.sleep(0)

    told.over("another")

    assert await unwanted == []
    assert stores.clock.monotonic() == began
