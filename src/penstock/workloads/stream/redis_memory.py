"""What seeds and links remember, in Redis beside the queue; everything runs out by itself.

`{queue}:seeds:state:{seed}` hash, `{queue}:seeds:pushed:{url}` when the round began (microseconds),
`{queue}:seeds:holder` who pushes; `{queue}:links:depth:{url}` and `{queue}:links:count:{site}`.
"""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from penstock.workloads.stream.memory import SeedState

#: Of commands on their way at a time.
AT_ONCE = 500
#: A seed that is in no file any more is forgotten after this.
STATE_SECONDS = 400 * 86400
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

_HOLD = """
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
if tonumber(ARGV[2]) < 1 then redis.call('DEL', KEYS[1]) return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
"""
_LEARN = """
local known = tonumber(redis.call('GET', KEYS[1]) or 'inf')
if tonumber(ARGV[1]) <= known then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end
return 1
"""
_TAKE = """
local count = tonumber(redis.call('GET', KEYS[1]) or '0')
local granted = math.max(0, math.min(tonumber(ARGV[1]), tonumber(ARGV[2]) - count))
if granted > 0 then
  redis.call('INCRBY', KEYS[1], granted)
  if count == 0 then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
end
return granted
"""


class Asks(Protocol):
    """A connection to Redis that takes plain commands."""

    def ask(self, *command: str | bytes | int | float) -> Awaitable[Any]:
        """The server's answer."""
        ...


class SeedsInRedis:
    """What seeds remember, by the clock of Redis."""

    def __init__(self, server: Asks, queue: str) -> None:
        self._server = server
        self._base = f"{queue}:seeds"

    async def now(self) -> datetime:
        seconds, microseconds = await self._server.ask("TIME")
        return _EPOCH + timedelta(seconds=int(seconds), microseconds=int(microseconds))

    async def state(self, seed: str) -> SeedState | None:
        key = f"{self._base}:state:{seed}"
        whole_at, next_at, failures = await self._server.ask(
            "HMGET", key, "whole_at", "next_at", "failures"
        )
        if next_at is None:
            return None
        whole = _moment(int(whole_at)) if whole_at else None
        return SeedState(whole, _moment(int(next_at)), int(failures or 0))

    async def keep(self, seed: str, state: SeedState) -> None:
        key = f"{self._base}:state:{seed}"
        whole_at = _number(state.whole_at) if state.whole_at else ""
        next_at = _number(state.next_at)
        said = ("whole_at", whole_at, "next_at", next_at, "failures", state.failures)
        await asyncio.gather(
            self._server.ask("HSET", key, *said), self._server.ask("EXPIRE", key, STATE_SECONDS)
        )

    async def pushed(self, keys: Sequence[str], after: datetime) -> set[str]:
        marks = await _get_all(self._server, f"{self._base}:pushed:", keys)
        return {key for key, begun in marks.items() if begun > _number(after)}

    async def remember(self, keys: Sequence[str], begun: datetime, until: datetime) -> None:
        mark, expiry = _number(begun), _number(until) // 1000
        for some in _parts(keys):
            names = (f"{self._base}:pushed:{key}" for key in some)
            await asyncio.gather(
                *(self._server.ask("SET", name, mark, "PXAT", expiry) for name in names)
            )

    async def hold(self, who: str, seconds: float) -> bool:
        key = f"{self._base}:holder"
        return bool(await self._server.ask("EVAL", _HOLD, 1, key, who, _milliseconds(seconds)))


class LinksInRedis:
    """What links remember."""

    def __init__(self, server: Asks, queue: str) -> None:
        self._server = server
        self._base = f"{queue}:links"

    async def depths(self, keys: Sequence[str]) -> Mapping[str, int]:
        return await _get_all(self._server, f"{self._base}:depth:", keys)

    async def learn(self, keys: Sequence[str], depth: int, seconds: float) -> None:
        lifetime = _milliseconds(seconds)
        for some in _parts(keys):
            names = (f"{self._base}:depth:{key}" for key in some)
            await asyncio.gather(
                *(self._server.ask("EVAL", _LEARN, 1, name, depth, lifetime) for name in names)
            )

    async def take(self, site: str, wanted: int, most: int, seconds: float) -> int:
        key, lifetime = f"{self._base}:count:{site}", _milliseconds(seconds)
        return int(await self._server.ask("EVAL", _TAKE, 1, key, wanted, most, lifetime))


async def _get_all(server: Asks, prefix: str, keys: Sequence[str]) -> dict[str, int]:
    """The numbers that are kept under those of the keys that there are."""
    found: dict[str, int] = {}
    for some in _parts(keys):
        answers = await server.ask("MGET", *(prefix + key for key in some))
        found |= {key: int(value) for key, value in zip(some, answers, strict=True) if value}
    return found


def _parts(keys: Sequence[str]) -> list[Sequence[str]]:
    return [keys[at : at + AT_ONCE] for at in range(0, len(keys), AT_ONCE)]


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)


def _number(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND


def _moment(number: int) -> datetime:
    return _EPOCH + number * _MICROSECOND
