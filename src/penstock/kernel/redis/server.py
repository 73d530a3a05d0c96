"""A connection to Redis: scripts and commands go out in batches, answers come back, or why not.

Whatever is asked while a batch is under way travels in the next one, so that a hundred
concurrent callers cost a few round trips. A connection that breaks is never mended unnoticed:
whoever asked hears of it, because the server behind the next one may have forgotten everything.
"""

import asyncio
import contextlib
import hashlib
import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module, resources
from typing import Any, NamedTuple

from redis._parsers.hiredis import NOT_ENOUGH_DATA, _AsyncHiredisParser
from redis.asyncio.connection import AbstractConnection, ConnectionPool
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import NoScriptError, RedisError, ResponseError

from penstock.core.errors import PenstockError, SettingsError, SharedStateLost
from penstock.kernel.settings import SharedSettings

#: A server that has not answered a batch after so many seconds is as good as away.
ANSWER_SECONDS = 2.0
MAX_BATCH = 512
#: A batch of large bodies is as large as this, or one body.
MAX_BYTES = 8_000_000
CLOSED = "the connection to Redis is closed"

Argument = str | bytes | int | float


def _quick_packer() -> Callable[[tuple[Argument, ...]], bytes] | None:
    """What packs a command in C, if it is installed."""
    try:
        hiredis: Any = import_module("hiredis")
    except ModuleNotFoundError:
        return None
    packer: Callable[[tuple[Argument, ...]], bytes] = hiredis.pack_command
    return packer


_pack_command = _quick_packer()


@dataclass(frozen=True, slots=True)
class Script:
    """A Lua script and the name under which the server keeps it."""

    source: str
    sha: str


def load_script(*names: str, **constants: str | float) -> Script:
    """A script of this package."""
    return compose(__package__, names, constants)


def compose(package: str, names: Sequence[str], constants: Mapping[str, str | float]) -> Script:
    """Put a script together: its constants, the clock, then the files of a package."""
    head = [f"local {name} = {json.dumps(value)}" for name, value in constants.items()]
    files = [_read(__package__, "clock"), *(_read(package, name) for name in names)]
    source = "\n".join([*head, *files])
    return Script(source, hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest())


def _read(package: str, name: str) -> str:
    return resources.files(package).joinpath(f"{name}.lua").read_text("utf-8")


def microseconds(seconds: float) -> int:
    """The scripts' unit of time: whole numbers, so that nothing is lost on the way."""
    return round(seconds * 1_000_000)


class _Call(NamedTuple):
    """A command, the script that it runs if it runs one, and who waits for the answer."""

    command: tuple[Argument, ...]
    script: Script | None
    answer: asyncio.Future[Any]

    @property
    def size(self) -> int:
        # What scripts are told is short; only plain commands carry bodies.
        if self.script:
            return 0
        return sum(len(part) for part in self.command if isinstance(part, str | bytes))


@dataclass(frozen=True, slots=True)
class Usage:
    """What a connection is for: the setting that names its server, and what its loss means.

    Where large bodies travel, a batch gets more than the usual seconds to be answered.
    """

    setting: str = "PENSTOCK_SHARED__URL"
    lost: type[PenstockError] = SharedStateLost
    answer_seconds: float | None = None


SHARED_STATE = Usage()


