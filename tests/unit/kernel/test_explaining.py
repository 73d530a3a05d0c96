"""Explaining: every gate says its piece, in order, and nothing is spent or contacted."""

from pathlib import Path

import pytest

from penstock.kernel.explaining import Answer, verdict_of
from penstock.kernel.model import Page, Pass, Request
from penstock.kernel.policy import AllowedHours, ProxyChoice
from penstock.kernel.ports import RobotsAnswer
from tests.unit.kernel.steps import Steps, visit_to

ORIGIN = "https://shop.test"
URL = f"{ORIGIN}/page"
ORDER = ["admission", "pause", "robots", "hours", "breaker", "way out", "pacing"]


@pytest.fixture
def steps(tmp_path: Path) -> Steps:
    return Steps(tmp_path)


async def learn(steps: Steps, text: str = "", status: str = "rules") -> None:
    await steps.answers.learn(ORIGIN, RobotsAnswer(status, text, detail="no answer"))


def answer_of(answers: list[Answer], gate: str) -> Answer:
    return next(answer for answer in answers if answer.gate == gate)


async def test_every_gate_answers_in_order_and_nobody_is_contacted(steps: Steps) -> None:
    await learn(steps, "User-agent: *\nDisallow: /cart")

    answers = await steps.pipeline().explain(Request(URL))

    assert [answer.gate for answer in answers] == ORDER
    assert {answer.verdict for answer in answers} == {"yes"}
    assert verdict_of(answers).gate == "pacing"
    assert not steps.http.hops


async def test_who_may_not_be_contacted_is_asked_no_further(steps: Steps) -> None:
    for url in ("https://denied.test/", "https://127.0.0.1/", "file:///etc/passwd", "no url"):
        answers = await steps.pipeline().explain(Request(url), patience=1)

        assert [(answer.gate, answer.verdict) for answer in answers] == [("admission", "no")]
        assert answers[0].says
    assert not steps.http.hops


async def test_robots_names_the_deciding_line(steps: Steps) -> None:
    await learn(steps, "User-agent: *\nDisallow: /page")

    answers = await steps.pipeline().explain(Request(URL))

    assert answer_of(answers, "robots").verdict == "no"
    assert "line 2: Disallow: /page" in answer_of(answers, "robots").says
    assert verdict_of(answers).gate == "robots"


async def test_unreachable_robots_says_no(steps: Steps) -> None:
    await learn(steps, status="unreachable")

    answers = await steps.pipeline().explain(Request(URL))

    assert answer_of(answers, "robots").verdict == "no"


async def test_unknown_robots_is_said_and_fetched_only_with_patience(steps: Steps) -> None:
    answers = await steps.pipeline().explain(Request(URL))
    assert verdict_of(answers) == answer_of(answers, "robots")
    assert answer_of(answers, "robots").verdict == "unknown"
    assert not steps.http.hops

    steps.http.answer = Page(f"{ORIGIN}/robots.txt", 200, {}, b"User-agent: *\nAllow: /", 0.1)
    answers = await steps.pipeline().explain(Request(URL), patience=5)

    assert answer_of(answers, "robots").verdict == "yes"
    assert [hop.url.href for hop in steps.http.hops] == [f"{ORIGIN}/robots.txt"]


async def test_waits_say_how_long(steps: Steps) -> None:
    await learn(steps)
    leave = await steps.breaker.enter("shop.test")
    assert isinstance(leave, Pass)
    await steps.breaker.report(leave, well=False)
    steps.switches.set(["shop.test"])

    answers = await steps.gates.explain(visit_to(policy={"hours": AllowedHours(start=1, end=2)}))

    waits = {answer.gate: answer.seconds for answer in answers if answer.verdict == "wait"}
    assert waits.keys() == {"pause", "hours", "breaker"}
    assert waits["hours"] == 13 * 3600
    assert waits["breaker"] > 0
    assert verdict_of(answers).gate == "hours"


@pytest.mark.parametrize(
    ("proxies", "region", "verdict", "says"),
    [
        ((), None, "no", "no proxy is configured (PENSTOCK_PROXIES__ENDPOINTS)"),
        (("http://a:1#de",), "us", "no", "no healthy proxy in region us"),
        (("http://a:1#de",), "de", "yes", "by http, through a proxy"),
    ],
)
async def test_a_policy_that_wants_a_proxy_that_there_is_not_says_no(
    tmp_path: Path, proxies: tuple[str, ...], region: str | None, verdict: str, says: str
) -> None:
    steps = Steps(tmp_path, proxies=proxies)

    answers = await steps.gates.explain(visit_to(policy={"proxy": ProxyChoice(region=region)}))

    assert answer_of(answers, "way out").verdict == verdict
    assert says in answer_of(answers, "way out").says


async def test_asking_takes_no_turn(steps: Steps) -> None:
    await learn(steps)
    pipeline = steps.pipeline()
    for _ in range(2):
        assert await steps.turns.take(visit_to(), visit_to().policy.pace) is None

    first = answer_of(await pipeline.explain(Request(URL)), "pacing")

    assert first.verdict == "wait"
    assert answer_of(await pipeline.explain(Request(URL)), "pacing") == first
