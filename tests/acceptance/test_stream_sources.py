"""Who pushes seeds and who does not, and how reading for links ends."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from penstock.app import build
from penstock.app.engine import open_engine, open_ready_store
from penstock.app.stream_desk import stored_desk
from penstock.app.stream_links import until
from penstock.app.stream_sources import keep_pushing, start_stored_seeds, stored_supply
from penstock.core.clock import SystemClock
from penstock.workloads.stream.seed_file import read_seeds
from tests.platforms import settings_for
from tests.shell import eventually
from tests.site import Site

SEEDS = "- url: http://one.test/\n  every: 1h\n"


@pytest.mark.parametrize(
    ("works", "stream", "expected"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"redis_url": "redis://nowhere.test"}, False),
        (True, {"seeds_file": None}, False),
    ],
    ids=["a worker", "fetches nothing", "the queue is in Redis", "no file"],
)
async def test_who_pushes_the_seeds_of_the_settings(
    site: Site, tmp_path: Path, works: bool, stream: dict[str, Any], expected: bool
) -> None:
    file = tmp_path / "seeds.yaml"
    file.write_text(SEEDS, encoding="utf-8")
    section = {"seeds_file": file, **stream}
    settings = settings_for(site, store={"folder": tmp_path}, stream=section)
    async with (
        open_ready_store(settings, SystemClock()) as store,
        build(settings, fetches=works) as platform,
        open_engine(settings, platform, store, fetches=works) as engine,
    ):
        start_stored_seeds(settings, platform, engine)

        assert ("seeds" in engine.supervisor.duties) is expected


async def test_who_ends_leaves_the_seeds_to_others_at_once(site: Site, tmp_path: Path) -> None:
    settings = settings_for(site, store={"folder": tmp_path})
    seeds = read_seeds(SEEDS, "seeds")
    async with (
        open_ready_store(settings, SystemClock()) as store,
        build(settings) as platform,
    ):
        supply = stored_supply(store, stored_desk(settings, store))
        pushing = asyncio.create_task(keep_pushing(settings, platform, supply, seeds))

        async def has_pushed() -> bool:
            return (await supply.desk.depth()).waiting == 1

        await eventually(has_pushed)
        before = await supply.seeds.hold("another", 30)
        pushing.cancel()
        await asyncio.gather(pushing, return_exceptions=True)

        assert (before, await supply.seeds.hold("another", 30)) == (False, True)


async def test_reading_ends_while_nothing_comes() -> None:
    stopping, is_closed = asyncio.Event(), asyncio.Event()

    async def come() -> AsyncIterator[int]:
        try:
            yield 1
            stopping.set()
            await asyncio.Event().wait()
        finally:
            is_closed.set()

    async with asyncio.timeout(10):
        assert [number async for number in until(stopping, come())] == [1]
    assert is_closed.is_set()


async def test_reading_ends_after_what_was_begun() -> None:
    stopping = asyncio.Event()
    found = []

    async def come() -> AsyncIterator[int]:
        for number in range(5):
            yield number

    async for number in until(stopping, come()):
        if number == 2:
            stopping.set()
        found.append(number)

    assert found == [0, 1, 2]


async def test_trouble_on_the_way_is_heard_of() -> None:
    async def come() -> AsyncIterator[int]:
        yield 1
        raise ValueError("trouble")

    with pytest.raises(ValueError, match="trouble"):
        async for _ in until(asyncio.Event(), come()):
            pass
