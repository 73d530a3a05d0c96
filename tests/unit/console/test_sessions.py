"""Sessions: good for a while, while somebody uses them, and while their key is good."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import select

from penstock.console.sessions import Door, Note, Sessions, Visitor
from penstock.console.settings import ConsoleSettings
from penstock.console.tables import console_sessions
from penstock.store.store import Store
from penstock.web.keys import Key, KeyRing, Keys, Scope
from penstock.web.settings import ApiSettings
from tests.clocks import HandClock
from tests.stores import sqlite_stores

HOUR, MINUTE = 3600.0, 60.0
SERVICE = "the-service-key"


@dataclass
class Hall:
    """Sessions on a store of their own, by a clock that is set by hand."""

    clock: HandClock
    store: Store
    keys: Keys
    sessions: Sessions

    async def guest(self) -> Visitor:
        visitor = await self.sessions.begin(SERVICE)
        assert visitor
        return visitor

    async def rows(self) -> list[dict[str, object]]:
        return await self.store.read(lambda unit: [*unit.rows(select(console_sessions))])


@pytest.fixture
async def hall(tmp_path: Path) -> AsyncIterator[Hall]:
    clock = HandClock()
    async with sqlite_stores(tmp_path) as stores:
        store = await stores.open(clock)
        keys = Keys(store)
        ring = KeyRing(keys, SERVICE, ApiSettings(keys_seconds=1), clock)
        yield Hall(clock, store, keys, Sessions(store, ring, ConsoleSettings(), clock))


async def test_session_is_found_by_its_cookie_and_by_nothing_else(hall: Hall) -> None:
    visitor = await hall.guest()

    assert await hall.sessions.find(visitor.token) == visitor
    assert await hall.sessions.find(f"{visitor.token}x") is None
    assert await hall.sessions.find(SERVICE) is None


async def test_store_has_neither_cookie_nor_key(hall: Hall) -> None:
    visitor = await hall.guest()

    kept = str(await hall.rows())

    assert visitor.token not in kept
    assert SERVICE not in kept


@pytest.mark.parametrize("secret", ["", "no key", "pk_nothing", "\ud800"])
async def test_what_is_no_key_opens_nothing(hall: Hall, secret: str) -> None:
    assert await hall.sessions.begin(secret) is None
    assert await hall.rows() == []


async def test_only_keys_of_all_workspaces_that_may_read_are_let_in(hall: Hall) -> None:
    _, of_workspace = await hall.keys.create("one", [Scope.ADMIN], workspace_id="acme")
    _, scraper = await hall.keys.create("two", [Scope.SCRAPE])
    _, reader = await hall.keys.create("three", [Scope.READ])

    assert await hall.sessions.begin(of_workspace) is None
    assert await hall.sessions.begin(scraper) is None
    visitor = await hall.sessions.begin(reader)
    assert visitor
    assert not visitor.may_change


async def test_session_ends_after_its_hours_however_busy(hall: Hall) -> None:
    visitor = await hall.guest()

    for _ in range(24):
        hall.clock.move(30 * MINUTE)
        assert await hall.sessions.find(visitor.token)
    hall.clock.move(1)

    assert await hall.sessions.find(visitor.token) is None
    assert await hall.rows() == []


async def test_session_ends_when_nobody_uses_it(hall: Hall) -> None:
    visitor = await hall.guest()
    hall.clock.move(HOUR)
    assert await hall.sessions.find(visitor.token)
    hall.clock.move(HOUR + 1)

    assert await hall.sessions.find(visitor.token) is None


async def test_page_that_is_left_open_keeps_no_session_alive(hall: Hall) -> None:
    visitor = await hall.guest()

    for _ in range(12):
        hall.clock.move(5 * MINUTE)
        assert await hall.sessions.find(visitor.token, is_active=False)
    hall.clock.move(1)

    assert await hall.sessions.find(visitor.token, is_active=False) is None


async def test_revoked_key_ends_its_sessions(hall: Hall) -> None:
    key, secret = await hall.keys.create("somebody", [Scope.ADMIN])
    visitor = await hall.sessions.begin(secret)
    assert visitor
    await hall.keys.revoke(key.id)
    hall.clock.move(2)

    assert await hall.sessions.find(visitor.token) is None
    assert await hall.rows() == []


async def test_expired_key_ends_its_sessions(hall: Hall) -> None:
    _, secret = await hall.keys.create("somebody", [Scope.ADMIN], lifetime=10)
    visitor = await hall.sessions.begin(secret)
    assert visitor
    hall.clock.move(11)

    assert await hall.sessions.find(visitor.token) is None


async def test_signing_out_ends_that_session_alone(hall: Hall) -> None:
    one, other = await hall.guest(), await hall.guest()

    await hall.sessions.end(one.token)

    assert await hall.sessions.find(one.token) is None
    assert await hall.sessions.find(other.token)


async def test_old_sessions_are_forgotten_when_somebody_signs_in(hall: Hall) -> None:
    await hall.guest()
    hall.clock.move(13 * HOUR)

    await hall.guest()

    assert len(await hall.rows()) == 1


async def test_note_is_said_once_and_to_its_session(hall: Hall) -> None:
    one, other = await hall.guest(), await hall.guest()

    hall.sessions.say(one, Note("done", "It is done."))

    assert hall.sessions.said(other) is None
    assert hall.sessions.said(one) == Note("done", "It is done.")
    assert hall.sessions.said(one) is None


def test_forms_belong_to_one_session() -> None:
    key = Key("id", "somebody", "hash", frozenset([Scope.ADMIN]))
    one, other = Visitor(key, "one"), Visitor(key, "other")

    assert one.sent(one.csrf)
    for wrong in (other.csrf, "", one.csrf[:-1], one.token, "é", "\ud800"):
        assert not one.sent(wrong)


def test_door_makes_who_tries_many_keys_wait_longer_each_time() -> None:
    clock = HandClock()
    door = Door(clock)
    waits = []
    for _ in range(12):
        waits.append(door.wait("10.0.0.1"))
        clock.move(waits[-1])
        door.tried("10.0.0.1")

    assert waits[:3] == [0, 0, 0]
    assert waits[3:9] == [1, 2, 4, 8, 16, 32]
    assert waits[9:] == [60, 60, 60]
    assert door.wait("10.0.0.2") == 0


def test_door_forgets_after_a_while_and_after_a_good_key() -> None:
    clock = HandClock()
    door = Door(clock)
    for address in ("10.0.0.1", "10.0.0.2"):
        for _ in range(9):
            door.tried(address)

    door.opened("10.0.0.1")
    assert door.wait("10.0.0.1") == 0
    assert door.wait("10.0.0.2") > 0
    clock.move(901)
    assert door.wait("10.0.0.2") == 0


def test_door_remembers_a_bounded_number_of_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.console.sessions.MOST_ADDRESSES", 3)
    door = Door(HandClock())
    for number in range(5):
        for _ in range(4):
            door.tried(f"10.0.0.{number}")

    assert [door.wait(f"10.0.0.{number}") > 0 for number in range(5)] == [False] * 2 + [True] * 3
