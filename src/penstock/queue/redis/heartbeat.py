"""That a worker of the stream lives, in Redis; one that fell silent is struck off.

As in `queue.heartbeat`, silence is measured by the watcher's own clock, from one look at a beat to
the next: neither a clock that jumps nor a Redis that was away makes anybody look dead.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from penstock.core.clock import Clock
from penstock.core.errors import StoreError
from penstock.core.ids import new_id
from penstock.core.log import get_logger
from penstock.kernel.redis.server import Server
from penstock.queue.heartbeat import Pulse, is_gone, this_process
from penstock.queue.redis.claiming import load
from penstock.queue.redis.keys import raw, text_of
from penstock.queue.redis.queue import RedisQueue


class _Seen(NamedTuple):
    beat: bytes
    since: float


class RedisHeartbeat:
    """The beat of one worker, and its eye on the others."""

    def __init__(
        self,
        server: Server,
        queue: RedisQueue,
        clock: Clock,
        pulse: Pulse,
        new_id: Callable[[], str] = new_id,
    ) -> None:
        self._server = server
        self._queue = queue
        self._keys = queue.keys
        self._clock = clock
        self._pulse = pulse
        self._new_id = new_id
        self._register = load("register")
        self._beat = load("known", "beat")
        self._strike = load("strike")
        self._seen: dict[str, _Seen] = {}
        self._looked_at = clock.monotonic()
        self.id = new_id()

    async def register(self) -> None:
        """Enter the worker under a new name; it may claim from now on."""
        self.id = self._new_id()
        names = (self._keys.workers, self._keys.processes)
        await self._server.run(self._register, names, raw(self.id), raw(this_process()))

    async def leave(self) -> None:
        """Strike the worker off; what it still had is taken back, at once or when Redis is back."""
        try:
            await self._strike_off(self.id, b"")
            await self._queue.rescue()
        except StoreError as error:
            get_logger().warning("worker could not sign off", worker=self.id, error=str(error))

    async def beat(self, status: Mapping[str, Any]) -> bool:
        """Show that we live; False if we were taken for dead and our claims are another's."""
        del status
        return bool(await self._server.run(self._beat, (self._keys.workers,), raw(self.id)))

    async def keep_beating(
        self, status: Callable[[], Mapping[str, Any]], lost: Callable[[], Awaitable[None]]
    ) -> None:
        """Beat and watch; `lost` is called after we were taken for dead and entered anew."""
        while True:
            try:
                await self._beat_and_watch(status(), lost)
            except StoreError as error:
                get_logger().error("no heartbeat", worker=self.id, error=str(error))
            await self._clock.sleep(self._pulse.every)

    async def _beat_and_watch(
        self, status: Mapping[str, Any], lost: Callable[[], Awaitable[None]]
    ) -> None:
        if not await self.beat(status):
            get_logger().warning("worker was taken for dead", worker=self.id)
            await self.register()
            await lost()
        await self.watch()

    async def watch(self) -> int:
        """Strike off who fell silent and take back what they had; how many URLs."""
        ask, keys = self._server.ask, self._keys
        row = iter(await ask("ZRANGEBYSCORE", raw(keys.workers), "(0", "+inf", "WITHSCORES"))
        beats = {text_of(worker): beat for worker, beat in zip(row, row, strict=True)}
        silent = self._silent(beats)
        gone = await self._gone(beats)
        for worker in sorted(silent | gone):
            get_logger().warning("worker fell silent", worker=worker)
            await self._strike_off(worker, beats[worker])
        return await self._queue.rescue()

    def _silent(self, beats: Mapping[str, bytes]) -> set[str]:
        """Who has not beaten for too long, as far as we looked."""
        now = self._clock.monotonic()
        if now - self._looked_at > self._pulse.silence / 2:
            # We were away ourselves, so we cannot tell who was silent meanwhile.
            self._seen.clear()
        self._looked_at = now
        before, self._seen = self._seen, {}
        for worker, beat in beats.items():
            seen = before.get(worker)
            self._seen[worker] = seen if seen and seen.beat == beat else _Seen(beat, now)
        return {
            worker
            for worker, seen in self._seen.items()
            if worker != self.id and now - seen.since >= self._pulse.silence
        }

    async def _gone(self, beats: Mapping[str, bytes]) -> set[str]:
        """Whose process was on this machine and has ended."""
        others = [worker for worker in beats if worker != self.id]
        if not others:
            return set()
        found = await self._server.ask("HMGET", raw(self._keys.processes), *map(raw, others))
        return {
            worker
            for worker, process in zip(others, found, strict=True)
            if process and is_gone(text_of(process))
        }

    async def _strike_off(self, worker: str, beat: bytes) -> None:
        await self._server.run(self._strike, (self._keys.workers,), raw(worker), beat)
