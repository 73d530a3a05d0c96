"""The tables can be brought from any version to any other, and what is in them is kept."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect, text

import penstock
from penstock.core.clock import SystemClock
from penstock.core.errors import SettingsError, StoreOutdated
from penstock.events.log import EventLog
from penstock.events.ports import Message
from penstock.queue.sql import SqlQueue
from penstock.store import migrate
from penstock.store.schema import metadata
from penstock.store.settings import StoreSettings
from penstock.store.store import Store
from penstock.store.unit import Unit
from tests.clocks import HandClock
from tests.stores import PostgresServer, Stores, all_of, ids_of, make_items

FIRST = "0001"
#: What engines have of their own for full text, beside the tables of the code.
FULL_TEXT = "fts_"


@pytest.fixture
async def new_in_sqlite(tmp_path: Path) -> AsyncIterator[Stores]:
    async with AsyncExitStack() as stack:
        yield Stores(StoreSettings(folder=tmp_path), HandClock(), stack)


@pytest.fixture
async def new_in_postgres(postgres: PostgresServer) -> AsyncIterator[Stores]:
    async with postgres.empty_database() as url, AsyncExitStack() as stack:
        yield Stores(StoreSettings(url=url), SystemClock(), stack)


@pytest.fixture(params=["sqlite", "postgres"])
def new_stores(request: pytest.FixtureRequest) -> Stores:
    chosen: Stores = request.getfixturevalue(f"new_in_{request.param}")
    return chosen


@pytest.fixture
async def store(new_stores: Stores) -> Store:
    """A store without any table."""
    return await new_stores.open()


@pytest.fixture(scope="module", autouse=True)
def _all_tables() -> None:
    """Whoever defines a table is imported, so that the metadata is complete."""
    package = Path(penstock.__file__).parent
    for file in package.rglob("*.py"):
        if "= Table(" in file.read_text(encoding="utf-8"):
            name = file.relative_to(package.parent).with_suffix("")
            import_module(".".join(name.parts))


def table_names(unit: Unit) -> set[str]:
    return set(inspect(unit.connection).get_table_names())


def is_of_the_code(name: str | None, _kind: str, _parents: Any) -> bool:
    return not (name or "").startswith(FULL_TEXT)


def differences(unit: Unit) -> list[Any]:
    context = MigrationContext.configure(unit.connection, opts={"include_name": is_of_the_code})
    return list(compare_metadata(context, metadata))


async def test_new_store_has_no_version(store: Store) -> None:
    versions = await migrate.look_up(store)

    assert versions.current is None
    assert versions.missing[0] == FIRST
    assert not versions.is_current


async def test_upgrade_makes_the_tables_that_the_code_expects(store: Store) -> None:
    versions = await migrate.upgrade(store)

    assert versions.is_current
    assert versions.missing == ()
    assert await store.read(differences) == []


async def test_every_table_of_the_code_is_made(store: Store) -> None:
    await migrate.upgrade(store)

    assert set(metadata.tables) <= await store.read(table_names)


async def test_upgrade_of_what_is_current_changes_nothing(store: Store) -> None:
    first = await migrate.upgrade(store)

    assert await migrate.upgrade(store) == first


async def test_downgrade_to_nothing_and_up_again_makes_the_same_tables(store: Store) -> None:
    await migrate.upgrade(store)
    await migrate.downgrade(store, "base")
    left = await store.read(table_names)
    await migrate.upgrade(store)

    assert left == {"alembic_version"}
    assert await store.read(differences) == []


async def test_one_step_back_can_be_taken_again(store: Store) -> None:
    newest = await migrate.upgrade(store)
    back = await migrate.downgrade(store, "-1")

    assert back.missing == (newest.newest,)
    assert (await migrate.upgrade(store)).is_current


async def test_upgrade_from_the_first_version_keeps_what_is_there(store: Store) -> None:
    await migrate.upgrade(store, FIRST)
    queue, log = SqlQueue(store, {}), EventLog(store)
    await queue.put(make_items(3))
    await store.write(lambda unit: log.append(unit, [Message("a", "t", "k", {"n": 1})]))

    await migrate.upgrade(store)

    assert ids_of(await queue.claim("w", ["fetch"], 10, all_of)) == ids_of(make_items(3))
    assert [event.message.data for event in await log.read()] == [{"n": 1}]


async def test_step_that_is_not_known_is_explained(store: Store) -> None:
    with pytest.raises(SettingsError, match="nonsense"):
        await migrate.upgrade(store, "nonsense")


async def test_store_of_a_newer_penstock_is_explained(store: Store) -> None:
    await migrate.upgrade(store)
    newer = text("UPDATE alembic_version SET version_num = '9999'")
    await store.write(lambda unit: unit.run(newer) and None)

    with pytest.raises(StoreOutdated, match="9999, which this Penstock does not know"):
        await migrate.make_ready(store)


async def test_embedded_store_makes_itself_ready(new_in_sqlite: Stores) -> None:
    store = await new_in_sqlite.open()

    await migrate.make_ready(store)

    assert (await migrate.look_up(store)).is_current


async def test_embedded_store_that_is_behind_makes_itself_ready(new_in_sqlite: Stores) -> None:
    store = await new_in_sqlite.open()
    await migrate.upgrade(store, FIRST)

    await migrate.make_ready(store)

    assert (await migrate.look_up(store)).is_current


@pytest.mark.parametrize("version", [None, FIRST])
async def test_shared_store_that_is_behind_says_the_command(
    new_in_postgres: Stores, version: str | None
) -> None:
    store = await new_in_postgres.open()
    if version:
        await migrate.upgrade(store, version)

    with pytest.raises(StoreOutdated, match="penstock db upgrade"):
        await migrate.make_ready(store)


async def test_shared_store_that_is_current_is_ready(in_postgres: Stores) -> None:
    await migrate.make_ready(await in_postgres.open())
