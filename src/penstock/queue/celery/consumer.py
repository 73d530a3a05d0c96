"""Receives messages in a thread of its own and has their items carried in the asyncio loop.

The thread runs a Celery worker: it keeps the connection, comes back after a loss, and counts
what it may prefetch. Instead of running the task it hands the item to the loop, and when the
item is over the message is acknowledged in the thread again, as a connection belongs to it.
"""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Self

from celery.worker import WorkController, state
from celery.worker.consumer.delayed_delivery import DelayedDelivery

from penstock.core.log import get_logger
from penstock.queue.broker import BrokerSettings
from penstock.queue.celery.messages import declare, make_app, read_message

LOGGERS = ("celery", "kombu", "amqp")
#: Until a worker that failed is begun again, and until a server that is away is tried again.
PAUSE, LONGEST_PAUSE = 5.0, 5.0
#: Messages that come within so many seconds are begun together: their items are claimed at once.
GATHER = 0.02
#: For messages whose items are over but which are not acknowledged yet.
LAST_ONES = 0.5
#: For an answer of the server when we end.
FAREWELL = 5.0


class CeleryConsumer:
    """Has `take` called in the loop for each item that a message names, until it is stopped."""

    def __init__(
        self,
        settings: BrokerSettings,
        lanes: Sequence[str],
        take: Callable[[str], Awaitable[None]],
    ) -> None:
        self._settings = settings
        self._lanes = list(lanes)
        self._take = take
        self._loop: asyncio.AbstractEventLoop
        self._worker: Any = None
        self._logs = _Logs()
        self._received: deque[_Delivery] = deque()
        self._is_told = False
        self._running: set[asyncio.Task[None]] = set()
        self._over: deque[_Delivery] = deque()
        self._hub_is_told = False
        self._is_paused = False
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="celery", daemon=True)

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._logs.attach()
        self._thread.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.stop()

    @property
    def is_ready(self) -> bool:
        """Whether messages can come."""
        consumer = self._worker and self._worker.consumer
        return bool(consumer and consumer.connection and consumer.task_consumer)

    @property
    def running(self) -> int:
        """How many messages are not over."""
        return len(self._running)

    def pause(self) -> None:
        """Receive nothing more; other workers get what comes."""
        self._is_paused = True
        if self.is_ready:
            self._worker.hub.call_soon(self._cancel)

    async def stop(self, grace_seconds: float = LAST_ONES) -> None:
        """Receive nothing more, wait for what is under way, acknowledge it and hang up.

        What is not over after a while stays unacknowledged: the server gives it to another.
        """
        if self._stopping.is_set():
            return
        self.pause()
        await self._end_running(grace_seconds)
        await self._in_thread(self._flush)
        self._stopping.set()
        await asyncio.to_thread(self._end_thread)
        self._logs.detach()

    # ── in the loop

    def _begin(self) -> None:
        """Have the items carried that messages named; once paused, they are left to others."""
        self._is_told = False
        if self._is_paused:
            self._received.clear()
        while self._received:
            task = self._loop.create_task(self._carry(self._received.popleft()))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def _carry(self, delivery: "_Delivery") -> None:
        await self._take(delivery.item)
        self._over.append(delivery)
        if not self._hub_is_told:
            self._hub_is_told = True
            self._worker.hub.call_soon(self._acknowledge)

    async def _end_running(self, grace_seconds: float) -> None:
        if self._running:
            await asyncio.wait(self._running, timeout=grace_seconds)
        left = list(self._running)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _in_thread(self, call: Callable[[], object]) -> None:
        """Have something done by the thread, if it has a connection and answers in time."""
        if not self.is_ready:
            return
        done = asyncio.Event()

        def run() -> None:
            try:
                call()
            finally:
                self._loop.call_soon_threadsafe(done.set)

        self._worker.hub.call_soon(run)
        try:
            async with asyncio.timeout(FAREWELL):
                await done.wait()
        except TimeoutError:
            get_logger().warning("the broker does not answer; it will send messages again")

    def _end_thread(self) -> None:
        """Let Celery hang up; the flag is how it is told, and is the process's."""
        state.should_stop = 0
        if self._worker:
            self._worker.hub.call_soon(_wake)
        self._thread.join(FAREWELL)
        if not self._thread.is_alive():
            state.should_stop = None

    # ── in the thread

    def _run(self) -> None:
        """Work until stopped; Celery comes back by itself from all but the unexpected."""
        while not self._stopping.is_set():
            try:
                self._worker = self._make_worker()
                self._worker.start()
            except Exception as error:
                get_logger().error("the consumer of messages failed", error=repr(error))
            self._stopping.wait(PAUSE)

    def _make_worker(self) -> Any:
        app = make_app(self._settings, self._lanes, self._strategy)
        worker = WorkController(
            app=app,
            pool_cls="solo",
            # Each queue has a prefetch of its own: quorum queues know no common one.
            concurrency=max(1, self._settings.prefetch // len(self._lanes)),
            prefetch_multiplier=1,
            task_events=False,
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
        )
        consumer = worker.consumer
        # It would declare dozens of queues for delays, which are kept in the store here.
        consumer.steps = [step for step in consumer.steps if not isinstance(step, DelayedDelivery)]
        consumer.on_decode_error = _reject
        consumer.ensure_connected = _connected
        return worker

    def _strategy(self, task: Any, app: Any, consumer: Any) -> Callable[..., None]:
        """What Celery asks for on each new connection: the handler of messages to the task."""
        del task, app
        connection = consumer.connection
        for lane in self._lanes:
            declare(self._settings, lane, connection.default_channel)
        self._logs.forget()
        # What was to be acknowledged on the last one has come to nothing.
        self._acknowledge()

        def handle(message: Any, *_: object) -> None:
            try:
                item = read_message(message.body)
            except ValueError as error:
                _reject(message, error)
            else:
                self._receive(_Delivery(item, message, connection))

        return handle

    def _receive(self, delivery: "_Delivery") -> None:
        self._received.append(delivery)
        if not self._is_told:
            self._is_told = True
            self._loop.call_soon_threadsafe(self._loop.call_later, GATHER, self._begin)

    def _acknowledge(self) -> None:
        """Acknowledge what is over; of a connection that was lost, the server knows better."""
        self._hub_is_told = False
        consumer = self._worker.consumer
        while self._over:
            delivery = self._over.popleft()
            if delivery.connection is consumer.connection:
                delivery.message.ack()

    def _cancel(self) -> None:
        self._worker.consumer.task_consumer.cancel()

    def _flush(self) -> None:
        """Return when the server has read all that we acknowledged."""
        self._acknowledge()
        self._worker.consumer.connection.default_channel.basic_qos(0, 1, False)


class _Delivery(NamedTuple):
    """A message, the item that it names, and the connection that it must be answered on."""

    item: str
    message: Any
    connection: Any


def _wake() -> None:
    """Nothing to do but to look up."""


def _connected(connection: Any) -> Any:
    """A connection that is up; Celery's own pauses grow to half a minute."""

    def failed(error: Exception, pause: float) -> None:
        logging.getLogger(LOGGERS[0]).error("no connection: %s; next in %s s", error, pause)

    return connection.ensure_connection(
        failed,
        interval_start=1,
        interval_step=1,
        interval_max=LONGEST_PAUSE,
        callback=state.maybe_shutdown,
    )


def _reject(message: Any, error: Exception) -> None:
    """Send a message to the dead ones: nobody will ever be able to read it."""
    get_logger().error("a message cannot be read", error=repr(error))
    message.reject()


class _Logs(logging.Handler):
    """Celery's warnings among our logs, each kind once until the connection is back."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._said: set[str] = set()

    def attach(self) -> None:
        for name in LOGGERS:
            logging.getLogger(name).addHandler(self)

    def detach(self) -> None:
        for name in LOGGERS:
            logging.getLogger(name).removeHandler(self)

    def forget(self) -> None:
        self._said.clear()

    def emit(self, record: logging.LogRecord) -> None:
        if record.msg not in self._said:
            self._said.add(record.msg)
            text = " ".join(record.getMessage().split())
            get_logger().warning("broker client", logger=record.name, said=text)
