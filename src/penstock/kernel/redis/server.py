"""The one connection to Redis: scripts go out in batches, answers or `SharedStateLost` come back.

Whatever is asked while a batch is under way travels in the next one, so that a hundred
concurrent callers cost a few round trips. A connection that breaks is never mended unnoticed:
whoever asked hears of it, because the server behind the next one may have forgotten everything.
"""

import asyncio
import contextlib
import hashlib
import json
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from redis.asyncio.connection import AbstractConnection, ConnectionPool
from redis.exceptions import NoScriptError, RedisError, ResponseError

from penstock.core.errors import SettingsError, SharedStateLost
from penstock.kernel.settings import SharedSettings

#: A server that has not answered a batch after so many seconds is as good as away.
ANSWER_SECONDS = 2.0
MAX_BATCH = 512
CLOSED = "the connection to Redis is closed"

Argument = str | bytes | int | float


@dataclass(frozen=True, slots=True)
class Script:
    """A Lua script and the name under which the server keeps it."""

    source: str
    sha: str


def load_script(*names: str, **constants: str | float) -> Script:
    """Put a script together: its constants, the clock, then the files it consists of."""
    folder = resources.files(__package__)
    head = [f"local {name} = {json.dumps(value)}" for name, value in constants.items()]
    files = [folder.joinpath(f"{name}.lua").read_text("utf-8") for name in ("clock", *names)]
    source = "\n".join([*head, *files])
    return Script(source, hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest())


def microseconds(seconds: float) -> int:
    """The scripts' unit of time: whole numbers, so that nothing is lost on the way."""
    return round(seconds * 1_000_000)


@dataclass(frozen=True, slots=True)
class _Call:
    """A script to run, and who waits for its answer."""

    script: Script
    arguments: tuple[Argument, ...]
    answer: asyncio.Future[Any]

    @property
    def command(self) -> tuple[Argument, ...]:
        return ("EVALSHA", self.script.sha, *self.arguments)


class Server:
    """A Redis server that runs scripts; `clock_shift` moves its clock, for tests."""

    def __init__(
        self, connection: AbstractConnection, prefix: str, clock_shift: Callable[[], float]
    ) -> None:
        #: What tells us apart from all others on the server.
        self.process = secrets.token_hex(8)
        self._connection = connection
        self._prefix = prefix
        self._clock_shift = clock_shift
        self._waiting: list[_Call] = []
        self._asked = asyncio.Event()
        self._closed = False

    async def run(self, script: Script, keys: Sequence[str], *arguments: Argument) -> Any:
        """The script's answer; a `SharedStateLost` says why there is none."""
        if self._closed:
            raise SharedStateLost(CLOSED)
        names = ((self._prefix + key).encode() for key in keys)
        shift = microseconds(self._clock_shift())
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Call(script, (len(keys), *names, shift, *arguments), answer))
        self._asked.set()
        return await answer

    async def keep_flushing(self) -> None:
        """Carry calls to the server and answers back, batch by batch."""
        try:
            while True:
                await self._asked.wait()
                await self._flush()
                if not self._waiting:
                    self._asked.clear()
        finally:
            self._closed = True
            _give_up(self._waiting, CLOSED)
            await self._connection.disconnect(nowait=True)

    async def _flush(self) -> None:
        calls, self._waiting = self._waiting[:MAX_BATCH], self._waiting[MAX_BATCH:]
        problem = CLOSED
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._carry(calls)
        except (RedisError, OSError, TimeoutError) as error:
            reason = str(error) or "timed out"
            problem = f"Redis (PENSTOCK_SHARED__URL) does not answer: {reason}"
            await self._connection.disconnect(nowait=True)
            calls += self._waiting
            self._waiting = []
        finally:
            _give_up(calls, problem)

    async def _carry(self, calls: Sequence[_Call]) -> None:
        replies = await self._exchange([call.command for call in calls])
        unknown = []
        for call, reply in zip(calls, replies, strict=True):
            if isinstance(reply, NoScriptError):
                unknown.append(call)
            else:
                _answer(call, reply)
        if unknown:
            await self._carry_with_scripts(unknown)

    async def _carry_with_scripts(self, calls: Sequence[_Call]) -> None:
        """A server that has restarted does not know the scripts any more: bring them along."""
        sources = {call.script.source for call in calls}
        loads: list[tuple[Argument, ...]] = [("SCRIPT", "LOAD", source) for source in sources]
        replies = await self._exchange([*loads, *(call.command for call in calls)])
        for call, reply in zip(calls, replies[len(loads) :], strict=True):
            _answer(call, reply)

    async def _exchange(self, commands: Sequence[tuple[Argument, ...]]) -> list[Any]:
        packed = self._connection.pack_commands(commands)
        await self._connection.send_packed_command(packed)
        return [await self._read_reply() for _ in commands]

    async def _read_reply(self) -> Any:
        try:
            return await self._connection.read_response()
        except ResponseError as error:
            return error


def _answer(call: _Call, reply: Any) -> None:
    if call.answer.done():
        return
    if isinstance(reply, ResponseError):
        call.answer.set_exception(SharedStateLost(f"Redis refuses: {reply}"))
    else:
        call.answer.set_result(reply)


def _give_up(calls: Sequence[_Call], problem: str) -> None:
    for call in calls:
        if not call.answer.done():
            call.answer.set_exception(SharedStateLost(problem))


@contextlib.asynccontextmanager
async def connect(
    settings: SharedSettings, *, clock_shift: Callable[[], float] = lambda: 0.0
) -> AsyncIterator[Server]:
    """The server the settings name; one that is away from the start is most likely misnamed."""
    server = Server(_connection(settings.url.get_secret_value()), settings.prefix, clock_shift)
    flusher = asyncio.create_task(server.keep_flushing(), name="redis batches")
    try:
        await server.run(load_script(), ())
        yield server
    finally:
        flusher.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await flusher


def _connection(url: str) -> AbstractConnection:
    try:
        pool = ConnectionPool.from_url(
            url, protocol=2, client_name="penstock", socket_keepalive=True, socket_timeout=None
        )
        connection: AbstractConnection = pool.connection_class(**pool.connection_kwargs)
    except (ValueError, TypeError) as error:
        raise SettingsError(f"PENSTOCK_SHARED__URL: {error}") from error
    return connection
