"""`penstock fetch --durable`: a list of URLs, begun again after every end but its own."""

import asyncio
from functools import partial

from sqlalchemy import select

from penstock.queue.tables import items
from tests.chaos.engine.arena import RECOVERY_SECONDS, Arena, until
from tests.chaos.engine.processes import Running
from tests.chaos.engine.scenarios import Played, Size
from tests.chaos.engine.submitter import make_items

#: Some pages are not there, which the command says at its end.
SOME_FAILED = 1
LONGEST_RUN = 600.0


async def kill_durable_fetch(arena: Arena, size: Size) -> Played:
    """`kill -9` of the command at any moment, while it loads or fetches; then once to its end."""
    urls = [item.payload["url"] for item in make_items(arena.reserve(size.items), size.items)]
    (arena.folder / "urls.txt").write_text("\n".join(urls))
    for _ in range(size.faults):
        command = await _start(arena)
        await asyncio.sleep(arena.chance.uniform(0.2, 1.2))
        assert command.is_alive, f"the list is too short to be interrupted: {command.said[-500:]}"
        await command.kill()
    before = len((await arena.held()).outcomes)
    command = await _start(arena)
    recovery = await until(partial(_goes_on, arena, command, before), RECOVERY_SECONDS)
    assert await command.ended(LONGEST_RUN) == SOME_FAILED, command.said
    assert sorted((await _journal(arena)).values()) == sorted(urls)
    return Played(size.faults, recovery)


async def _goes_on(arena: Arena, command: Running, before: int) -> bool:
    return not command.is_alive or len((await arena.held()).outcomes) > before


async def _start(arena: Arena) -> Running:
    arguments = ["fetch", "--durable", "-f", str(arena.folder / "urls.txt"), "--json"]
    return await arena.nursery.fork(arguments, arena.as_worker())


async def _journal(arena: Arena) -> dict[str, str]:
    """The command gives no receipts: what it put is what must have become of its list."""
    async with arena.store() as store:
        query = select(items.c.id, items.c.payload)
        found = await store.read(lambda unit: unit.run(query).all())
    urls = {row.id: row.payload["url"] for row in found}
    arena.journal.submit(urls)
    arena.journal.acknowledge(urls)
    return urls
