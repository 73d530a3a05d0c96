"""The submitter: puts items in the queue, journals before and after; also a process of its own."""

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path

from penstock.core.clock import SystemClock
from penstock.core.errors import StoreError
from penstock.kernel.model import Request
from penstock.queue.ports import Item, Queue
from penstock.queue.sql import SqlQueue
from penstock.settings import load_settings
from penstock.store.store import open_store
from penstock.workloads.fetch.lane import item_for
from tests.chaos.engine.journal import Journal

HOSTS = 8
PATH = "/page"
#: One in so many pages is not there: its item becomes a dead letter, with an outcome.
MISSING_EVERY = 20
PAUSE = 0.2


def host_of(number: int) -> str:
    return f"chaos{number % HOSTS}.test"


def make_items(first: int, count: int) -> list[Item]:
    """Items with a URL of their own each, over all hosts."""
    return [
        item_for(Request(f"http://{host_of(number)}{PATH}?item={number}"), host_of(number), "chaos")
        for number in range(first, first + count)
    ]


async def submit(queue: Queue, journal: Journal, items: Sequence[Item]) -> None:
    """Put items until all of them are accepted, however often the store refuses."""
    journal.submit({item.id: item.payload["url"] for item in items})
    while items:
        try:
            receipts = await queue.put(items)
        except StoreError:
            await asyncio.sleep(PAUSE)
            continue
        answered = list(zip(items, receipts, strict=True))
        journal.acknowledge(item.id for item, receipt in answered if receipt.status == "accepted")
        items = [item for item, receipt in answered if receipt.status == "rejected"]


async def _run(journal: Journal, first: int, count: int, batch: int) -> None:
    settings = load_settings()
    async with open_store(settings.store, SystemClock()) as store:
        queue = SqlQueue(store, {})
        for start in range(first, first + count, batch):
            await submit(queue, journal, make_items(start, min(batch, first + count - start)))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("journal", type=Path)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--batch", type=int, default=10)
    options = parser.parse_args(arguments)
    asyncio.run(_run(Journal(options.journal), options.first, options.count, options.batch))


if __name__ == "__main__":
    main()
