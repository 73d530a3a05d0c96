"""What origins said about robots, in Redis: one answer and one asker for all processes."""

from typing import Any

from penstock.kernel.ports import RobotsAnswer
from penstock.kernel.redis.presence import ALIVE, load_watchful
from penstock.kernel.redis.server import Server, load_script, microseconds


class RedisRobotsCache:
    """Answers under `robots:{origin}`, and under `robots:{origin}:claim` that somebody asks."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._get = load_script("robots_get")
        self._put = load_script("robots_put")
        self._claim = load_watchful("robots_claim")
        self._unclaim = load_script("robots_unclaim")

    async def get(self, origin: str) -> tuple[RobotsAnswer, float] | None:
        reply: list[Any] | None = await self._server.run(self._get, (_key(origin),))
        if reply is None:
            return None
        rest, status, text, tries, detail = reply
        answer = RobotsAnswer(status.decode(), text.decode(), int(tries), detail.decode())
        return answer, int(rest) / 1e6

    async def put(self, origin: str, answer: RobotsAnswer, seconds: float) -> None:
        await self._server.run(
            self._put,
            (_key(origin),),
            microseconds(seconds),
            answer.status,
            _bytes(answer.text),
            answer.tries,
            _bytes(answer.detail),
        )

    async def claim(self, origin: str, seconds: float) -> bool:
        keys = (_claim_key(origin), ALIVE)
        lifetime = microseconds(seconds)
        return bool(await self._server.run(self._claim, keys, lifetime, self._server.process))

    async def unclaim(self, origin: str) -> None:
        await self._server.run(self._unclaim, (_claim_key(origin),))


def _key(origin: str) -> str:
    return f"robots:{origin}"


def _claim_key(origin: str) -> str:
    return f"{_key(origin)}:claim"


def _bytes(text: str) -> bytes:
    """A lone surrogate, which no server stores, becomes a question mark."""
    return text.encode("utf-8", "replace")
