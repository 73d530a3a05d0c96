"""The two ways to look at a feed, on scripted pages and a scripted path."""

import asyncio
from dataclasses import dataclass, field

import pytest

from penstock.kernel.model import Blocked, Broken, Failure, Outcome, Page, Request, Wait
from penstock.workloads.live.visiting import Visitor
from penstock.workloads.live.ways import RENEW_SECONDS, ByPage, ByRequest
from tests.clocks import HandClock
from tests.live import REFUSED_CONNECTION, URL, page

CAPTCHA = Page(
    URL,
    200,
    {"Content-Type": "text/html"},
    b"<title>Attention Required! | Cloudflare</title><div id='cf-challenge-running'></div>",
    0.1,
)


@dataclass
class ScriptedVisitor(Visitor):
    """Answers one outcome after the other."""

    answers: list[Page | Failure | Wait]
    requests: list[Request] = field(default_factory=list)

    async def visit(self, request: Request) -> Outcome | Wait:
        self.requests.append(request)
        seen = self.answers.pop(0)
        if isinstance(seen, Wait):
            return seen
        if isinstance(seen, Failure):
            return Outcome(request, None, seen, ())
        is_known = seen.status == 304
        return Outcome(request, seen, None, (), unchanged=is_known)


@dataclass
class OpenPages:
    """Pages that stay open; what they show is scripted."""

    shows: list[Page | Failure]
    names: tuple[str, ...] = ()
    closed: int = 0
    patience: list[float] = field(default_factory=list)

    async def read(self, name: str, seconds: float) -> Page | Failure:
        del name
        self.patience.append(seconds)
        return self.shows.pop(0)

    async def shoot(self, name: str, seconds: float) -> bytes | None:
        del name, seconds
        return b"png"

    async def close(self, name: str) -> None:
        self.closed += 1
        self.names = tuple(each for each in self.names if each != name)

    def is_retired(self, name: str) -> bool:
        return name in self.names

    def usage(self, name: str) -> None:
        del name


class OpenHouse:
    """A domain that is open, until somebody shuts or pauses it."""

    def __init__(self) -> None:
        self.is_open = True
        self.paused = asyncio.Event()

    def may_stay(self) -> bool:
        return self.is_open

    async def until_paused(self) -> None:
        await self.paused.wait()


def by_page(
    visitor: ScriptedVisitor,
    pages: OpenPages,
    clock: HandClock | None = None,
    leave: OpenHouse | None = None,
) -> ByPage:
    return ByPage(
        "m1",
        URL,
        ".score",
        visitor=visitor,
        pages=pages,
        leave=leave or OpenHouse(),
        clock=clock or HandClock(),
        read_seconds=5.0,
    )


async def test_a_page_that_is_not_open_is_opened_through_the_gates() -> None:
    visitor, pages = ScriptedVisitor([page(score=1)]), OpenPages([])

    look = await by_page(visitor, pages).look(20)

    assert isinstance(look.seen, Page)
    (request,) = visitor.requests
    assert (request.fetcher, request.keep, request.wait_for, request.timeout) == (
        "kept",
        "m1",
        ".score",
        20,
    )


async def test_an_open_page_is_read_without_contact() -> None:
    visitor, pages = ScriptedVisitor([]), OpenPages([page(score=2)], names=("m1",))

    look = await by_page(visitor, pages).look(20)

    assert isinstance(look.seen, Page)
    assert visitor.requests == []


async def test_an_open_page_is_opened_anew_after_a_while() -> None:
    visitor, clock = ScriptedVisitor([page(score=3), page(score=5)]), HandClock()
    pages = OpenPages([page(score=2), page(score=4)], names=("m1",))
    way = by_page(visitor, pages, clock)
    asked = []
    for seconds in (RENEW_SECONDS - 1, 1, RENEW_SECONDS - 1, 1):
        clock.move(seconds)
        await way.look(20)
        asked.append(len(visitor.requests))

    assert asked == [0, 1, 1, 2]


async def test_while_its_turn_is_not_yet_an_open_page_is_read_on() -> None:
    visitor, clock = ScriptedVisitor([Wait(99, "pacing", "others are first")]), HandClock()
    pages = OpenPages([page(score=2)], names=("m1",))
    way = by_page(visitor, pages, clock)
    clock.move(RENEW_SECONDS)
    look = await way.look(20)

    assert isinstance(look.seen, Page)
    assert pages.names == ("m1",)


