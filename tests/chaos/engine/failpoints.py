"""Failpoints: the process ends, as by `kill -9`, or freezes at a named step of an item's life.

`PENSTOCK_CHAOS_FAILPOINT=name:n:death` is read only by the tests' own processes; the named
function is replaced before Penstock runs, and when it is come by for the n-th time, it happens.
"""

import os
import signal
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from penstock.events.log import EventLog
from penstock.kernel.fetchers.http import HttpFetcher
from penstock.queue.putting import Puts
from penstock.queue.sql import SqlQueue
from penstock.store.settings import FILE_NAME
from penstock.store.unit import Unit
from penstock.workloads.fetch.lane import FetchLane

VARIABLE = "PENSTOCK_CHAOS_FAILPOINT"
DIED = 9

Fuse = Callable[[], None]


def _die() -> bool:
    os._exit(DIED)


def _freeze() -> bool:
    """Not in the middle of a write of our other thread: SQLite has one writer."""
    folder, url = (os.environ.get(f"PENSTOCK_STORE__{name}", "") for name in ("FOLDER", "URL"))
    if not url and is_written_to(Path(folder) / FILE_NAME):
        return False
    os.kill(os.getpid(), signal.SIGSTOP)
    return True


def is_written_to(database: Path) -> bool:
    """Whether somebody is in the middle of a write."""
    with closing(sqlite3.connect(database, timeout=0.2, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return True
        connection.execute("ROLLBACK")
    return False


FATES: dict[str, Callable[[], bool]] = {"death": _die, "freeze": _freeze}


def plant(wanted: str) -> None:
    """Put the failpoint that `name:n:fate` asks for in its place; nothing for an empty text."""
    if not wanted:
        return
    name, nth, fate = wanted.split(":")
    left, is_over = int(nth), False

    def fuse() -> None:
        nonlocal left, is_over
        left -= 1
        if left <= 0 and not is_over:
            is_over = FATES[fate]()

    {**IN_WORKERS, **IN_SUBMITTERS}[name](fuse)


def _before(owner: Any, name: str) -> Callable[[Fuse], None]:
    def put(fuse: Fuse) -> None:
        original: Callable[..., Any] = getattr(owner, name)

        def burning(*args: Any, **kwargs: Any) -> Any:
            fuse()
            return original(*args, **kwargs)

        setattr(owner, name, burning)

    return put


def _after(owner: Any, name: str) -> Callable[[Fuse], None]:
    def put(fuse: Fuse) -> None:
        original: Callable[..., Any] = getattr(owner, name)

        def burning(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            fuse()
            return result

        setattr(owner, name, burning)

    return put


def _after_some(owner: Any, name: str) -> Callable[[Fuse], None]:
    """After a coroutine has come back with something; with nothing, it does not count."""

    def put(fuse: Fuse) -> None:
        original: Callable[..., Awaitable[Any]] = getattr(owner, name)

        async def burning(*args: Any, **kwargs: Any) -> Any:
            result = await original(*args, **kwargs)
            if result:
                fuse()
            return result

        setattr(owner, name, burning)

    return put


#: In the order of an item's life.
IN_WORKERS: dict[str, Callable[[Fuse], None]] = {
    "claim statements run": _after(Unit, "close"),
    "claim committed": _after_some(SqlQueue, "claim"),
    "before the fetch": _before(HttpFetcher, "fetch"),
    "after the fetch": _after_some(HttpFetcher, "fetch"),
    "before the settling": _before(SqlQueue, "settle"),
    "item ended, no outcome": _before(FetchLane, "record"),
    "outcome written, no event": _before(EventLog, "append"),
    "event written, not counted": _after(EventLog, "append"),
    "settling committed": _after_some(SqlQueue, "settle"),
}
IN_SUBMITTERS: dict[str, Callable[[Fuse], None]] = {
    "before the put": _before(Puts, "write"),
    "put, not committed": _after(Puts, "write"),
    "put committed": _after_some(SqlQueue, "put"),
}
