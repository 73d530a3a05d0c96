"""Sends messages from a thread of its own; while the server is away it drops them."""

import asyncio
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from types import TracebackType
from typing import Any, Self

from kombu import Connection

from penstock.core.log import get_logger
from penstock.queue.broker import BrokerSettings, Nudge
from penstock.queue.celery.messages import (
    CONNECT_SECONDS,
    HEARTBEAT_SECONDS,
    declare,
    lane_queue,
    write_message,
)

#: For how long a lost server is left alone, and a silent one waited for.
PAUSE, CONFIRM_SECONDS = 1.0, 15.0
LOOK_SECONDS = 1.0
#: For what is still to be sent when we end.
LAST_SECONDS = 5.0


class CeleryNudger:
    """Calls the task for each nudge; what the server has not confirmed is sent again."""

    def __init__(self, settings: BrokerSettings) -> None:
        self._settings = settings
        self._unsent: deque[Nudge] = deque()
        self._changed = threading.Condition()
        self._is_ready = False
        self._is_stopping = False
        self._is_reported = False
        self._thread = threading.Thread(target=self._run, name="nudger", daemon=True)

    @property
    def is_ready(self) -> bool:
        return self._is_ready and len(self._unsent) < self._settings.max_unsent // 2

    async def send(self, nudges: Sequence[Nudge]) -> None:
        with self._changed:
            room = self._settings.max_unsent - len(self._unsent) if self._is_ready else 0
            self._unsent.extend(nudges[:room])
            self._changed.notify()

    async def __aenter__(self) -> Self:
        self._thread.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._changed:
            self._is_stopping = True
            self._changed.notify()
        await asyncio.to_thread(self._thread.join, LAST_SECONDS)

    def _run(self) -> None:
        """Send until stopped; whatever goes wrong with a connection, the next may do."""
        while not self._is_stopping:
            try:
                with _connected(self._settings) as post:
                    self._note_back()
                    self._deliver(post)
            except Exception as error:
                self._note_away(error)
                with self._changed:
                    self._changed.wait_for(lambda: self._is_stopping, PAUSE)

    def _deliver(self, post: "_Post") -> None:
        while batch := self._next(post):
            post.send(batch)
            with self._changed:
                for _ in batch:
                    self._unsent.popleft()

    def _next(self, post: "_Post") -> list[Nudge]:
        """Wait for something to send; nothing comes when all is sent and we end."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._unsent or self._is_stopping, LOOK_SECONDS)
                batch = list(islice(self._unsent, self._settings.publish_batch))
                if batch or self._is_stopping:
                    return batch
            post.look()

    def _note_back(self) -> None:
        if self._is_reported:
            get_logger().warning("the broker is back")
        self._is_ready, self._is_reported = True, False

    def _note_away(self, error: Exception) -> None:
        self._is_ready = False
        if not self._is_reported:
            get_logger().error("the broker is away; messages are sent later", error=repr(error))
        self._is_reported = True


class _Post:
    """One connection to the server."""

    def __init__(self, settings: BrokerSettings, connection: Connection) -> None:
        self._settings = settings
        self._connection = connection
        self._channel = connection.channel()
        self._channel.confirm_select()
        self._channel.events["basic_ack"].add(self._confirmed)
        self._channel.events["basic_nack"].add(self._confirmed)
        self._names: dict[str, str] = {}
        self._sent = 0
        self._open: set[int] = set()

    def send(self, nudges: Sequence[Nudge]) -> None:
        """Send messages and return when the server has them; those it refuses are dropped."""
        for nudge in nudges:
            name = self._names.get(nudge.lane) or self._name(nudge.lane)
            self._channel.basic_publish(write_message(nudge, self._channel), "", name)
            self._sent += 1
            self._open.add(self._sent)
        while self._open:
            self._connection.drain_events(timeout=CONFIRM_SECONDS)

    def look(self) -> None:
        """Notice a server that is gone, and show it that we are not."""
        self._connection.heartbeat_check()
        try:
            self._connection.drain_events(timeout=0.001)
        except TimeoutError:
            return

    def _name(self, lane: str) -> str:
        declare(self._settings, lane, self._channel)
        self._names[lane] = str(lane_queue(self._settings, lane).name)
        return self._names[lane]

    def _confirmed(self, tag: int, multiple: Any) -> None:
        if multiple:
            self._open = {number for number in self._open if number > tag}
        else:
            self._open.discard(tag)


@contextmanager
def _connected(settings: BrokerSettings) -> Iterator[_Post]:
    connection = Connection(
        settings.url.get_secret_value(),
        heartbeat=HEARTBEAT_SECONDS,
        connect_timeout=CONNECT_SECONDS,
    )
    try:
        capabilities = connection.connect().client_properties.get("capabilities", {})
        # Or it would look for news of the server before each message, at twice the cost of one.
        capabilities.pop("connection.blocked", None)
        yield _Post(settings, connection)
    except BaseException:
        # Without a farewell: a server that froze would let us wait for its answer for ever.
        connection.collect(CONNECT_SECONDS)
        raise
    connection.release()
