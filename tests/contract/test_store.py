"""Every store keeps its promises: alike on both engines, durable, and patient with trouble."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from types import MappingProxyType
from typing import Any

import pytest
from sqlalchemy import Column, Integer, MetaData, Table, delete, event, insert, select, text, update
from sqlalchemy.engine import make_url
from sqlalchemy.exc import TimeoutError as NoFreeConnection

from penstock.core.clock import SystemClock
from penstock.core.errors import StoreError, StoreLost
from penstock.store.schema import CleanText, Json, Moment, Whole
from penstock.store.settings import StoreSettings
from penstock.store.store import Store
from penstock.store.unit import Unit
from tests import postgres_server
from tests.clocks import HandClock
from tests.postgres_server import PrivatePostgres
from tests.stores import Stores, lose_next_commit, run_sql

REPLACEMENT = "\ufffd"

notes = Table(
    "notes",
    MetaData(),
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("words", CleanText),
    Column("data", Json),
    Column("number", Whole),
    Column("at", Moment),
)


@pytest.fixture
async def store(stores: Stores) -> Store:
    store = await stores.open()
    await store.write(lambda unit: notes.create(unit.connection))
    return store


def put(row: int, **values: Any) -> Callable[[Unit], int]:
    """A unit of work that writes one row."""

    def work(unit: Unit) -> int:
        unit.run(insert(notes), {"id": row, **values})
        return row

    return work


def fail(unit: Unit) -> None:
    raise KeyError("not the store's fault")


def numbers(unit: Unit) -> list[int]:
    return list(unit.run(select(notes.c.id).order_by(notes.c.id)).scalars())


async def kept(store: Store, column: str, value: Any) -> Any:
    """What comes back of a value."""
    await store.write(put(1, **{column: value}))
    query = select(notes.c[column])
    return await store.read(lambda unit: unit.run(query).scalar_one())


def count_commits(store: Store) -> list[str]:
    """Fills with an entry for every transaction that the store commits from now on."""
    commits: list[str] = []
    engine = store._dialect.writing
    event.listen(engine, "commit", lambda _connection: commits.append("commit"))
    return commits


# ── values that one of the engines refuses


@pytest.mark.parametrize(
    ("given", "back"),
    [
        ("a\x00b", f"a{REPLACEMENT}b"),
        ("a\ud800b", f"a{REPLACEMENT}b"),
        ("\udfff\ud800", REPLACEMENT * 2),
        ("日本 \U0001f600", "日本 \U0001f600"),
        ("", ""),
        ("\\u0000", "\\u0000"),
        (None, None),
    ],
)
async def test_text_comes_back_alike_from_both_engines(
    store: Store, given: str | None, back: str | None
) -> None:
    assert await kept(store, "words", given) == back


@pytest.mark.parametrize(
    ("given", "back"),
    [
        ({"a": "b\x00c"}, {"a": f"b{REPLACEMENT}c"}),
        ({"a\x00": 1}, {f"a{REPLACEMENT}": 1}),
        ({"a": "\x00\x00"}, {"a": REPLACEMENT * 2}),
        ({"a": "\ud800"}, {"a": REPLACEMENT}),
        ({"\udc00": "\x00"}, {REPLACEMENT: REPLACEMENT}),
        ({"path": "C:\\u0000"}, {"path": "C:\\u0000"}),
        ({"path": "\\\x00"}, {"path": f"\\{REPLACEMENT}"}),
        ({"path": "\\\\u0000\ud800"}, {"path": f"\\\\u0000{REPLACEMENT}"}),
        ({"a": [math.nan, math.inf, -math.inf]}, {"a": [None, None, None]}),
        ({"a": [math.nan, "\ud800"]}, {"a": [None, REPLACEMENT]}),
        ({"a": 2**63}, {"a": 2**63}),
        ({"a": 2**63, "b": "\ud800"}, {"a": 2**63, "b": REPLACEMENT}),
        ({"a": 2**64}, {"a": str(2**64)}),
        ({"a": -(2**63) - 1}, {"a": str(-(2**63) - 1)}),
        ({"a": 10**400}, {"a": str(10**400)}),
        ({1: "a", None: "b"}, {"1": "a", "None": "b"}),
        ({"a": (1, 2)}, {"a": [1, 2]}),
        (MappingProxyType({"a": MappingProxyType({"b": 1})}), {"a": {"b": 1}}),
        ([], []),
        (0, 0),
        ("", ""),
        (False, False),
        (None, None),
    ],
)
async def test_data_comes_back_alike_from_both_engines(store: Store, given: Any, back: Any) -> None:
    assert await kept(store, "data", given) == back


@pytest.mark.parametrize("number", [2**63 - 1, -(2**63), 0, None])
async def test_number_of_64_bits_comes_back(store: Store, number: int | None) -> None:
    assert await kept(store, "number", number) == number


@pytest.mark.parametrize("column", ["number", "at"])
@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**30])
async def test_larger_number_is_refused(store: Store, number: int, column: str) -> None:
    with pytest.raises(StoreError, match="larger than any database column"):
        await kept(store, column, number)


async def test_what_has_no_form_at_all_is_refused(store: Store) -> None:
    with pytest.raises(StoreError, match="refused"):
        await kept(store, "data", {"a": object()})


async def test_data_that_is_nested_too_deeply_is_refused(store: Store) -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]

    with pytest.raises(StoreError):
        await kept(store, "data", deep)


# ── units of work


async def test_write_returns_what_its_work_returned(store: Store) -> None:
    assert await store.write(put(7)) == 7


async def test_write_is_seen_by_another_process_when_it_returns(
    store: Store, stores: Stores
) -> None:
    another = await stores.open()

    await store.write(put(1))

    assert await another.read(numbers) == [1]


async def test_work_that_fails_leaves_nothing(store: Store) -> None:
    def work(unit: Unit) -> None:
        put(1)(unit)
        fail(unit)

    with pytest.raises(KeyError):
        await store.write(work)

    assert await store.read(numbers) == []


async def test_work_that_fails_harms_no_other_of_its_group(store: Store) -> None:
    works = [put(n) if n % 5 else fail for n in range(50)]

    results = await asyncio.gather(*map(store.write, works), return_exceptions=True)

    assert [type(result) for result in results[:2]] == [KeyError, int]
    assert await store.read(numbers) == [n for n in range(50) if n % 5]


async def test_work_that_the_database_refuses_harms_no_other_of_its_group(store: Store) -> None:
    works = [put(n // 2) for n in range(20)]

    results = await asyncio.gather(*map(store.write, works), return_exceptions=True)

    assert [isinstance(result, StoreError) for result in results] == [False, True] * 10
    assert await store.read(numbers) == list(range(10))


async def test_writes_that_wait_share_a_commit(store: Store) -> None:
    commits = count_commits(store)

    await asyncio.gather(*(store.write(put(n)) for n in range(300)))

    assert len(await store.read(numbers)) == 300
    assert len(commits) < 10


async def test_writes_of_one_channel_are_carried_out_in_order(store: Store) -> None:
    done: list[int] = []

    def work(number: int) -> Callable[[Unit], None]:
        return lambda unit: done.append(put(number)(unit))

    await asyncio.gather(*(store.write(work(n), "one") for n in range(700)))

    assert done == list(range(700))


async def test_caller_that_gives_up_does_not_stop_the_others(store: Store) -> None:
    impatient = asyncio.create_task(store.write(put(1)))
    patient = asyncio.create_task(store.write(put(2)))
    await asyncio.sleep(0)
    impatient.cancel()

    assert await patient == 2


async def test_many_more_readers_than_connections_are_all_served(stores: Stores) -> None:
    store = await stores.open(pool_size=2)

    answers = await asyncio.gather(
        *(store.read(lambda unit: unit.run(text("SELECT 1")).scalar_one()) for _ in range(100))
    )

    assert answers == [1] * 100


async def test_many_more_channels_than_connections_are_all_served(
    store: Store, stores: Stores
) -> None:
    crowded = await stores.open(pool_size=2)

    await asyncio.gather(*(crowded.write(put(n), f"channel {n % 20}") for n in range(100)))

    assert len(await store.read(numbers)) == 100


async def test_time_of_a_unit_stands_still(store: Store) -> None:
    def work(unit: Unit) -> tuple[int, int]:
        return unit.now, unit.now

    first, second = await store.write(work)

    assert first == second


async def test_missing_table_says_what_to_do(stores: Stores) -> None:
    store = await stores.open()

    with pytest.raises(StoreError, match="penstock db upgrade"):
        await store.read(numbers)


async def test_wrong_statement_is_not_tried_again_and_again(stores: Stores) -> None:
    clock = HandClock()
    store = await stores.open(clock)

    with pytest.raises(StoreError):
        await store.read(lambda unit: unit.run(text("SELECT nonsense FROM (")))

    assert clock.slept == []


async def test_duplicate_table_is_not_tried_again_and_again(store: Store, stores: Stores) -> None:
    clock = HandClock()
    another = await stores.open(clock)

    with pytest.raises(StoreError):
        await another.write(lambda unit: notes.create(unit.connection, checkfirst=False))

    assert clock.slept == []


async def test_work_is_run_again_when_its_commit_was_not_heard_of(store: Store) -> None:
    runs: list[int] = []

    def work(unit: Unit) -> None:
        runs.append(1)
        unit.run(unit.insert(notes).on_conflict_do_nothing(), {"id": 1})

    lose_next_commit(store)
    await store.write(work)

    assert (len(runs), await store.read(numbers)) == (2, [1])


async def test_store_in_trouble_is_tried_soon_and_then_at_least_every_two_seconds(
    stores: Stores,
) -> None:
    clock = HandClock()
    store = await stores.open(clock, ride_out_seconds=60)

    def find_no_connection(unit: Unit) -> None:
        raise NoFreeConnection("all are in use")

    with pytest.raises(StoreLost):
        await store.write(find_no_connection)

    assert clock.slept[0] <= 0.05
    assert 1 < max(clock.slept) <= 2


# ── the end


async def test_leaving_the_store_finishes_what_was_asked_of_it(stores: Stores) -> None:
    store = await stores.open()
    await store.write(lambda unit: notes.create(unit.connection))
    tasks = [asyncio.create_task(store.write(put(n))) for n in range(20)]
    await asyncio.sleep(0)

    await store.flush()

    assert [task.done() for task in tasks] == [True] * 20


async def test_what_a_closed_store_had_not_written_fails(store: Store) -> None:
    tasks = [asyncio.create_task(store.write(put(n))) for n in range(2000)]
    await asyncio.sleep(0)

    await store.close()

    async with asyncio.timeout(5):
        results = await asyncio.gather(*tasks, return_exceptions=True)
    assert any(isinstance(result, StoreError) for result in results)


async def test_closed_store_takes_no_more_writes(store: Store) -> None:
    await store.close()

    with pytest.raises(StoreError, match="closed"):
        async with asyncio.timeout(5):
            await store.write(put(1))


# ── trouble


async def end_all_connections(stores: Stores) -> None:
    """Let the server break off every connection to the test's database."""
    query = """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()
    """
    await run_sql(stores.settings.url.get_secret_value(), query)


