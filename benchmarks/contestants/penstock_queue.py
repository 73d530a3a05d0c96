"""Penstock's queue: puts, and claims with their ends, per second; then the same, deeper."""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import uvloop
from pydantic import SecretStr

from penstock.core.clock import SystemClock
from penstock.core.ids import new_id
from penstock.queue.ports import Done, Item, LaneLimit, State
from penstock.queue.sql import SqlQueue
from penstock.store import migrate
from penstock.store.settings import StoreSettings
from penstock.store.store import open_store

LANE, GROUPS, BATCH, AT_ONCE = "bench", 1000, 500, 32


def make_items(number: int) -> list[Item]:
    return [
        Item(new_id(), LANE, {"url": f"https://shop{n % GROUPS}.example/{n}"}, f"shop{n % GROUPS}")
        for n in range(number)
    ]


def everything(_group: str) -> tuple[int, float]:
    return 1_000_000, 0.0


async def put(queue: SqlQueue, items: Sequence[Item], batch: int) -> float:
    """Items put per second: so many in a call, so many calls at once."""
    calls = [items[start : start + batch] for start in range(0, len(items), batch)]
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(call: Sequence[Item]) -> None:
        async with gate:
            await queue.put(call)

    began = time.perf_counter()
    await asyncio.gather(*(one(call) for call in calls))
    return len(items) / (time.perf_counter() - began)


async def finish(queue: SqlQueue, number: int) -> float:
    """Items claimed and finished per second, each of them committed twice."""
    began, over = time.perf_counter(), 0
    while over < number:
        claims = await queue.claim("bench", [LANE], min(BATCH, number - over), everything)
        over += len(await queue.settle([(claim, Done()) for claim in claims]))
    return number / (time.perf_counter() - began)


async def measure(url: str, number: int, depths: Sequence[int]) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        async with open_store(
            StoreSettings(folder=Path(folder), url=SecretStr(url)), SystemClock()
        ) as store:
            await migrate.upgrade(store, "head")
            queue = SqlQueue(store, {LANE: LaneLimit(100_000_000)})
            single = await put(queue, make_items(number // 4), 1)
            batched = await put(queue, make_items(number), BATCH)
            finished = await finish(queue, number + number // 4)
            costs = {}
            for depth in depths:
                await put(queue, make_items(depth - await waiting(queue)), BATCH)
                speeds = [await finish(queue, 5 * BATCH) for _ in range(3)]
                costs[depth] = 1000 / max(speeds)
            return {"single": single, "batched": batched, "finished": finished, "costs": costs}


async def waiting(queue: SqlQueue) -> int:
    return sum(depth.counts.get(State.WAITING, 0) for depth in await queue.depth())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", default="")
    parser.add_argument("--number", type=int, required=True)
    parser.add_argument("--depths", default="")
    options = parser.parse_args()
    depths = [int(depth) for depth in options.depths.split(",") if depth]
    print(json.dumps(uvloop.run(measure(options.url, options.number, depths))))


if __name__ == "__main__":
    main()
