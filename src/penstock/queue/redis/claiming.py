"""Claiming: the head of the list and the lines of groups give what is wanted of them.

Whose turn it is depends on the group of a URL, which Redis does not know. So the head is moved to
the worker first, and what is not wanted is moved on to the line of its group.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from penstock.kernel.redis.server import Argument, Script, Server, compose, microseconds
from penstock.queue.ports import DEFAULT_PRIORITY, Claim, Share
from penstock.queue.redis.keys import Keys, raw, text_of

#: No script looks at more: Redis does nothing else meanwhile.
AT_ONCE = 1000
#: Rounds while something was found but not enough, and while all that was found is not wanted.
FEW_ROUNDS, MOST_ROUNDS = 3, 50


def load(*names: str, **constants: float) -> Script:
    """A script of this package."""
    return compose(__package__, names, constants)


class Scripts(NamedTuple):
    """What a claim is made with."""

    take: Script
    sort: Script
    unpark: Script

    @classmethod
    def load(cls) -> "Scripts":
        """Read them."""
        return cls(load("known", "held", "take"), load("sort"), load("known", "held", "unpark"))


class Found(NamedTuple):
    """A URL that is the worker's, and what is known of its losses."""

    id: str
    url: str
    lost: int
    tried: int


class Taken(NamedTuple):
    """Groups that are due, with the lengths of their lines, and what was at the head."""

    due: Mapping[str, int]
    head: Sequence[Found]


class Wish(NamedTuple):
    """How many URLs of a group are wanted, and for how many seconds it rests if it gives them."""

    number: int
    rest: float


