"""Suspects: items that were in the hands of workers that were lost, several times.

Many are claimed when a worker is lost, and one at most is to blame. So they are tried apart from
each other, fewer at a time with every try, and each try is noted before it begins. Who is lost
again and again, in the end as the only suspect under way, is given up.
"""

from collections.abc import Mapping
from typing import NamedTuple

from penstock.kernel.model import Request
from penstock.queue.ports import Claim, Claims

#: Who was lost with so many workers is a suspect.
SUSPICIOUS = 3
#: How many suspects are tried together, by the number of tries before.
TOGETHER = (64, 8, 1, 1, 1)
MOST_TRIES = len(TOGETHER)


class Trial(NamedTuple):
    """Requests to be begun, and items that turned out to be another's."""

    begun: list[Request]
    lost: list[str]


class Suspects:
    """Those that wait to be tried; one trial at a time."""

    def __init__(self, queue: Claims) -> None:
        self._queue = queue
        self._waiting: dict[str, Request] = {}
        self._on_trial: set[str] = set()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, request: Request) -> None:
        """Have an item tried when it is its turn."""
        self._waiting[request.id] = request

    def drain(self) -> list[Request]:
        """Those that were not begun; none of them waits any longer, and no trial is under way."""
        waiting, self._waiting = self._waiting, {}
        self._on_trial.clear()
        return list(waiting.values())

    async def try_next(self, claims: Mapping[str, Claim]) -> Trial:
        """The next trial, if none is under way; the claims are those still ours."""
        self._on_trial.intersection_update(claims)
        for item in self._waiting.keys() - claims.keys():
            del self._waiting[item]
        if self._on_trial or not self._waiting:
            return Trial([], [])
        waiting = [claims[item] for item in self._waiting]
        least = min(claim.tried for claim in waiting)
        chosen = [claim for claim in waiting if claim.tried == least][: TOGETHER[least]]
        self._on_trial = await self._queue.note_trial(chosen)
        # Those that were forgotten meanwhile are no more there.
        taken = [self._waiting.pop(claim.id) for claim in chosen if claim.id in self._waiting]
        return Trial(
            [request for request in taken if request.id in self._on_trial],
            [request.id for request in taken if request.id not in self._on_trial],
        )
