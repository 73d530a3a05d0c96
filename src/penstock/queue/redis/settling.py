"""Settling: how claims end. Only what is still in the hash of its worker can be ended."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from penstock.kernel.redis.server import Argument, Script, Server, microseconds
from penstock.queue.ports import Bury, Claim, Done, Ending, Release, Retry
from penstock.queue.redis.claiming import by_worker, load
from penstock.queue.redis.keys import Keys, raw


class Scripts(NamedTuple):
    """What claims are ended with."""

    finish: Script
    bury: Script
    wait: Script
    attempt: Script

    @classmethod
    def load(cls) -> "Scripts":
        """Read them."""
        return cls(
            load("known", "finish"),
            load("known", "bury"),
            load("known", "held", "wait"),
            load("held", "try"),
        )


class Settling:
    """Ends claims of all workers of this process."""

    def __init__(self, server: Server, keys: Keys) -> None:
        self._server = server
        self._keys = keys
        self._scripts = Scripts.load()

    async def settle(self, endings: Sequence[tuple[Claim, Ending]]) -> set[str]:
        """End the claims that are still their worker's; ids of those accepted."""
        chosen: dict[str, Ending] = {}
        for claim, ending in endings:
            chosen.setdefault(claim.id, ending)
        claims = {claim.id: claim for claim, _ in endings}
        calls = [
            self._end(worker, some, chosen)
            for kind in (Done, Bury, Retry, Release)
            for worker, some in by_worker(
                claim for claim in claims.values() if isinstance(chosen[claim.id], kind)
            )
        ]
        return {item for accepted in await asyncio.gather(*calls) for item in accepted}

    async def note_trial(self, claims: Sequence[Claim]) -> set[str]:
        """Note that claims are tried, where it outlives their worker; ids of those still ours."""
        ours: set[str] = set()
        for worker, some in by_worker(claims):
            names = (self._keys.claimed(worker), self._keys.lost)
            arguments: list[Argument] = []
            for claim in some:
                arguments += (raw(claim.id), raw(_url(claim)), claim.lost, claim.tried + 1)
            said = await self._server.run(self._scripts.attempt, names, *arguments)
            ours.update(_chosen(some, said))
        return ours

    async def _end(
        self, worker: str, claims: Sequence[Claim], endings: Mapping[str, Ending]
    ) -> set[str]:
        """End claims of one worker, all in the same way."""
        ending = endings[claims[0].id]
        if isinstance(ending, Release):
            # Each goes to the front, so the last of them must be the first to go.
            claims = claims[::-1]
        script, names = self._way(ending, worker)
        arguments = [part for claim in claims for part in _written(claim, endings[claim.id])]
        return set(_chosen(claims, await self._server.run(script, names, raw(worker), *arguments)))

    def _way(self, ending: Ending, worker: str) -> tuple[Script, tuple[str, ...]]:
        """The script for an ending, and the keys that it takes."""
        keys, scripts = self._keys, self._scripts
        claimed = (keys.claimed(worker), keys.workers)
        match ending:
            case Done():
                return scripts.finish, (*claimed, keys.lost)
            case Bury():
                return scripts.bury, (*claimed, keys.lost, keys.dead, keys.reasons)
            case Retry() | Release():
                return scripts.wait, (keys.name, *claimed, keys.parked, keys.lost)


def _written(claim: Claim, ending: Ending) -> tuple[Argument, ...]:
    """An ending as its script takes it."""
    item, url = raw(claim.id), raw(_url(claim))
    match ending:
        case Done():
            return item, url if claim.lost else b""
        case Bury(failure=failure):
            return item, url, _reason(claim, failure)
        case Retry(delay=delay, park=park):
            where = "RPUSH"
        case Release(delay=delay, park=park):
            where = "LPUSH"
    return item, url, raw(claim.group), where, microseconds(delay), int(park), claim.lost


def _reason(claim: Claim, failure: Mapping[str, Any]) -> bytes:
    """Why a URL is dead, in the tagged form that the stream's failures have."""
    kind = failure.get("kind", "")
    reason = {
        "type": "site_wide" if kind == "site_wide" else "url_specific",
        "kind": kind,
        "reason": failure.get("reason", ""),
        "detail": failure.get("detail", ""),
        "status_code": failure.get("status"),
        "domain": claim.group,
    }
    # Half of a character, which no JSON can name, becomes a question mark.
    return json.dumps(reason, default=str, ensure_ascii=False).encode("utf-8", "replace")


def _url(claim: Claim) -> str:
    url: str = claim.payload["url"]
    return url


def _chosen(claims: Sequence[Claim], said: Sequence[int]) -> list[str]:
    return [claim.id for claim, is_ours in zip(claims, said, strict=True) if is_ours]
