"""`penstock status` and `penstock queue`: what waits for what, said of the right store."""

import asyncio
import re
from pathlib import Path

import pytest

from penstock.core.clock import SystemClock
from penstock.queue.ports import Item
from penstock.queue.sql import SqlQueue
from penstock.store.settings import StoreSettings
from penstock.store.store import open_store
from tests.stores import make_items, make_sqlite
from tests.unit.cli.conftest import FOLDER, Run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store that the settings name."""
    folder = tmp_path / "data"
    folder.mkdir()
    asyncio.run(make_sqlite(folder))
    monkeypatch.setenv(FOLDER, str(folder))
    return folder


def put(folder: Path, items: list[Item]) -> None:
    async def write() -> None:
        async with open_store(StoreSettings(folder=folder), SystemClock()) as store:
            await SqlQueue(store, {}).put(items)

    asyncio.run(write())


def test_status_says_of_which_store_it_speaks_and_what_waits_until_when(
    run: Run, folder: Path
) -> None:
    put(folder, make_items(3, group="shop05.test", delay=3600.0))
    put(folder, make_items(2, group="shop06.test"))
    said = run("status")
    assert said.code == 1
    first, *lines = said.out.splitlines()
    assert first == f"failing, 0 processes on {folder}"
    assert any(line.startswith("  shop05.test (fetch): 3 wait until 20") for line in lines)
    assert "  shop06.test (fetch): 2 wait, 2 of them are due" in lines
    as_json = run("status", "--json").objects[0]
    assert (as_json["store"], as_json["processes"]) == (str(folder), 0)
    assert [each["due"] for each in as_json["waiting"]] == [0, 2]


def test_times_in_the_table_of_lanes_have_a_unit(run: Run, folder: Path) -> None:
    put(folder, make_items(1, group="shop06.test"))
    *_, last = run("status").out.splitlines()
    assert re.search(r" \d+ s\b", last)


def test_domains_are_listed_by_what_waits_in_them(run: Run, folder: Path) -> None:
    put(folder, make_items(3, group="large.test", delay=3600.0))
    put(folder, make_items(2, group="middle.test"))
    put(folder, make_items(1, group="small.test"))
    found = run("queue", "stats", "--by", "domain", "--limit", "2", "--json").objects
    assert [(row["group"], row["waiting"], row["due"]) for row in found] == [
        ("large.test", 3, 0),
        ("middle.test", 2, 2),
    ]
    table = run("queue", "stats", "--by", "domain").out
    assert [line.split()[:4] for line in table.splitlines()[2:]] == [
        ["large.test", "fetch", "3", "0"],
        ["middle.test", "fetch", "2", "2"],
        ["small.test", "fetch", "1", "1"],
    ]


def test_purge_asks_about_what_it_would_forget(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del folder
    asked: list[str] = []
    monkeypatch.setattr("typer.confirm", lambda text, **_: asked.append(text))
    run("queue", "purge", "--state", "dead", "--older-than", "30d", "--lane", "fetch")
    run("queue", "purge", "--state", "dead", "--state", "stale")
    assert asked == [
        "Forget all items of lane fetch that are dead since 30d or longer?",
        "Forget all items that are dead, stale?",
    ]
