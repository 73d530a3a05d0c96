"""Every event log keeps its promises: in the order of commits, once per id, by place."""

import asyncio
from collections.abc import Sequence

import pytest
from sqlalchemy import delete

from penstock.events.log import EventLog
from penstock.events.ports import Event, Message
from penstock.events.tables import deliveries, events
from penstock.store.store import Store
from penstock.store.unit import Unit
from tests.stores import Stores, lose_next_commit, rows_of


class Names:
    """A sink that wants one topic and is never delivered to."""

    name = "names"

    def wants(self, topic: str) -> bool:
        return topic == "wanted"

    def line_of(self, message: Message) -> str:
        return message.key

    async def deliver(self, events: Sequence[Event]) -> None: ...


@pytest.fixture
def log(store: Store) -> EventLog:
    return EventLog(store)


def messages(*ids: str, topic: str = "t") -> list[Message]:
    return [Message(each, topic, "key", {"n": each}, "00-ab-cd-01") for each in ids]


async def append(log: EventLog, store: Store, *ids: str, topic: str = "t") -> None:
    await store.write(lambda unit: log.append(unit, messages(*ids, topic=topic)))


def ids_in(found: Sequence[Event]) -> list[str]:
    return [event.message.id for event in found]


async def test_event_comes_back_as_it_was_written(log: EventLog, store: Store) -> None:
    await append(log, store, "a")

    (event,) = await log.read()

    assert event.message == messages("a")[0]
    assert event.as_json()["seq"] == await log.last()


async def test_events_are_read_in_the_order_of_their_places(log: EventLog, store: Store) -> None:
    for each in "cab":
        await append(log, store, each)

    assert ids_in(await log.read()) == ["c", "a", "b"]


async def test_events_are_read_behind_a_place_and_no_more_than_asked_for(
    log: EventLog, store: Store
) -> None:
    await append(log, store, *"abcde")
    second = (await log.read())[1].seq

    assert ids_in(await log.read(after=second, limit=2)) == ["c", "d"]


async def test_only_topics_that_were_asked_for_are_read(log: EventLog, store: Store) -> None:
    await append(log, store, "a", topic="one")
    await append(log, store, "b", topic="two")

    assert ids_in(await log.read(topics=["two"])) == ["b"]


async def test_event_that_is_there_already_stays_as_it_is(log: EventLog, store: Store) -> None:
    await append(log, store, "a", "b")
    before = await log.read()
    await append(log, store, "b", "a", "c")

    assert (await log.read())[:2] == before
    assert ids_in(await log.read()) == ["a", "b", "c"]


async def test_event_whose_commit_was_not_heard_of_is_written_once(
    log: EventLog, store: Store
) -> None:
    lose_next_commit(store)

    await append(log, store, "a")

    assert ids_in(await log.read()) == ["a"]


async def test_event_of_work_that_failed_is_never_read(log: EventLog, store: Store) -> None:
    def work(unit: Unit) -> None:
        log.append(unit, messages("a"))
        raise KeyError

    with pytest.raises(KeyError):
        await store.write(work)

    assert await log.read() == []


async def test_no_messages_are_no_events(log: EventLog, store: Store) -> None:
    await append(log, store)

    assert await log.last() == 0


async def test_reader_that_follows_the_log_misses_nothing(stores: Stores) -> None:
    writers = [await stores.open() for _ in range(3)]
    logs = [EventLog(writer) for writer in writers]
    reader = EventLog(await stores.open())
    seen: list[str] = []

    async def write(n: int) -> None:
        for batch in range(10):
            await append(logs[n], writers[n], *(f"{n}-{batch}-{each}" for each in range(5)))

    async def follow() -> None:
        place = 0
        while len(seen) < 150:
            for event in await reader.read(after=place):
                place = event.seq
                seen.append(event.message.id)

    async with asyncio.timeout(30):
        await asyncio.gather(follow(), *map(write, range(3)))

    assert len(set(seen)) == 150


async def test_place_is_never_given_out_again(log: EventLog, store: Store) -> None:
    await append(log, store, "a", "b")
    place = await log.last()
    await store.write(lambda unit: unit.run(delete(events)) and None)

    await append(log, store, "c")

    assert ids_in(await log.read(after=place)) == ["c"]


async def test_sink_is_owed_what_it_wants_and_nothing_else(store: Store) -> None:
    log = EventLog(store, [Names()])
    await append(log, store, "a", topic="wanted")
    await append(log, store, "b", topic="other")

    (owed,) = await rows_of(store, deliveries)

    assert (owed["sink"], owed["seq"]) == ("names", (await log.read())[0].seq)


async def test_many_events_at_once_are_owed_too(store: Store) -> None:
    log = EventLog(store, [Names()])

    await append(log, store, *map(str, range(40_000)), topic="wanted")

    assert len(await rows_of(store, deliveries)) == 40_000


async def test_data_that_one_engine_refuses_is_kept(log: EventLog, store: Store) -> None:
    message = Message("a", "t", "k\x00", {"text": "\x00\ud800"}, "")
    await store.write(lambda unit: log.append(unit, [message]))

    (event,) = await log.read()

    assert event.message.data == {"text": "\ufffd\ufffd"}
