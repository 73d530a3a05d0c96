"""What every pacing back end promises."""

import asyncio
from collections import deque
from itertools import pairwise

import pytest

from penstock.kernel.model import Ticket
from penstock.kernel.pacing import NO_SHOW, PACE_MEMORY, MemoryPacing
from penstock.kernel.policy import Pace, Rate
from penstock.kernel.ports import Pacing
from tests.clocks import HandClock
from tests.contract.conftest import BackEnd

ANY_NUMBER = Rate(1_000_000, 1.0)
LEDGER = "shop.test"
#: The real server's clock runs on while a test moves the other one by hand.
A_MOMENT = 0.2


def apart(seconds: float, concurrency: int = 100) -> Pace:
    return Pace((ANY_NUMBER,), seconds, concurrency)


def at_most(limit: int, window: float) -> Pace:
    return Pace((Rate(limit, window),), 0.0, 100)


def one_at_a_time() -> Pace:
    return Pace((ANY_NUMBER,), 0.0, 1)


def wait_of(ticket: Ticket, clock: HandClock) -> float:
    assert not ticket.granted
    return ticket.at - clock.monotonic()


def about(seconds: float) -> object:
    return pytest.approx(seconds, abs=A_MOMENT)


@pytest.fixture
async def pacing(back_end: BackEnd) -> Pacing:
    return await back_end.pacing()


async def test_first_turn_is_now(pacing: Pacing, clock: HandClock) -> None:
    ticket = await pacing.reserve(LEDGER, apart(2))

    assert ticket.granted
    assert ticket.slot
    assert ticket.at == clock.monotonic()


async def test_next_turn_is_a_delay_later_and_then_it_is_granted(
    pacing: Pacing, clock: HandClock
) -> None:
    await pacing.reserve(LEDGER, apart(2))

    ticket = await pacing.reserve(LEDGER, apart(2))

    assert wait_of(ticket, clock) == about(2)
    clock.move(2)
    assert (await pacing.reserve(LEDGER, apart(2), ticket)).granted


async def test_window_takes_no_more_than_its_limit(pacing: Pacing, clock: HandClock) -> None:
    pace = at_most(3, 10)
    for _ in range(3):
        assert (await pacing.reserve(LEDGER, pace)).granted
        clock.move(1)

    ticket = await pacing.reserve(LEDGER, pace)

    assert wait_of(ticket, clock) == about(7)


async def test_those_who_wait_are_planned_one_after_another(
    pacing: Pacing, clock: HandClock
) -> None:
    await pacing.reserve(LEDGER, apart(2))

    waits = [wait_of(await pacing.reserve(LEDGER, apart(2)), clock) for _ in range(3)]

    assert waits == [about(2), about(4), about(6)]


async def test_late_starter_does_not_crowd_the_next_one(pacing: Pacing, clock: HandClock) -> None:
    await pacing.reserve(LEDGER, apart(2))
    late = await pacing.reserve(LEDGER, apart(2))
    on_time = await pacing.reserve(LEDGER, apart(2))
    clock.move(3.5)
    assert (await pacing.reserve(LEDGER, apart(2), late)).granted
    clock.move(0.5)

    on_time = await pacing.reserve(LEDGER, apart(2), on_time)

    assert wait_of(on_time, clock) == about(1.5)


async def test_turn_that_was_not_taken_does_not_hide_a_later_start(
    pacing: Pacing, clock: HandClock
) -> None:
    await pacing.reserve(LEDGER, apart(2))
    await pacing.reserve(LEDGER, apart(2))
    clock.move(5)
    assert (await pacing.reserve(LEDGER, apart(2))).granted
    clock.move(0.5)

    newcomer = await pacing.reserve(LEDGER, apart(2))

    assert wait_of(newcomer, clock) == about(1.5)


async def test_who_comes_early_keeps_the_place(pacing: Pacing, clock: HandClock) -> None:
    await pacing.reserve(LEDGER, apart(2))
    first = await pacing.reserve(LEDGER, apart(2))
    await pacing.reserve(LEDGER, apart(2))
    clock.move(1)

    first = await pacing.reserve(LEDGER, apart(2), first)

    assert wait_of(first, clock) == about(1)


async def test_place_given_back_is_free_for_the_next(pacing: Pacing, clock: HandClock) -> None:
    await pacing.reserve(LEDGER, apart(2))
    await pacing.release(await pacing.reserve(LEDGER, apart(2)))

    ticket = await pacing.reserve(LEDGER, apart(2))

    assert wait_of(ticket, clock) == about(2)