@pytest.fixture
async def server_store(in_postgres: Stores) -> Store:
    store = await in_postgres.open(pool_size=4)
    await store.write(lambda unit: notes.create(unit.connection))
    return store


async def test_broken_connections_are_ridden_out(server_store: Store, in_postgres: Stores) -> None:
    readers = [
        server_store.read(lambda unit: unit.run(text("SELECT pg_sleep(0.2)")).all())
        for _ in range(3)
    ]
    reading = asyncio.gather(*readers)
    writing = asyncio.gather(*(server_store.write(put(n), f"{n % 2}") for n in range(50)))
    await asyncio.sleep(0.05)

    await end_all_connections(in_postgres)

    await asyncio.gather(reading, writing)
    assert await server_store.read(numbers) == list(range(50))


async def test_connections_that_broke_while_nobody_used_them_are_ridden_out(
    server_store: Store, in_postgres: Stores
) -> None:
    await asyncio.gather(*(server_store.read(numbers) for _ in range(8)))
    await end_all_connections(in_postgres)

    assert await server_store.read(numbers) == []
    assert await server_store.write(put(1)) == 1


async def test_connection_that_breaks_amid_a_unit_of_work_runs_it_again(
    server_store: Store, in_postgres: Stores
) -> None:
    runs: list[int] = []

    def work(unit: Unit) -> int:
        runs.append(1)
        put(5)(unit)
        if len(runs) == 1:
            unit.run(text("SELECT pg_terminate_backend(pg_backend_pid())"))
        return 5

    assert await server_store.write(work) == 5
    assert (len(runs), await server_store.read(numbers)) == (2, [5])


