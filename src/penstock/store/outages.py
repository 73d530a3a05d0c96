"""Outages of domains as every process of a store saw them, kept beyond the processes.

Each process notes what its own breakers say, and again and again that it is still so: one that is
gone leaves outages behind that nobody sees any more, and those are over.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, ColumnElement, Index, Integer, Table, Text, delete, select, update

from penstock.core.clock import Clock
from penstock.core.errors import PenstockError
from penstock.core.log import get_logger
from penstock.kernel.circuits import Circuits
from penstock.kernel.ports import CircuitState
from penstock.store.schema import CleanText, Moment, Whole, metadata, partial_index
from penstock.store.store import Store
from penstock.store.unit import Unit

#: Seconds between two looks. What was not seen for some looks is over.
LOOK_EVERY = 5.0
LOST_MS = 30_000
#: For how long outages are remembered, and of how many domains a look takes note.
KEPT_MS = 30 * 86_400_000
MOST_AT_ONCE = 500
CLOSED = "closed"

outages = Table(
    "outages",
    metadata,
    Column("rules", Text, primary_key=True),
    Column("domain", CleanText, primary_key=True),
    Column("began_at", Moment, primary_key=True),
    Column("seen_at", Moment, nullable=False),
    Column("state", Text, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("backoff_ms", Whole, nullable=False),
    # Of those that last there is one: however many processes see it.
    partial_index("uq_outages_open", "rules", "domain", where="state <> 'closed'", unique=True),
    Index("ix_outages_seen_at", "seen_at"),
)

#: A domain by the rules that took it for down.
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Outage:
    """A domain that was taken for down, from when (ms) and until when; by which rules."""

    rules: str
    domain: str
    began_at: int
    state: str
    failures: int
    backoff: float
    ended_at: int | None = None


class Outages:
    """Notes the outages that this process sees, and tells those that any process saw."""

    def __init__(self, store: Store, circuits: Circuits, clock: Clock) -> None:
        self._store = store
        self._circuits = circuits
        self._clock = clock
        self._seen: Mapping[Key, CircuitState] = {}
        self._noted_at = float("-inf")

    async def keep_looking(self) -> None:
        """Look again and again."""
        while True:
            try:
                await self.look()
            except PenstockError as error:
                get_logger().warning("outages are not noted", error=str(error))
            await self._clock.sleep(LOOK_EVERY)

    async def look(self) -> None:
        """See which domains are down and which are up again, and note what is news."""
        seen = await self._look_at_circuits()
        is_old = self._clock.monotonic() - self._noted_at >= LOOK_EVERY / 2
        if seen != self._seen or (seen and is_old):
            gone = self._seen.keys() - seen.keys()
            await self._store.write(lambda unit: _note(unit, seen, sorted(gone)))
            self._seen, self._noted_at = seen, self._clock.monotonic()

    async def open(self, rules: str | None = None) -> list[Outage]:
        """The outages that last, the longest first."""
        return await self._store.read(lambda unit: _open(unit, rules))

    async def over(self, rules: str | None, limit: int) -> list[Outage]:
        """The outages that are over, the latest first."""
        return await self._store.read(lambda unit: _over(unit, rules, limit))

    async def _look_at_circuits(self) -> Mapping[Key, CircuitState]:
        every = (self._circuits.common, *self._circuits.of_workloads.values())
        rule_sets = {rules.name: rules for rules in every}
        found = {
            (name, circuit.domain): circuit
            for name, rules in rule_sets.items()
            for circuit in await rules.breaker.troubled()
        }
        return dict(sorted(found.items())[:MOST_AT_ONCE])


def _note(unit: Unit, seen: Mapping[Key, CircuitState], gone: Sequence[Key]) -> None:
    for key, circuit in seen.items():
        _note_one(unit, key, circuit)
    for key in gone:
        ended = update(outages).where(*_lasting(key))
        unit.run(ended.values(state=CLOSED, seen_at=unit.now))
    unit.run(delete(outages).where(outages.c.seen_at < unit.now - KEPT_MS))


def _note_one(unit: Unit, key: Key, circuit: CircuitState) -> None:
    now = {
        "seen_at": unit.now,
        "state": circuit.state,
        "failures": circuit.failures,
        "backoff_ms": int(circuit.backoff * 1000),
    }
    lasts = update(outages).where(*_lasting(key), _is_fresh(unit)).values(**now)
    if unit.run(lasts).rowcount:
        return
    # Another process may have noted it a moment ago: only what nobody sees any more is over.
    lost = update(outages).where(*_lasting(key), ~_is_fresh(unit))
    unit.run(lost.values(state=CLOSED))
    row = {"rules": key[0], "domain": key[1], "began_at": unit.now, **now}
    unit.run(unit.insert(outages).values(**row).on_conflict_do_nothing())


def _lasting(key: Key) -> Sequence[ColumnElement[bool]]:
    its = outages.c
    return its.rules == key[0], its.domain == key[1], its.state != CLOSED


def _is_fresh(unit: Unit) -> ColumnElement[bool]:
    return outages.c.seen_at >= unit.now - LOST_MS


def _open(unit: Unit, rules: str | None) -> list[Outage]:
    query = select(outages).where(outages.c.state != CLOSED, _is_fresh(unit))
    if rules is not None:
        query = query.where(outages.c.rules == rules)
    rows = unit.rows(query.order_by(outages.c.began_at, outages.c.domain))
    return [_outage(row, row["state"], None) for row in rows]


def _over(unit: Unit, rules: str | None, limit: int) -> list[Outage]:
    its = outages.c
    query = select(outages).where((its.state == CLOSED) | (its.seen_at < unit.now - LOST_MS))
    if rules is not None:
        query = query.where(its.rules == rules)
    rows = unit.rows(query.order_by(its.seen_at.desc(), its.domain).limit(limit))
    return [_outage(row, CLOSED, row["seen_at"]) for row in rows]


def _outage(row: Mapping[str, Any], state: str, ended_at: int | None) -> Outage:
    return Outage(
        row["rules"],
        row["domain"],
        row["began_at"],
        state,
        row["failures"],
        row["backoff_ms"] / 1000,
        ended_at,
    )