async def test_place_is_kept_for_a_while_and_then_forgotten(
    pacing: Pacing, clock: HandClock
) -> None:
    await pacing.reserve(LEDGER, apart(50))
    await pacing.reserve(LEDGER, apart(50))
    clock.move(55)

    behind_it = await pacing.reserve(LEDGER, apart(50))
    await pacing.release(behind_it)
    clock.move(NO_SHOW)
    without_it = await pacing.reserve(LEDGER, apart(50))

    assert not behind_it.granted
    assert without_it.granted


async def test_strictest_pace_of_the_last_minute_wins(pacing: Pacing, clock: HandClock) -> None:
    await pacing.reserve(LEDGER, apart(5))

    while_remembered = await pacing.reserve(LEDGER, apart(1))
    clock.move(PACE_MEMORY + 1)
    await pacing.reserve(LEDGER, apart(1))
    forgotten = await pacing.reserve(LEDGER, apart(1))

    assert wait_of(while_remembered, clock) == about(5 - PACE_MEMORY - 1)
    assert wait_of(forgotten, clock) == about(1)


async def test_new_pace_counts_what_started_before_it_was_known(
    pacing: Pacing, clock: HandClock
) -> None:
    for _ in range(10):
        assert (await pacing.reserve(LEDGER, apart(1))).granted
        clock.move(1)

    ticket = await pacing.reserve(LEDGER, at_most(4, 10))

    assert wait_of(ticket, clock) == about(6)


async def test_no_more_than_concurrency_run_at_once(pacing: Pacing, clock: HandClock) -> None:
    pace = Pace((ANY_NUMBER,), 0.0, 2)
    first = await pacing.reserve(LEDGER, pace)
    await pacing.reserve(LEDGER, pace)

    third = await pacing.reserve(LEDGER, pace)

    assert wait_of(third, clock) > 0
    assert not third.slot
    await pacing.release(first)
    assert (await pacing.reserve(LEDGER, pace, third)).granted


async def test_granted_ticket_asks_for_one_more_turn_in_its_slot(
    pacing: Pacing, clock: HandClock
) -> None:
    pace = apart(2, concurrency=1)
    ticket = await pacing.reserve(LEDGER, pace)

    ticket = await pacing.reserve(LEDGER, pace, ticket)

    assert wait_of(ticket, clock) == about(2)
    assert ticket.slot
    clock.move(2)
    assert not (await pacing.reserve(LEDGER, pace)).granted
    assert (await pacing.reserve(LEDGER, pace, ticket)).granted


async def test_slot_that_is_not_given_back_is_free_when_its_lease_runs_out(
    back_end: BackEnd, clock: HandClock
) -> None:
    pacing = await back_end.pacing(lease_seconds=30)
    await pacing.reserve(LEDGER, one_at_a_time())
    clock.move(29)
    still_taken = await pacing.reserve(LEDGER, one_at_a_time())
    clock.move(1)

    assert not still_taken.granted
    assert (await pacing.reserve(LEDGER, one_at_a_time(), still_taken)).granted


async def test_every_turn_renews_the_lease(back_end: BackEnd, clock: HandClock) -> None:
    pacing = await back_end.pacing(lease_seconds=30)
    ticket = await pacing.reserve(LEDGER, one_at_a_time())
    clock.move(20)
    await pacing.reserve(LEDGER, one_at_a_time(), ticket)
    clock.move(20)

    assert not (await pacing.reserve(LEDGER, one_at_a_time())).granted


async def test_late_release_does_not_free_the_slot_of_another(
    back_end: BackEnd, clock: HandClock
) -> None:
    pacing = await back_end.pacing(lease_seconds=30)
    lost = await pacing.reserve(LEDGER, one_at_a_time())
    clock.move(31)
    await pacing.reserve(LEDGER, one_at_a_time())

    await pacing.release(lost)

    assert not (await pacing.reserve(LEDGER, one_at_a_time())).granted


async def test_slowed_down_domain_has_half_the_rate_and_then_the_old_one(
    pacing: Pacing, clock: HandClock
) -> None:
    pace = at_most(2, 10)
    for _ in range(2):
        await pacing.reserve(LEDGER, pace)

    await pacing.slow_down(LEDGER, 300)

    assert wait_of(await pacing.reserve(LEDGER, pace), clock) == about(20)
    clock.move(300)
    for _ in range(2):
        assert (await pacing.reserve(LEDGER, pace)).granted
    assert wait_of(await pacing.reserve(LEDGER, pace), clock) == about(10)


async def test_slowed_down_domain_has_twice_the_delay(pacing: Pacing, clock: HandClock) -> None:
    await pacing.slow_down(LEDGER, 300)
    await pacing.reserve(LEDGER, apart(2))

    ticket = await pacing.reserve(LEDGER, apart(2))

    assert wait_of(ticket, clock) == about(4)