class Turn:
    """One claim of one worker; `ids` are all that may be the worker's by now."""

    def __init__(
        self,
        server: Server,
        keys: Keys,
        scripts: Scripts,
        worker: str,
        share: Share,
        *,
        group_of: Callable[[str], str],
        new_id: Callable[[], str],
    ) -> None:
        self._server = server
        self._keys = keys
        self._scripts = scripts
        self._worker = worker
        self._share = share
        self._group_of = group_of
        self._new_id = new_id
        self._taken: Counter[str] = Counter()
        self._found: list[tuple[str, Found]] = []
        self.ids: list[str] = []

    def claims(self, lane: str) -> list[Claim]:
        """What was found."""
        return [_claim(lane, group, found) for group, found in self._found]

    async def recover(self, ids: Sequence[str], limit: int) -> None:
        """Go on with URLs that became ours in a claim whose end was not heard of."""
        self.ids += ids
        claimed = raw(self._keys.claimed(self._worker))
        for first in range(0, len(ids), AT_ONCE):
            some = ids[first : first + AT_ONCE]
            values = await self._server.ask("HMGET", claimed, *some)
            found = [_held(one, value) for one, value in zip(some, values, strict=True) if value]
            await self._sort(found, limit - len(self._found), Counter())

    async def run(self, limit: int) -> None:
        """Take what is wanted, at most so much."""
        for number in range(MOST_ROUNDS):
            room = min(limit - len(self._found), AT_ONCE)
            if room <= 0 or (self._found and number >= FEW_ROUNDS):
                return
            # What is not wanted now is in the way of the others: away with it, many at a time.
            taken = await self._take(room, least=AT_ONCE if number else 0)
            before = len(self._found)
            await self._choose(taken, room)
            if not taken.head and len(self._found) == before:
                return

    async def _take(self, room: int, *, least: int) -> Taken:
        ids = self._new_ids(max(room, least))
        keys = self._keys
        names = (keys.name, keys.claimed(self._worker), keys.workers, keys.parked, keys.lost)
        reply = await self._server.run(
            self._scripts.take, names, raw(self._worker), room, least, *ids
        )
        groups, lengths, urls, losses = reply or ((), (), (), ())
        due = dict(zip(map(text_of, groups), lengths, strict=True))
        known = losses or [b""] * len(urls)
        return Taken(due, [_found(*each) for each in zip(ids, urls, known, strict=False)])

    async def _choose(self, taken: Taken, room: int) -> None:
        """Of the lines what is wanted, and of the head what there is room for then."""
        wishes = self._wishes(taken.due, room - min(len(taken.head), room - room // 2))
        planned = Counter(
            {group: min(wish.number, taken.due[group]) for group, wish in wishes.items()}
        )
        # Together, in this order: what a line gave is known when the head is sorted.
        await asyncio.gather(
            self._unpark(wishes, planned.total()),
            self._sort(taken.head, room - planned.total(), planned),
        )

    def _wishes(self, due: Mapping[str, int], room: int) -> dict[str, Wish]:
        """What each line is to give, evenly; one that is cut short does not rest."""
        wishes = {}
        for place, (group, length) in enumerate(due.items()):
            most, rest = self._most_of(group, 0)
            number = min(most, -(-room // (len(due) - place)))
            wishes[group] = Wish(number, rest if number == most else 0.0)
            room -= min(number, length)
        return wishes

    def _most_of(self, group: str, planned: int) -> tuple[int, float]:
        most, rest = self._share(group)
        return max(0, most - self._taken[group] - planned), rest

    async def _unpark(self, wishes: Mapping[str, Wish], number: int) -> None:
        if not wishes:
            return
        keys, groups = self._keys, list(wishes)
        asked: list[Argument] = []
        for group, wish in wishes.items():
            asked += (raw(group), wish.number, microseconds(wish.rest))
        names = (keys.claimed(self._worker), keys.workers, keys.parked, keys.lost)
        rows = await self._server.run(
            self._scripts.unpark,
            names,
            raw(self._worker),
            len(groups),
            *asked,
            *self._new_ids(number),
        )
        for item, url, loss, place in rows:
            self._keep(groups[place], _found(item.decode(), url, loss))

    async def _sort(self, found: Sequence[Found], room: int, planned: Counter[str]) -> None:
        """Keep what is wanted of the head; the rest waits in the lines of its groups."""
        if not found:
            return
        arguments: list[Argument] = []
        by_group = self._by_group(found)
        for group, some in by_group.items():
            most, rest = self._most_of(group, planned[group])
            number = min(most, max(0, room))
            room -= min(number, len(some))
            seconds = rest if number == most else 0.0
            arguments += (raw(group), number, microseconds(seconds), len(some))
            arguments += [each.id for each in some]
        names = (self._keys.claimed(self._worker), self._keys.parked)
        reply = await self._server.run(self._scripts.sort, names, *arguments)
        kept = {item.decode() for item in reply}
        for group, some in by_group.items():
            for each in some:
                if each.id in kept:
                    self._keep(group, each)

    def _by_group(self, found: Iterable[Found]) -> dict[str, list[Found]]:
        groups: dict[str, list[Found]] = {}
        for each in found:
            groups.setdefault(self._group_of(each.url), []).append(each)
        return groups

    def _keep(self, group: str, found: Found) -> None:
        self._taken[group] += 1
        self._found.append((group, found))

    def _new_ids(self, number: int) -> list[str]:
        """Ids that sort in their order and name their worker: no other has them, ever."""
        first = f"{self._worker}:{self._new_id()}"
        ids = [f"{first}{place:05}" for place in range(number)]
        self.ids += ids
        return ids


def worker_of(claim: Claim) -> str:
    """Whose claim it is."""
    return claim.id.rpartition(":")[0]


def by_worker(claims: Iterable[Claim]) -> Iterator[tuple[str, list[Claim]]]:
    """Claims of each worker, no more at a time than a script takes."""
    owners: dict[str, list[Claim]] = {}
    for claim in claims:
        owners.setdefault(worker_of(claim), []).append(claim)
    for worker, some in owners.items():
        for first in range(0, len(some), AT_ONCE):
            yield worker, some[first : first + AT_ONCE]


def _found(item: str, url: bytes, loss: bytes | None) -> Found:
    known: Mapping[str, Any] = json.loads(loss) if loss else {}
    return Found(item, text_of(url), known.get("lost", 0), known.get("tried", 0))


def _held(item: str, value: bytes) -> Found:
    held = json.loads(text_of(value))
    return Found(item, held["url"], held["lost"], held["tried"])


def _claim(lane: str, group: str, found: Found) -> Claim:
    return Claim(
        id=found.id,
        lane=lane,
        payload={"url": found.url},
        group=group,
        priority=DEFAULT_PRIORITY,
        quota="",
        traceparent="",
        lost=found.lost,
        tried=found.tried,
        token=0,  # an id is given once, so it is its own token
        attempts=found.lost + 1,
    )
