"""A look at a submission: what is counted for long is not waited for."""

import asyncio
from typing import cast

from penstock.console.catalog_submissions import PATIENCE, Looks
from penstock.core.errors import StoreLost
from penstock.workloads.catalog.submissions import Progress, Submissions
from tests.clocks import HandClock

ID = "a" * 32


class SlowSubmissions:
    """Counts when it is told to."""

    def __init__(self) -> None:
        self.asked = 0
        self.counted = asyncio.Queue[int | StoreLost]()

    async def progress(self, submission_id: str) -> Progress:
        self.asked += 1
        number = await self.counted.get()
        if isinstance(number, StoreLost):
            raise number
        return Progress({"id": submission_id}, {"completed": number, "failed": 0, "pending": 1})


class Onlooker:
    """Looks at one submission."""

    def __init__(self) -> None:
        self.submissions = SlowSubmissions()
        self.clock = HandClock()
        self._looks = Looks(cast(Submissions, self.submissions), self.clock)

    async def look(self) -> int | None:
        progress = await self._looks.at(ID)
        await self._settle()
        return progress.done if progress else None

    async def count(self, number: int) -> None:
        """Let what is under way come to its end."""
        self.submissions.counted.put_nowait(number)
        await self._settle()

    async def _settle(self) -> None:
        for _ in range(5):
            await asyncio.sleep(0)


async def test_what_is_counted_soon_is_waited_for() -> None:
    onlooker = Onlooker()
    onlooker.submissions.counted.put_nowait(7)

    assert await onlooker.look() == 7


async def test_first_look_at_a_large_one_knows_nothing_yet() -> None:
    onlooker = Onlooker()

    assert await onlooker.look() is None
    assert await onlooker.look() is None
    assert onlooker.submissions.asked == 1
    await onlooker.count(7)
    assert await onlooker.look() == 7


async def test_what_was_known_is_shown_while_it_is_counted_anew_and_that_is_done_rarely() -> None:
    onlooker = Onlooker()
    assert await onlooker.look() is None
    onlooker.clock.move(3.0 - PATIENCE)
    await onlooker.count(7)
    assert await onlooker.look() == 7

    assert await onlooker.look() == 7
    assert onlooker.submissions.asked == 1
    onlooker.clock.move(60.0)
    assert await onlooker.look() == 7
    assert onlooker.submissions.asked == 2
    await onlooker.count(8)
    assert await onlooker.look() == 8


async def test_what_cannot_be_counted_is_tried_again() -> None:
    onlooker = Onlooker()
    onlooker.submissions.counted.put_nowait(StoreLost("away"))
    assert await onlooker.look() is None

    onlooker.submissions.counted.put_nowait(7)
    assert await onlooker.look() == 7
