"""The book of changes: nothing is changed in it, the newest stands first, and it is not endless."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from penstock.console.audit import Audit
from tests.clocks import HandClock
from tests.stores import sqlite_stores

DAY = 86_400.0


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
async def audit(tmp_path: Path, clock: HandClock) -> AsyncIterator[Audit]:
    async with sqlite_stores(tmp_path) as stores:
        yield Audit(await stores.open(clock))


async def test_change_says_who_when_and_what(audit: Audit, clock: HandClock) -> None:
    await audit.note("ann", "pause", "shop.test", {"why": "they asked"})

    (row,) = await audit.list()

    said = (row["who"], row["action"], row["subject"], row["detail"])
    assert said == ("ann", "pause", "shop.test", {"why": "they asked"})
    assert row["at"] == int(clock.now().timestamp() * 1000)


async def test_newest_stands_first_and_pages_do_not_overlap(audit: Audit) -> None:
    for number in range(5):
        await audit.note("ann", "edit", str(number))

    first = await audit.list(limit=2)
    second = await audit.list(first[-1]["id"], limit=2)

    ids = [row["id"] for row in (*first, *second)]
    assert len(set(ids)) == 4
    assert ids == sorted(ids, reverse=True)


async def test_old_changes_are_forgotten(audit: Audit, clock: HandClock) -> None:
    await audit.note("ann", "edit", "old")
    clock.move(2 * DAY)
    await audit.note("ann", "edit", "new")

    assert await audit.forget(1) == 1
    assert [row["subject"] for row in await audit.list()] == ["new"]


async def test_whatever_is_written_down_can_be_stored(audit: Audit) -> None:
    await audit.note("a\0n", "edit\ud800", "\0", {"why": "\0\ud800", "deep": [{"x": None}]})

    assert len(await audit.list()) == 1
