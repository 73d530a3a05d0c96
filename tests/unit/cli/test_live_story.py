"""What somebody sees who follows a page in a terminal."""

import json
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from penstock.cli.live_story import JsonTeller, LineTeller, News, ScreenTeller, Story
from penstock.workloads.live.context import ScraperContext
from penstock.workloads.live.desk import Trouble
from penstock.workloads.live.model import ErrorType, Update
from penstock.workloads.live.scraper import End, EndKind
from penstock.workloads.live.settings import LiveSettings
from tests.clocks import HandClock
from tests.live_rows import update

AT = 1_772_625_600_000
ENDED = End(EndKind.COMPLETED, "the page says that it has ended")
TROUBLE = Trouble("m", "s", "u", AT, ErrorType.NETWORK, "it \x1b[2Jfailed", "look")


class Kept:
    """A teller that keeps what it hears."""

    def __init__(self) -> None:
        self.heard: list[News] = []

    def __enter__(self) -> object:
        return self

    def __exit__(self, *_error: object) -> None:
        return

    def news(self, news: News) -> None:
        self.heard.append(news)

    def trouble(self, trouble: Trouble) -> None:
        raise AssertionError(trouble)

    def end(self, end: End) -> None:
        raise AssertionError(end)


def seen(number: int, **payload: Any) -> Update:
    return update(number, payload=payload, scraped_at=AT + number * 1000)


def told(*updates: Update) -> list[News]:
    teller = Kept()
    story = Story(teller, None, lambda: None)
    for each in updates:
        story.take(each)
    return teller.heard


def test_a_story_says_what_each_update_changed() -> None:
    first, second = told(seen(1, runs=0, team="A"), seen(2, runs=4, team="A"))

    assert first.is_first
    assert [str(each) for each in first.changes] == ["runs 0", "team A"]
    assert [str(each) for each in second.changes] == ["runs 0 → 4"]
    assert second.line == "12:00:02Z  #2    runs 0 → 4"


def test_a_story_is_enough_after_so_many_updates() -> None:
    stops: list[int] = []
    story = Story(Kept(), 2, lambda: stops.append(1))
    story.take(seen(1, runs=0))
    assert not stops
    story.take(seen(2, runs=1))
    assert stops == [1]


def test_programs_get_an_object_for_each_thing(capsys: pytest.CaptureFixture[str]) -> None:
    teller = JsonTeller()
    for news in told(seen(1, runs=0), seen(2, runs=4)):
        teller.news(news)
    teller.trouble(TROUBLE)
    teller.end(ENDED)

    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["event"] for line in lines] == ["update", "update", "error", "end"]
    assert (lines[1]["payload"], lines[1]["changed"]) == ({"runs": 4}, ["runs"])
    assert lines[1]["scraped_at"] == "2026-03-04T12:00:02.000Z"
    assert lines[2]["error_type"] == "network"
    assert (lines[3]["kind"], lines[3]["reason"]) == ("completed", ENDED.reason)


def test_people_who_read_a_pipe_get_a_line_for_each_thing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    teller = LineTeller()
    for news in told(seen(1, runs=0), seen(2, runs=4)):
        teller.news(news)
    teller.trouble(TROUBLE)
    teller.end(ENDED)

    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "12:00:01Z  #1    runs 0  (in_play)",
        "12:00:02Z  #2    runs 0 → 4  (in_play)",
        f"completed: {ENDED.reason}",
    ]
    assert err == "12:00:00Z  network error: it \\x1b[2Jfailed\n"


class Screen:
    """A screen, and the scraper that it shows."""

    def __init__(self) -> None:
        self.clock = HandClock()
        self.context = ScraperContext.begin("s", "m", "u", LiveSettings(), self.clock)
        self.scraper = SimpleNamespace(context=self.context, waits_for="")
        follower: Any = SimpleNamespace(
            feed=SimpleNamespace(url="http://score.example/7"), scraper=self.scraper
        )
        self.teller = ScreenTeller(follower, Console(file=StringIO()))

    def shows(self) -> list[str]:
        out = StringIO()
        Console(file=out, width=100).print(self.teller.render())
        return [" ".join(line.split()) for line in out.getvalue().splitlines()]


def test_a_screen_says_that_nothing_was_seen_yet_and_what_is_waited_for() -> None:
    screen = Screen()
    screen.scraper.waits_for = "the hours of the domain"

    assert screen.shows() == [
        "http://score.example/7",
        "not seen yet every 2.5 s 0 looks, 0 errors waits: the hours of the domain",
    ]


def test_a_screen_shows_fields_what_changed_of_them_and_how_old_it_is() -> None:
    screen = Screen()
    for news in told(seen(1, runs=0, team="A"), seen(2, runs=4, team="A")):
        screen.context.looked(0.1)
        screen.teller.news(news)
    screen.clock.move(3)

    assert screen.shows() == [
        "http://score.example/7",
        "in play #2 seen 3 s ago every 2.5 s 2 looks, 0 errors",
        "runs 4 was 0",
        "team A",
        "12:00:02Z #2 runs 0 → 4",
    ]


def test_a_screen_shows_an_error_until_something_new_is_seen_and_the_end() -> None:
    screen = Screen()
    first, second = told(seen(1, runs=0), seen(2, runs=4))
    screen.teller.news(first)
    screen.teller.trouble(TROUBLE)
    assert screen.shows()[-1] == "network error: it \\x1b[2Jfailed"
    screen.teller.news(second)
    screen.teller.end(ENDED)
    assert screen.shows()[-2:] == ["12:00:02Z #2 runs 0 → 4", f"completed: {ENDED.reason}"]


def test_a_screen_keeps_the_last_updates_only() -> None:
    screen = Screen()
    for news in told(*(seen(number, runs=number) for number in range(1, 30))):
        screen.teller.news(news)

    assert [line.split()[1] for line in screen.shows()[3:]] == [f"#{n}" for n in range(22, 30)]
