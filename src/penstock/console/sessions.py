"""Who is signed in: a cookie that scripts cannot read, good for a while and while its key is."""

import hashlib
import hmac
import secrets
from collections import OrderedDict
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import delete, insert, select, update

from penstock.console.settings import ConsoleSettings
from penstock.console.tables import console_sessions
from penstock.core.clock import Clock
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.web.keys import Key, KeyRing, Scope

COOKIE = "penstock_session"
#: A session's last request is written down so often at most.
SEEN_EVERY_MS = 60_000
MOST_NOTES = 10_000
#: Failed tries of one address that cost nothing, the longest pause after more, and for how long
#: they are remembered.
FREE_TRIES, LONGEST_PAUSE, REMEMBERED = 3, 60.0, 900.0
MOST_ADDRESSES = 10_000


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who is signed in; `token` is what the cookie says."""

    key: Key
    token: str

    @property
    def may_change(self) -> bool:
        """Whether the key is one of an admin."""
        return self.key.allows(Scope.ADMIN)

    @property
    def csrf(self) -> str:
        """What every form of this session has to say."""
        return hmac.new(self.token.encode(), b"csrf", hashlib.sha256).hexdigest()

    def sent(self, said: str) -> bool:
        """Whether a form is one of this session."""
        return hmac.compare_digest(self.csrf.encode(), said.encode(errors="replace"))


class Note(NamedTuple):
    """What a page says once, after something was done: how it went, and in which words."""

    kind: str
    text: str


class Sessions:
    """Sessions in the store, shared by all processes that serve the console."""

    def __init__(
        self, store: Store, ring: KeyRing, settings: ConsoleSettings, clock: Clock
    ) -> None:
        self._store = store
        self._ring = ring
        self._lifetime = int(settings.session_hours * 3_600_000)
        self._idle = int(settings.idle_minutes * 60_000)
        self._clock = clock
        self._notes: OrderedDict[str, Note] = OrderedDict()

    async def begin(self, secret: str) -> Visitor | None:
        """Sign in with a key; None if it is none of ours, or one of a workspace."""
        key = await self._ring.find(secret)
        if key is None or key.workspace_id is not None or not key.allows(Scope.READ):
            return None
        token = secrets.token_urlsafe(32)

        def add(unit: Unit) -> None:
            row = {"id": _id(token), "key_hash": key.hash, "created_at": unit.now}
            unit.run(insert(console_sessions), {**row, "seen_at": unit.now})
            oldest = unit.now - max(self._lifetime, self._idle)
            unit.run(delete(console_sessions).where(console_sessions.c.seen_at < oldest))

        await self._store.write(add)
        return Visitor(key, token)

    async def find(self, token: str, *, is_active: bool = True) -> Visitor | None:
        """Who has a cookie, if it and its key are good; whether somebody did something with it."""
        row = await self._store.read(
            lambda unit: next(
                unit.rows(select(console_sessions).where(console_sessions.c.id == _id(token))), None
            )
        )
        if row is None:
            return None
        now = int(self._clock.now().timestamp() * 1000)
        is_over = now - row["created_at"] > self._lifetime or now - row["seen_at"] > self._idle
        key = None if is_over else await self._ring.find_by_hash(row["key_hash"])
        if key is None:
            await self.end(token)
            return None
        if is_active and now - row["seen_at"] > SEEN_EVERY_MS:
            await self._store.write(lambda unit: _see(unit, token))
        return Visitor(key, token)

    async def end(self, token: str) -> None:
        """Sign out."""
        self._notes.pop(token, None)
        statement = delete(console_sessions).where(console_sessions.c.id == _id(token))
        await self._store.write(lambda unit: unit.run(statement) and None)

    def say(self, visitor: Visitor, note: Note) -> None:
        """Have the next page of a session say something."""
        self._notes[visitor.token] = note
        while len(self._notes) > MOST_NOTES:
            self._notes.popitem(last=False)

    def said(self, visitor: Visitor) -> Note | None:
        """What the page is to say, once."""
        return self._notes.pop(visitor.token, None)


class Door:
    """Makes whoever tries many keys wait, longer each time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tries: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def wait(self, address: str) -> float:
        """Seconds until an address may try again; 0 if it may now."""
        failed, at = self._failed(address)
        if failed < FREE_TRIES:
            return 0.0
        pause = min(2.0 ** (failed - FREE_TRIES), LONGEST_PAUSE)
        return max(0.0, at + pause - self._clock.monotonic())

    def tried(self, address: str) -> None:
        """A key is tried; it counts as none until it was good, so that none slip by together."""
        failed, _ = self._failed(address)
        self._tries[address] = (failed + 1, self._clock.monotonic())
        self._tries.move_to_end(address)
        while len(self._tries) > MOST_ADDRESSES:
            self._tries.popitem(last=False)

    def opened(self, address: str) -> None:
        """A key was good."""
        self._tries.pop(address, None)

    def _failed(self, address: str) -> tuple[int, float]:
        failed, at = self._tries.get(address, (0, 0.0))
        return (0, 0.0) if self._clock.monotonic() - at > REMEMBERED else (failed, at)


def _id(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _see(unit: Unit, token: str) -> None:
    statement = update(console_sessions).where(console_sessions.c.id == _id(token))
    unit.run(statement.values(seen_at=unit.now))
