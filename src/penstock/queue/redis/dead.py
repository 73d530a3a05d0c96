"""Dead letters: plain URLs in a list, with reasons in a hash beside it."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from penstock.kernel.redis.server import Script, Server
from penstock.queue.redis.claiming import AT_ONCE, load
from penstock.queue.redis.keys import Keys, raw, text_of


class DeadLetter(NamedTuple):
    """A URL that failed for good and why; `place` is where it stands in the list."""

    place: int
    url: str
    reason: Mapping[str, Any]

    @property
    def at(self) -> datetime | None:
        """When it was buried; `None` if somebody else put it there."""
        at = self.reason.get("at")
        return None if at is None else datetime.fromtimestamp(at, UTC)


class DeadLetters:
    """Shows dead letters, and lets them go; some at a time, however many there are.

    A domain or a reason chooses those of whom it is known; none chooses all.
    """

    def __init__(self, server: Server, keys: Keys) -> None:
        self._server = server
        self._keys = keys
        self._revive = load("pick", REVIVES=1)
        self._forget = load("pick", REVIVES=0)

    async def show(
        self, after: int = 0, limit: int = 100, *, domain: str = "", reason: str = ""
    ) -> list[DeadLetter]:
        """The oldest first, from a place on; go on behind the place of the last one."""
        shown: list[DeadLetter] = []
        while len(shown) < limit and (some := await self._look(after)):
            shown += [letter for letter in some if _is_chosen(letter, domain, reason)]
            after += len(some)
        return shown[:limit]

    async def revive(
        self, urls: Sequence[str] | None = None, *, domain: str = "", reason: str = ""
    ) -> int:
        """Let dead letters wait in the queue again, as if they were new; how many."""
        return await self._pick(self._revive, urls, domain, reason)

    async def forget(
        self, urls: Sequence[str] | None = None, *, domain: str = "", reason: str = ""
    ) -> int:
        """Throw dead letters away; how many."""
        return await self._pick(self._forget, urls, domain, reason)

    async def _look(self, first: int) -> list[DeadLetter]:
        dead, reasons = raw(self._keys.dead), raw(self._keys.reasons)
        urls = await self._server.ask("LRANGE", dead, first, first + AT_ONCE - 1)
        if not urls:
            return []
        known = await self._server.ask("HMGET", reasons, *urls)
        return [
            DeadLetter(first + place, text_of(url), json.loads(reason) if reason else {})
            for place, (url, reason) in enumerate(zip(urls, known, strict=True))
        ]

    async def _pick(
        self, script: Script, urls: Sequence[str] | None, domain: str, reason: str
    ) -> int:
        if urls is None:
            return await self._go_round(script, (), domain, reason)
        return sum(
            [
                await self._go_round(script, urls[first : first + AT_ONCE], domain, reason)
                for first in range(0, len(urls), AT_ONCE)
            ]
        )

    async def _go_round(self, script: Script, urls: Sequence[str], domain: str, reason: str) -> int:
        keys, chosen = self._keys, 0
        names = (keys.name, keys.dead, keys.reasons, keys.lost)
        rest = await self._server.ask("LLEN", raw(keys.dead))
        while rest > 0:
            most = min(rest, AT_ONCE)
            chosen += await self._server.run(
                script, names, most, raw(domain), raw(reason), *map(raw, urls)
            )
            rest -= most
        return chosen


def _is_chosen(letter: DeadLetter, domain: str, reason: str) -> bool:
    known = letter.reason
    return domain in ("", known.get("domain")) and reason in ("", known.get("reason"))
