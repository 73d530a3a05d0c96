"""One row per worker shows that it lives; the row of one that fell silent is struck off.

Silence is measured by the watcher's own monotonic clock, from one look at the row's count of
beats to the next: a clock that jumps, here or there, makes nobody look dead. A process of the
same machine that is gone need not be waited for. What a struck-off worker had claimed is taken
back by `Queue.rescue`.
"""

import os
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import delete, select, update

from penstock.core.clock import Clock
from penstock.core.errors import SettingsError
from penstock.core.ids import new_id
from penstock.core.log import get_logger
from penstock.queue.ports import Queue
from penstock.queue.tables import workers
from penstock.store.store import Store
from penstock.store.unit import Unit


class Pulse(NamedTuple):
    """How often a worker beats, and how long a silence makes it dead, in seconds."""

    every: float = 5.0
    silence: float = 20.0


class _Seen(NamedTuple):
    beats: int
    since: float


class Heartbeat:
    """The row of one worker, and its eye on the others."""

    def __init__(
        self,
        store: Store,
        queue: Queue,
        clock: Clock,
        *,
        kind: str,
        lanes: Sequence[str],
        pulse: Pulse,
        alone: bool = False,
    ) -> None:
        self._store = store
        self._queue = queue
        self._clock = clock
        self._kind = kind
        self._lanes = list(lanes)
        self._pulse = pulse
        self._alone = alone
        self._seen: dict[str, _Seen] = {}
        self._looked_at = clock.monotonic()
        self.id = new_id()

    async def register(self) -> None:
        """Enter the worker; it may claim from now on. One that must be alone is refused."""
        self.id = new_id()
        await self._store.write(self._register)

    async def leave(self) -> None:
        """Strike the worker off; what it still had is taken back at once."""
        await self._store.write(lambda unit: _strike_off(unit, {self.id: None}))
        await self._queue.rescue()

    async def beat(self, status: Mapping[str, Any]) -> bool:
        """Show that we live; False if we were taken for dead and our claims are another's."""
        return await self._store.write(lambda unit: self._beat(unit, status))

    async def keep_beating(
        self, status: Callable[[], Mapping[str, Any]], lost: Callable[[], Awaitable[None]]
    ) -> None:
        """Beat and watch; `lost` is called after we were taken for dead and entered anew."""
        while True:
            if not await self.beat(status()):
                get_logger().warning("worker was taken for dead", worker=self.id)
                await self.register()
                await lost()
            await self.watch()
            await self._clock.sleep(self._pulse.every)

    async def watch(self) -> int:
        """Strike off who fell silent and take back what they had; how many items."""
        rows = await self._store.read(
            lambda unit: unit.run(select(workers.c.id, workers.c.beats, workers.c.process)).all()
        )
        now = self._clock.monotonic()
        if now - self._looked_at > self._pulse.silence / 2:
            # We were away ourselves, so we cannot tell who was silent meanwhile.
            self._seen.clear()
        self._looked_at = now
        seen, silent = {}, {}
        for worker, beats, process in rows:
            before = self._seen.get(worker)
            is_same = before is not None and before.beats == beats
            seen[worker] = before if before and is_same else _Seen(beats, now)
            if worker != self.id and (
                now - seen[worker].since >= self._pulse.silence or is_gone(process)
            ):
                silent[worker] = beats
        self._seen = seen
        if silent:
            get_logger().warning("workers fell silent", workers=sorted(silent))
            await self._store.write(lambda unit: _strike_off(unit, silent))
        return await self._queue.rescue()

    def _register(self, unit: Unit) -> None:
        unit.take_turns("workers")
        if self._alone and (other := self._another(unit)):
            raise SettingsError(
                f"another process fetches from this store, on {other}, and the two would not know "
                "of each other's requests: let them share one ledger with PENSTOCK_SHARED__URL"
            )
        unit.remember_time()
        unit.run(unit.insert(workers).on_conflict_do_nothing(), self._row(unit))

    def _another(self, unit: Unit) -> str | None:
        """The host of another worker of our kind that was heard lately."""
        query = select(workers.c.host, workers.c.process).where(
            workers.c.kind == self._kind,
            workers.c.id != self.id,
            workers.c.beat_at > unit.now - int(self._pulse.silence * 1000),
        )
        return next((row.host for row in unit.run(query) if not is_gone(row.process)), None)

    def _row(self, unit: Unit) -> dict[str, Any]:
        return {
            "id": self.id,
            "kind": self._kind,
            "host": socket.gethostname(),
            "process": this_process(),
            "lanes": self._lanes,
            "beats": 0,
            "started_at": unit.now,
            "beat_at": unit.now,
            "status": {},
        }

    def _beat(self, unit: Unit, status: Mapping[str, Any]) -> bool:
        unit.remember_time()
        statement = update(workers).where(workers.c.id == self.id)
        values = {"beats": workers.c.beats + 1, "beat_at": unit.now, "status": status}
        return unit.run(statement.values(values)).rowcount == 1


def _strike_off(unit: Unit, rows: Mapping[str, int | None]) -> None:
    """Delete rows that have not beaten since they were looked at."""
    for worker, beats in sorted(rows.items()):
        statement = delete(workers).where(workers.c.id == worker)
        unit.run(statement if beats is None else statement.where(workers.c.beats == beats))


def this_process() -> str:
    """Names this process among all that ever ran on this machine; empty if that is not known."""
    machine, started = _machine(), _start_of(os.getpid())
    return f"{machine}/{os.getpid()}/{started}" if machine and started else ""


def is_gone(process: str) -> bool:
    """Whether a process of this machine has ended; of another machine's nothing is known."""
    machine, _, one = process.rpartition("/")
    machine, _, pid = machine.rpartition("/")
    return bool(machine) and machine == _machine() and _start_of(int(pid)) != one


def _machine() -> str:
    """This boot of this machine, and this space of process ids in it."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}/{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


def _start_of(pid: int) -> str:
    """When a process began, in ticks since the boot; empty if there is none or it is a zombie."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    fields = status.rpartition(")")[2].split()
    return "" if fields[0] in "ZX" else fields[19]
