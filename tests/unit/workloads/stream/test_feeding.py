"""Feeding the queue: it is kept short, and what it never takes holds nothing up."""

from collections.abc import Sequence

import pytest

from penstock.workloads.stream.desk import QUEUE_FULL, DeadLetters, Pushed, Refusal, Standing
from penstock.workloads.stream.feeding import DeskPusher, feed
from tests.clocks import HandClock

URLS = [f"https://shop.test/{number}" for number in range(6)]


class ShortDesk:
    """A desk with a standing, room for so many more, and URLs that it never takes."""

    def __init__(self, standing: Standing, room: int = 100, never: Sequence[str] = ()) -> None:
        self.taken: list[str] = []
        self._standing = standing
        self._room = room
        self._never = never

    async def push(self, urls: Sequence[str]) -> Pushed:
        rejected = []
        for place, url in enumerate(urls):
            if url in self._never:
                rejected.append(Refusal(place, url, "admission_denied", "it is on a list"))
            elif len(self.taken) == self._room:
                rejected.append(Refusal(place, url, QUEUE_FULL, "the queue is full"))
            else:
                self.taken.append(url)
        return Pushed(len(urls) - len(rejected), rejected)

    async def depth(self, most: int | None = None) -> Standing:
        del most
        return self._standing._replace(waiting=self._standing.waiting + len(self.taken))

    async def dead(
        self, after: str | None = None, limit: int = 100, *, domain: str = "", reason: str = ""
    ) -> DeadLetters:
        return DeadLetters([], None)

    async def revive(
        self, urls: Sequence[str] | None = None, *, domain: str = "", reason: str = ""
    ) -> int:
        return 0

    async def discard(
        self, urls: Sequence[str] | None = None, *, domain: str = "", reason: str = ""
    ) -> int:
        return 0


EMPTY = Standing(0, 0, 0, 0)


@pytest.mark.parametrize(
    ("standing", "taken"),
    [(EMPTY, 5), (Standing(1, 2, 50, 50), 2), (Standing(5, 0, 0, 0), 0), (Standing(9, 9, 0, 0), 0)],
)
async def test_no_more_than_the_most_wait(standing: Standing, taken: int) -> None:
    desk = ShortDesk(standing)

    assert await DeskPusher(desk, 5).push(URLS) == taken
    assert desk.taken == URLS[:taken]


async def test_what_the_desk_has_no_room_for_is_told() -> None:
    desk = ShortDesk(EMPTY, room=2, never=URLS[:1])

    assert await DeskPusher(desk, 100).push(URLS) == 3
    assert desk.taken == URLS[1:3]


async def test_what_the_desk_never_takes_holds_nothing_up() -> None:
    desk = ShortDesk(EMPTY, never=[URLS[0], URLS[5]])

    goes = [taken async for taken in feed(URLS, DeskPusher(desk, 100), HandClock())]

    assert goes == [6]
    assert desk.taken == URLS[1:5]