class Server:
    """A Redis server that runs scripts; `clock_shift` moves its clock, for tests."""

    def __init__(
        self,
        connection: AbstractConnection,
        prefix: str,
        clock_shift: Callable[[], float],
        usage: Usage = SHARED_STATE,
    ) -> None:
        #: What tells us apart from all others on the server.
        self.process = secrets.token_hex(8)
        self._connection = connection
        self._prefix = prefix
        self._clock_shift = clock_shift
        self._usage = usage
        self._waiting: list[_Call] = []
        self._asked = asyncio.Event()
        self._closed = False

    def run(self, script: Script, keys: Sequence[str], *arguments: Argument) -> Awaitable[Any]:
        """The script's answer; a `SharedStateLost`, or what the usage has, says why there is none.

        Keys get the prefix; half of a character in one is the byte that it was made of.
        """
        names = _names(self._prefix, tuple(keys))
        shift = microseconds(self._clock_shift())
        command = ("EVALSHA", script.sha, len(names), *names, shift, *arguments)
        return self._call(command, script)

    def ask(self, *command: Argument) -> Awaitable[Any]:
        """The answer to a plain command, as it is: without prefix."""
        return self._call(command, None)

    def _call(self, command: tuple[Argument, ...], script: Script | None) -> Awaitable[Any]:
        if self._closed:
            raise self._usage.lost(CLOSED)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Call(command, script, answer))
        self._asked.set()
        return answer

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
            self._give_up(self._waiting, CLOSED)
            await self._connection.disconnect(nowait=True)

    async def _flush(self) -> None:
        calls = self._next_batch()
        problem = CLOSED
        try:
            async with asyncio.timeout(self._usage.answer_seconds or ANSWER_SECONDS):
                await self._carry(calls)
        except (RedisError, OSError, TimeoutError) as error:
            reason = str(error) or "timed out"
            problem = f"Redis ({self._usage.setting}) does not answer: {reason}"
            await self._connection.disconnect(nowait=True)
            calls += self._waiting
            self._waiting = []
        finally:
            self._give_up(calls, problem)

    def _next_batch(self) -> list[_Call]:
        """What waits, as much as travels at once; at least one call."""
        number, size = 0, 0
        for call in self._waiting[:MAX_BATCH]:
            size += call.size
            if number and size > MAX_BYTES:
                break
            number += 1
        calls, self._waiting = self._waiting[:number], self._waiting[number:]
        return calls

    async def _carry(self, calls: Sequence[_Call]) -> None:
        replies = await self._exchange([call.command for call in calls])
        unknown = []
        for call, reply in zip(calls, replies, strict=True):
            if isinstance(reply, NoScriptError):
                unknown.append(call)
            else:
                self._answer(call, reply)
        if unknown:
            await self._carry_with_scripts(unknown)

    async def _carry_with_scripts(self, calls: Sequence[_Call]) -> None:
        """A server that has restarted does not know the scripts any more: bring them along."""
        sources = {call.script.source for call in calls if call.script}
        loads: list[tuple[Argument, ...]] = [("SCRIPT", "LOAD", source) for source in sources]
        replies = await self._exchange([*loads, *(call.command for call in calls)])
        for call, reply in zip(calls, replies[len(loads) :], strict=True):
            self._answer(call, reply)

    async def _exchange(self, commands: Sequence[tuple[Argument, ...]]) -> list[Any]:
        await self._connection.send_packed_command(_pack(self._connection, commands))
        parser = self._connection._parser
        if isinstance(parser, _AsyncHiredisParser):
            return await _read_replies(parser, len(commands))
        return [await self._read_reply() for _ in commands]

    async def _read_reply(self) -> Any:
        try:
            return await self._connection.read_response()
        except ResponseError as error:
            return error

    def _answer(self, call: _Call, reply: Any) -> None:
        if call.answer.done():
            return
        if isinstance(reply, ResponseError):
            call.answer.set_exception(self._usage.lost(f"Redis refuses: {reply}"))
        else:
            call.answer.set_result(reply)

    def _give_up(self, calls: Sequence[_Call], problem: str) -> None:
        for call in calls:
            if not call.answer.done():
                call.answer.set_exception(self._usage.lost(problem))


async def _read_replies(parser: Any, number: int) -> list[Any]:
    """The next answers, refusals among them; to ask for each by itself takes thrice the time."""
    replies: list[Any] = []
    while len(replies) < number:
        reply = parser._reader.gets()
        if reply is NOT_ENOUGH_DATA:
            await parser.read_from_socket()
        elif isinstance(reply, Disconnected):
            raise reply
        else:
            replies.append(reply)
    return replies


@lru_cache(maxsize=4096)
def _names(prefix: str, keys: tuple[str, ...]) -> tuple[bytes, ...]:
    """Keys as the server has them; mostly those of a domain that was asked for just before."""
    return tuple((prefix + key).encode("utf-8", "surrogateescape") for key in keys)


def _pack(
    connection: AbstractConnection, commands: Sequence[tuple[Argument, ...]]
) -> Sequence[bytes]:
    """Commands as they travel; with hiredis, a seventh of the time."""
    if _pack_command is None:
        packed: Sequence[bytes] = connection.pack_commands(commands)
        return packed
    return [_pack_command(command) for command in commands]


@contextlib.asynccontextmanager
async def connect(
    settings: SharedSettings, *, clock_shift: Callable[[], float] = lambda: 0.0
) -> AsyncIterator[Server]:
    """The server that the settings name for shared state."""
    url = settings.url.get_secret_value()
    async with open_server(url, SHARED_STATE, settings.prefix, clock_shift=clock_shift) as server:
        yield server


@contextlib.asynccontextmanager
async def open_server(
    url: str, usage: Usage, prefix: str = "", *, clock_shift: Callable[[], float] = lambda: 0.0
) -> AsyncIterator[Server]:
    """A connection of its own; a server that is away from the start is most likely misnamed."""
    server = Server(_connection(url, usage), prefix, clock_shift, usage)
    flusher = asyncio.create_task(server.keep_flushing(), name="redis batches")
    try:
        await server.run(load_script(), ())
        yield server
    finally:
        flusher.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await flusher


def _connection(url: str, usage: Usage) -> AbstractConnection:
    try:
        pool = ConnectionPool.from_url(
            url, protocol=2, client_name="penstock", socket_keepalive=True, socket_timeout=None
        )
        connection: AbstractConnection = pool.connection_class(**pool.connection_kwargs)
    except (ValueError, TypeError) as error:
        raise SettingsError(f"{usage.setting}: {error}") from error
    return connection
