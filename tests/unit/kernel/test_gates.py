"""The gates: asked in their order, each time anew, and nothing is spent where one says no."""

from pathlib import Path

import pytest

from penstock.kernel.model import Pass, Refused, Visit, Wait
from penstock.kernel.policy import AllowedHours
from penstock.kernel.ports import RobotsAnswer
from tests.unit.kernel.steps import Steps, visit_to

ORIGIN = "https://shop.test"
CLOSED = {"hours": AllowedHours(start=1, end=2)}
OPEN = {"hours": AllowedHours(start=11, end=13)}


@pytest.fixture
def steps(tmp_path: Path) -> Steps:
    return Steps(tmp_path)


async def learn(steps: Steps, text: str = "", status: str = "rules") -> None:
    await steps.answers.learn(ORIGIN, RobotsAnswer(status, text))


async def break_circuit(steps: Steps) -> None:
    leave = await steps.breaker.enter("shop.test")
    assert isinstance(leave, Pass)
    await steps.breaker.report(leave, well=False)


def said(visit: Visit) -> list[tuple[str, str]]:
    return [(gate, answer) for gate, answer, _ in visit.trace]


async def test_gates_are_asked_in_their_order(steps: Steps) -> None:
    await learn(steps)
    visit = visit_to(policy=OPEN)

    assert isinstance(await steps.gates.ask(visit), Pass)
    assert said(visit) == [
        ("robots", "allowed"),
        ("hours", "open"),
        ("breaker", "closed"),
        ("pacing", "turn"),
    ]


async def test_pause_comes_before_everything(steps: Steps) -> None:
    steps.switches.set(["shop.test"])
    visit = visit_to(policy=CLOSED)

    wait = await steps.gates.ask(visit)

    assert isinstance(wait, Wait)
    assert (wait.gate, wait.until, visit.errand) == ("pause", 1000.5, None)


async def test_unknown_robots_txt_is_got_first_and_by_one_visit(steps: Steps) -> None:
    first, second = visit_to(), visit_to()

    leave, wait = await steps.gates.ask(first), await steps.gates.ask(second)

    assert isinstance(leave, Pass)
    assert isinstance(wait, Wait)
    assert (first.next_url.href, wait.gate) == (f"{ORIGIN}/robots.txt", "robots")


async def test_robots_are_not_asked_where_a_policy_says_so(steps: Steps) -> None:
    visit = visit_to(policy={"respect_robots": False})

    assert isinstance(await steps.gates.ask(visit), Pass)
    assert visit.errand is None


async def test_denied_page_costs_no_turn(steps: Steps) -> None:
    await learn(steps, "User-agent: Penstock\nDisallow: /lamp")
    visit = visit_to()

    refused = await steps.gates.ask(visit)

    assert isinstance(refused, Refused)
    assert (refused.reason, refused.gate, visit.ticket) == ("robots_denied", "robots", None)


async def test_closed_domain_waits_for_its_opening_and_takes_no_turn(steps: Steps) -> None:
    await learn(steps)
    visit = visit_to(policy=CLOSED)

    wait = await steps.gates.ask(visit)

    assert isinstance(wait, Wait)
    assert (wait.gate, wait.until, visit.ticket) == ("hours", 1000.0 + 13 * 3600, None)


async def test_domain_that_is_down_is_waited_for_and_takes_no_turn(steps: Steps) -> None:
    await learn(steps)
    await break_circuit(steps)
    visit = visit_to()

    wait = await steps.gates.ask(visit)

    assert isinstance(wait, Wait)
    assert (wait.gate, wait.until, visit.ticket) == ("breaker", 1120.0, None)


async def test_circuit_that_opens_during_the_wait_for_a_turn_is_noticed(steps: Steps) -> None:
    await learn(steps, "User-agent: *\nCrawl-delay: 5")
    await steps.gates.ask(visit_to())
    visit = visit_to()
    assert isinstance(await steps.gates.ask(visit), Wait)
    await break_circuit(steps)
    steps.clock.move(5)

    wait = await steps.gates.ask(visit)

    assert isinstance(wait, Wait)
    assert wait.gate == "breaker"


async def test_turns_are_as_far_apart_as_robots_txt_asks(steps: Steps) -> None:
    await learn(steps, "User-agent: *\nCrawl-delay: 5")
    first, second = visit_to(), visit_to()

    leave, wait = await steps.gates.ask(first), await steps.gates.ask(second)

    assert isinstance(leave, Pass)
    assert isinstance(wait, Wait)
    assert (wait.gate, wait.until) == ("pacing", 1005.0)


async def test_busy_browsers_are_asked_before_a_turn_is_taken(steps: Steps) -> None:
    await learn(steps)
    steps.browser.busy = 3.0
    visit = visit_to(fetcher="browser")

    wait = await steps.gates.ask(visit)

    assert isinstance(wait, Wait)
    assert (wait.gate, visit.ticket) == ("browser", None)