@pytest.mark.parametrize("gate", ["hours", "pause"])
async def test_a_page_whose_site_is_closed_to_us_does_not_stay_open(gate: str) -> None:
    visitor, clock = ScriptedVisitor([Wait(99, gate, "closed")]), HandClock()
    pages = OpenPages([page(score=2)], names=("m1",))
    way = by_page(visitor, pages, clock)
    clock.move(RENEW_SECONDS)
    look = await way.look(20)

    assert isinstance(look.seen, Wait)
    assert pages.names == ()


async def test_a_page_that_wants_to_be_another_is_opened_anew_at_once() -> None:
    visitor = ScriptedVisitor([page(score=3)])
    pages = OpenPages([Broken("page_moved", "it wants to be loaded again")], names=("m1",))

    look = await by_page(visitor, pages).look(20)

    assert isinstance(look.seen, Page)
    assert len(visitor.requests) == 1


@pytest.mark.parametrize("reason", ["page_lost", "page_hung"])
async def test_a_page_that_is_lost_is_closed_and_opened_by_the_next_look(reason: str) -> None:
    visitor = ScriptedVisitor([page(score=3)])
    pages = OpenPages([Broken(reason, "gone")], names=("m1",))
    way = by_page(visitor, pages)

    first, second = await way.look(20), await way.look(20)

    assert isinstance(first.seen, Broken)
    assert isinstance(second.seen, Page)
    assert pages.closed == 1


async def test_a_captcha_in_place_of_an_open_page_is_a_failure() -> None:
    pages = OpenPages([CAPTCHA], names=("m1",))

    look = await by_page(ScriptedVisitor([]), pages).look(20)

    assert isinstance(look.seen, Blocked)
    assert pages.names == ()


async def test_a_page_that_was_blocked_when_it_was_opened_is_not_read_again() -> None:
    visitor = ScriptedVisitor([Blocked("captcha", "a captcha")])
    pages = OpenPages([], names=("m1",))

    await by_page(visitor, pages).look_anew(20)

    assert pages.names == ()


async def test_what_is_asked_for_each_time_is_asked_with_its_validators() -> None:
    known = Page(URL, 200, {"ETag": '"7"', "Last-Modified": "today"}, b"{}", 0.1)
    unchanged = Page(URL, 304, {}, b"", 0.1)
    visitor = ScriptedVisitor([known, unchanged, known])
    way = ByRequest(URL, visitor)

    looks = [await way.look(20), await way.look(20), await way.look_anew(20)]

    assert [each.seen for each in looks] == [known, known, known]
    assert [each.etag for each in visitor.requests] == ["", '"7"', ""]
    assert [each.fetcher for each in visitor.requests] == ["http"] * 3


async def test_failures_and_shut_gates_are_handed_on() -> None:
    shut = Wait(5.0, "hours", "closed")
    way = ByRequest(URL, ScriptedVisitor([REFUSED_CONNECTION, shut]))

    assert (await way.look(20)).seen == REFUSED_CONNECTION
    assert (await way.look(20)).seen == shut


async def test_a_page_whose_domain_is_shut_does_not_stay_open() -> None:
    shut = Wait(99.0, "hours", "closed")
    visitor, pages, house = ScriptedVisitor([shut]), OpenPages([], names=("m1",)), OpenHouse()
    house.is_open = False

    look = await by_page(visitor, pages, leave=house).look(20)

    assert (look.seen, pages.names) == (shut, ())


async def test_a_page_is_closed_at_once_when_its_domain_is_paused() -> None:
    visitor, pages, house = ScriptedVisitor([page(score=1)]), OpenPages([]), OpenHouse()
    way = by_page(visitor, pages, leave=house)
    await way.look_anew(20)
    pages.names = ("m1",)

    house.paused.set()
    for _ in range(5):
        await asyncio.sleep(0)

    assert "m1" not in pages.names
    await way.close()


async def test_an_open_page_that_does_not_answer_is_given_up_soon() -> None:
    pages = OpenPages([page(score=1)], names=("m1",))

    await by_page(ScriptedVisitor([]), pages).look(30)

    assert pages.patience == [5.0]