async def test_slowed_down_domains_are_known_until_that_is_over(
    pacing: Pacing, clock: HandClock
) -> None:
    await pacing.slow_down(LEDGER, 10)
    await pacing.slow_down(LEDGER, 300)
    await pacing.hold("held.test", 300)

    assert [tuple(each) for each in await pacing.slowed()] == [(LEDGER, about(300))]

    clock.move(301)
    assert await pacing.slowed() == []


async def test_held_domain_has_no_turn_until_the_longest_hold_is_over(
    pacing: Pacing, clock: HandClock
) -> None:
    await pacing.hold(LEDGER, 60)
    await pacing.hold(LEDGER, 5)

    ticket = await pacing.reserve(LEDGER, apart(0))

    assert wait_of(ticket, clock) == about(60)
    clock.move(60)
    assert (await pacing.reserve(LEDGER, apart(0), ticket)).granted


async def test_one_ledger_does_not_slow_another(pacing: Pacing) -> None:
    await pacing.reserve(LEDGER, apart(10))
    await pacing.hold("held.test", 10)

    assert (await pacing.reserve("other.test", apart(10))).granted


async def test_clock_that_goes_back_opens_no_gate_and_freezes_none(
    pacing: Pacing, clock: HandClock
) -> None:
    await pacing.reserve(LEDGER, at_most(1, 10))
    await pacing.reserve(LEDGER, at_most(1, 10))
    clock.move(-500)

    ticket = await pacing.reserve(LEDGER, at_most(1, 10))

    assert wait_of(ticket, clock) == about(10)
    clock.move(10)
    assert (await pacing.reserve(LEDGER, at_most(1, 10), ticket)).granted


async def test_two_processes_asking_at_once_share_one_limit(back_end: BackEnd) -> None:
    processes = [await back_end.pacing(), await back_end.pacing()]
    pace = at_most(7, 10)

    tickets = await asyncio.gather(*(processes[n % 2].reserve(LEDGER, pace) for n in range(200)))

    assert sum(ticket.granted for ticket in tickets) == 7
    assert len({ticket.id for ticket in tickets}) == 200


async def test_two_processes_share_one_ledger_exactly(back_end: BackEnd, clock: HandClock) -> None:
    processes = [await back_end.pacing(), await back_end.pacing()]
    pace = Pace((Rate(4, 10.0),), 1.0, 2)
    waiting: deque[Ticket | None] = deque([None] * 6)
    running: deque[tuple[Pacing, Ticket]] = deque()
    starts: list[float] = []

    for turn in range(240):
        process, ticket = processes[turn % 2], waiting.popleft()
        ticket = await process.reserve(LEDGER, pace, ticket)
        if ticket.granted:
            starts.append(clock.monotonic())
            running.append((process, ticket))
            assert len(running) <= 2
            ticket = None
        waiting.append(ticket)
        if turn % 3 == 0 and running:
            holder, done = running.popleft()
            await holder.release(done)
        clock.move(0.25)

    assert len(starts) > 15
    assert min(b - a for a, b in pairwise(starts)) >= 1
    assert min(b - a for a, b in zip(starts, starts[4:], strict=False)) >= 10


async def test_domains_seen_once_do_not_pile_up_in_memory(clock: HandClock) -> None:
    pacing = MemoryPacing(clock)
    most = 0
    for n in range(50_000):
        ticket = await pacing.reserve(f"once{n}.test", apart(2))
        await pacing.release(ticket)
        clock.move(0.01)
        most = max(most, len(pacing))

    assert most < 2_000


async def test_look_tells_the_next_turn_and_takes_nothing(pacing: Pacing, clock: HandClock) -> None:
    assert await pacing.look(LEDGER, apart(2)) == about(0)
    assert (await pacing.reserve(LEDGER, apart(2))).granted

    assert await pacing.look(LEDGER, apart(2)) == about(2)
    assert await pacing.look(LEDGER, apart(2)) == about(2)
    assert wait_of(await pacing.reserve(LEDGER, apart(2)), clock) == about(2)
    assert await pacing.look(LEDGER, apart(2)) == about(4)


async def test_look_minds_a_hold_and_a_full_house(pacing: Pacing, clock: HandClock) -> None:
    ticket = await pacing.reserve(LEDGER, one_at_a_time())

    assert 0 < await pacing.look(LEDGER, one_at_a_time()) <= 1
    await pacing.release(ticket)
    assert await pacing.look(LEDGER, one_at_a_time()) == about(0)
    await pacing.hold(LEDGER, 30)
    assert await pacing.look(LEDGER, one_at_a_time()) == about(30)


async def test_pace_of_who_only_looked_binds_nobody(pacing: Pacing, clock: HandClock) -> None:
    assert (await pacing.reserve(LEDGER, apart(1))).granted

    await pacing.look(LEDGER, apart(20))

    assert wait_of(await pacing.reserve(LEDGER, apart(1)), clock) == about(1)