@pytest.fixture
def private_server() -> Iterator[PrivatePostgres]:
    server = PrivatePostgres(postgres_server.find_program())
    server.start()
    yield server
    server.stop()


@pytest.fixture
async def on_private_server(private_server: PrivatePostgres) -> AsyncIterator[Stores]:
    async with AsyncExitStack() as stack:
        settings = StoreSettings(url=private_server.url, ride_out_seconds=30)
        yield Stores(settings, SystemClock(), stack)


async def test_restart_of_the_server_is_ridden_out(
    private_server: PrivatePostgres, on_private_server: Stores
) -> None:
    store = await on_private_server.open()
    await store.write(lambda unit: notes.create(unit.connection))
    writing = asyncio.gather(*(store.write(put(n), f"{n % 3}") for n in range(30)))
    await asyncio.sleep(0.01)

    private_server.kill()
    reading = asyncio.create_task(store.read(lambda unit: unit.run(text("SELECT 1")).scalar_one()))
    await asyncio.sleep(0.1)
    await asyncio.to_thread(private_server.start)

    await asyncio.gather(writing, return_exceptions=True)
    assert await reading == 1
    assert await store.read(numbers) == list(range(30))


async def test_store_that_stays_away_is_lost_after_a_while(
    private_server: PrivatePostgres, on_private_server: Stores
) -> None:
    clock = HandClock()
    store = await on_private_server.open(clock, ride_out_seconds=60)
    await store.read(lambda unit: unit.run(text("SELECT 1")))
    private_server.kill()

    with pytest.raises(StoreLost, match="out of reach"):
        await store.write(put(1))

    assert 60 <= sum(clock.slept) < 70


