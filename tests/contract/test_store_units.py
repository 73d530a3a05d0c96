"""Units of work are carried out whole, in order, once, and together; also at the end."""

import asyncio
from collections.abc import Callable

import pytest
from sqlalchemy import delete, event, text
from sqlalchemy.exc import TimeoutError as NoFreeConnection

from penstock.core.errors import StoreError, StoreLost
from penstock.store.store import Store
from penstock.store.unit import Unit
from tests.clocks import HandClock
from tests.notes import notes, numbers, open_with_notes, put
from tests.stores import Stores, lose_next_commit


@pytest.fixture
async def store(stores: Stores) -> Store:
    return await open_with_notes(stores)


def fail(unit: Unit) -> None:
    raise KeyError("not the store's fault")


def count_commits(store: Store) -> list[str]:
    """Fills with an entry for every transaction that the store commits from now on."""
    commits: list[str] = []
    engine = store._dialect.writing
    event.listen(engine, "commit", lambda _connection: commits.append("commit"))
    return commits


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


async def test_rows_can_be_deleted_while_others_write(store: Store, stores: Stores) -> None:
    another = await stores.open()

    await asyncio.gather(
        *(store.write(put(n)) for n in range(50)),
        *(another.write(lambda unit: unit.run(delete(notes)) and None) for _ in range(5)),
    )

    assert set(await another.read(numbers)) <= set(range(50))


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
    store = await open_with_notes(stores)
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