async def test_store_that_was_lost_is_used_again_when_it_is_back(
    private_server: PrivatePostgres, on_private_server: Stores
) -> None:
    store = await on_private_server.open(HandClock())
    private_server.kill()
    with pytest.raises(StoreLost):
        await store.read(numbers)

    private_server.start()

    await store.write(lambda unit: notes.create(unit.connection))
    assert await store.write(put(1)) == 1


async def test_server_that_has_no_connection_left_is_waited_for(
    private_server: PrivatePostgres, on_private_server: Stores
) -> None:
    url = make_url(private_server.url)
    await run_sql(private_server.url, "CREATE ROLE guest LOGIN CONNECTION LIMIT 1")
    guest = url.set(username="guest").render_as_string(hide_password=False)
    stores = Stores(StoreSettings(url=guest), SystemClock(), on_private_server._stack)
    first, second = await stores.open(), await stores.open()
    await first.read(lambda unit: unit.run(text("SELECT 1")))

    waiting = asyncio.create_task(second.read(lambda unit: unit.run(text("SELECT 2")).scalar_one()))
    await asyncio.sleep(0.1)
    await first.close()

    assert await waiting == 2


async def test_transactions_in_each_others_way_are_run_again(server_store: Store) -> None:
    await server_store.write(put(1, number=0))
    await server_store.write(put(2, number=0))

    def add(first: int, second: int) -> Callable[[Unit], None]:
        def work(unit: Unit) -> None:
            for number in (first, second):
                statement = update(notes).where(notes.c.id == number)
                unit.run(statement.values(number=notes.c.number + 1))
                unit.run(text("SELECT pg_sleep(0.1)"))

        return work

    await asyncio.gather(server_store.write(add(1, 2), "a"), server_store.write(add(2, 1), "b"))

    query = select(notes.c.number)
    assert await server_store.read(lambda unit: unit.run(query).scalars().all()) == [2, 2]


async def test_rows_can_be_deleted_while_others_write(store: Store, stores: Stores) -> None:
    another = await stores.open()

    await asyncio.gather(
        *(store.write(put(n)) for n in range(50)),
        *(another.write(lambda unit: unit.run(delete(notes)) and None) for _ in range(5)),
    )

    assert set(await another.read(numbers)) <= set(range(50))
