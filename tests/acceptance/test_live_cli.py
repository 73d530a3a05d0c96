"""`penstock live`, as people use it: feeds from their start to their end."""

import asyncio
import json
import signal
from pathlib import Path

import pytest

from tests.live_processes import PAGE, LiveProcess, quick, running
from tests.shell import Ran, Shell, eventually
from tests.site.live_match import ends_at, match_at

__all__ = ["quick", "running"]

#: A match of half a minute that takes three seconds.
SHORT = f"{PAGE}?minutes=0.5&speed=10"
QUICK = ("--interval", "0.2")


async def live(shell: Shell, *arguments: str, **settings: str) -> Ran:
    return await shell.run("live", *arguments, **settings)


async def well(shell: Shell, *arguments: str) -> Ran:
    """A command that must go well."""
    ran = await live(shell, *arguments)
    assert ran.code == 0, f"{arguments}: {ran.err or ran.out}"
    return ran


async def test_a_feed_is_watched_from_its_start_to_its_end(
    shell: Shell, running: LiveProcess
) -> None:
    started = await well(shell, "start", SHORT, "--id", "short", *QUICK, "--json")
    assert (started.objects[0]["match_id"], started.err) == ("short", "")
    followed = (await well(shell, "updates", "short", "--after", "0", "-f", "--json")).objects

    assert [each["sequence"] for each in followed] == list(range(1, len(followed) + 1))
    assert followed[-1]["payload"] == match_at(7, ends_at(7, 0.5), 0.5).as_json()
    shown = (await well(shell, "show", "short", "--json")).objects[0]
    assert (shown["status"], shown["state"]) == ("completed", "ended")
    assert shown["payload"] == followed[-1]["payload"]
    assert "short" in (await well(shell, "list")).out
    assert (await well(shell, "list", "--status", "watching", "--json")).objects == []
    assert "won by" in (await well(shell, "updates", "short")).out


async def test_a_live_process_serves_live_pages_and_nothing_else(
    shell: Shell, running: LiveProcess
) -> None:
    await well(shell, "start", PAGE, "--id", "page", *QUICK)

    async def is_seen() -> bool:
        return (await running.http.get("/api/v1/live/page")).status_code == 200

    async def is_fresh() -> bool:
        return "healthy: 1 of 1" in (await live(shell, "health")).out

    await eventually(is_seen)
    await eventually(is_fresh)
    health = (await running.http.get("/health")).json()
    assert (health["status"], health["active_scraper_count"]) == ("healthy", 1)
    [asked] = (await well(shell, "show", "page", "--url", running.address, "--json")).objects
    assert asked["scraper"]["health_status"] == "healthy"
    assert asked["circuit_breaker"]["state"] == "CLOSED"
    assert "updates_per_minute" in (await well(shell, "health", "--url", running.address)).out
    unknown = await live(shell, "show", "nobody", "--url", running.address)
    assert (unknown.code, "There is no feed" in unknown.err) == (1, True)
    assert (await running.http.get("/api/v1/scrape")).status_code == 404
    assert 'scraper_feeds{status="watching"}' in (await running.http.get("/metrics")).text
    assert await running.end() == 0
    [feed] = (await well(shell, "list", "--json")).objects
    assert (feed["status"], feed["scraper_status"]) == ("waiting", "stopped")
    unwell = await live(shell, "health", "--json")
    assert (unwell.code, unwell.objects[0]["status"]) == (1, "down")


async def test_a_live_process_stops_at_once_when_told_twice(
    shell: Shell, running: LiveProcess
) -> None:
    shell.site.ground.set_trouble("live02.test", "slow")
    url = "http://live02.test/match/7/plain?seconds=60"
    await well(shell, "start", url, "--id", "slow", *QUICK)
    await eventually(lambda: shell.site.hits_of("live02.test", "/match/7/plain?seconds=60"))
    running.process.send_signal(signal.SIGINT)
    async with asyncio.timeout(20):
        while b"Ctrl-C again" not in await running.process.stderr.readline():
            pass
    running.process.send_signal(signal.SIGINT)
    async with asyncio.timeout(8):
        await running.process.communicate()


async def test_a_worker_of_live_pages_takes_nothing_from_the_queue(shell: Shell) -> None:
    worker = await shell.start("worker", "--lanes", "live")
    await eventually((shell.folder / "store" / "penstock.db").exists)
    await well(shell, "start", SHORT, "--id", "short", *QUICK)
    await well(shell, "updates", "short", "-f")
    worker.send_signal(signal.SIGINT)
    async with asyncio.timeout(20):
        _, said = await worker.communicate()

    assert worker.returncode == 0
    assert b"nothing can be claimed" not in said


async def test_a_feed_that_nobody_watches_is_kept_and_its_user_told(shell: Shell) -> None:
    started = await live(
        *(shell, "start", PAGE, "--id", "mine", "--adapter", "selectors"),
        *("--select", "runs=.runs", "--critical", "runs", "--ended", "runs=over"),
        *("--option", 'optional=["runs"]', "--priority", "1"),
    )
    assert (started.code, "mine is kept" in started.out) == (0, True)
    assert "penstock live run" in started.err
    [feed] = (await well(shell, "list", "--json")).objects
    assert feed["options"]["ended"] == {"field": "runs", "text": "over"}
    assert (feed["status"], feed["priority"]) == ("waiting", 1)
    assert "Nothing has been seen" in (await well(shell, "show", "mine")).out

    [stopped] = (await well(shell, "stop", "mine", "--json")).objects
    assert (stopped["status"], stopped["reason"]) == ("stopped", "it was stopped by hand")
    [again] = (await well(shell, "restart", "mine", "--json")).objects
    assert again["status"] == "waiting"
    asked = await live(shell, "remove", "mine")
    assert (asked.code, "say --yes" in asked.err) == (1, True)
    assert (await well(shell, "remove", "mine", "--yes", "--json")).objects == [
        {"removed": ["mine"]}
    ]
    assert (await well(shell, "list", "--json")).objects == []


async def test_errors_are_listed_and_settled_by_hand(shell: Shell, running: LiveProcess) -> None:
    await well(shell, "start", PAGE, "--id", "odd", "--select", "runs=.nowhere", *QUICK)

    async def is_unreadable() -> bool:
        return bool((await well(shell, "errors", "odd", "--json")).objects)

    await eventually(is_unreadable)
    await well(shell, "stop", "odd")
    found = (await well(shell, "errors", "--type", "parsing", "--unresolved", "--json")).objects
    assert {each["match_id"] for each in found} == {"odd"}
    assert ".nowhere" in found[0]["error_message"]
    [settled] = (await well(shell, "resolve", found[-1]["id"], "--json")).objects
    assert (settled["resolved"], settled["resolution_method"]) == (True, "manual")
    left = (await well(shell, "errors", "odd", "--unresolved", "--json")).objects
    assert settled["id"] not in {each["id"] for each in left}
    assert "parsing" in (await well(shell, "show", "odd")).out


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("start nonsense", 2, "url: "),
        ("start http://live03.test/score", 2, "selectors"),
        ("start URL --adapter nobody", 2, "there is no adapter 'nobody'"),
        ("start URL --select runs", 2, "NAME=VALUE"),
        ("start URL --select runs=..", 2, "no CSS selector"),
        ("start URL --way page", 2, "'way' is http"),
        ("start http://live03.test/match/7/plain --interval 1", 2, "every 2 s"),
        ("start URL --id health", 2, "none of"),
        ("show nobody", 1, "see `penstock live list`"),
        ("stop nobody", 1, "There is no feed 'nobody'"),
        ("updates nobody", 1, "no feed"),
        ("errors nobody", 1, "no feed"),
        ("resolve 0", 1, "see `penstock live errors`"),
        ("remove nobody --yes", 1, "no feed"),
    ],
)
async def test_what_is_wrong_is_said_in_one_line(
    shell: Shell, line: str, code: int, said: str
) -> None:
    await well(shell, "start", PAGE, "--id", "other")

    ran = await live(shell, *line.replace("URL", PAGE).split())

    assert (ran.code, ran.out) == (code, "")
    assert said in ran.err
    assert ran.err.count("\n") == 1


async def test_adapters_are_listed_without_a_store(shell: Shell, tmp_path: Path) -> None:
    rows = (await well(shell, "adapters", "--json")).objects

    assert {"cricket", "selectors"} <= {each["id"] for each in rows}
    assert not (tmp_path / "store").exists()


# ── watch


async def test_a_page_is_followed_to_its_end_without_a_store(shell: Shell) -> None:
    ran = await well(shell, "watch", SHORT, *QUICK, "--json")

    *updates, end = ran.objects
    assert [each["sequence"] for each in updates] == list(range(1, len(updates) + 1))
    assert updates[-1]["payload"] == match_at(7, ends_at(7, 0.5), 0.5).as_json()
    assert (end["event"], end["kind"]) == ("end", "completed")
    assert not (shell.folder / "store").exists()


async def test_a_page_is_followed_by_one_scraper_after_the_other(shell: Shell) -> None:
    half_a_second = str(0.5 / 3600)
    ran = await live(
        *(shell, "watch", SHORT, *QUICK, "--json"), PENSTOCK_LIVE__MAX_LIFETIME_HOURS=half_a_second
    )

    *updates, end = ran.objects
    assert len({each["scraper_id"] for each in updates}) > 1
    assert [each["sequence"] for each in updates] == list(range(1, len(updates) + 1))
    assert (end["event"], end["kind"]) == ("end", "completed")


async def test_a_page_is_followed_for_so_many_updates_in_lines(shell: Shell) -> None:
    ran = await well(shell, "watch", f"{PAGE}?speed=20", *QUICK, "--updates", "2")

    first, second, last = ran.out.splitlines()
    assert "#1    matchId 7, teams.0" in first
    assert "#2 " in second
    assert "→" in second
    assert last == "stopped: it was stopped"


async def test_whoever_follows_a_page_stops_when_they_like(shell: Shell) -> None:
    process = await shell.start("live", "watch", PAGE, *QUICK, "--json")
    async with asyncio.timeout(20):
        first = json.loads(await process.stdout.readline())
        process.send_signal(signal.SIGINT)
        out, _ = await process.communicate()

    assert first["event"] == "update"
    assert (process.returncode, json.loads(out.splitlines()[-1])["kind"]) == (0, "stopped")


async def test_a_page_that_is_not_seen_in_time_is_trouble(shell: Shell) -> None:
    ran = await live(
        shell, "watch", "http://down.test/", "--select", "a=h1", "--for", "1", "--json"
    )

    assert ran.code == 1
    assert {each["event"] for each in ran.objects} <= {"error", "end"}


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("http://private.test/ --select a=h1", 1, "Disallow"),
        ("http://live03.test/match/7/plain --interval 1", 2, "every 2 s"),
        ("http://live03.test/score", 2, "selectors"),
        ("http://127.0.0.1/ --select a=h1", 2, "loopback"),
    ],
)
async def test_gates_hold_for_whoever_follows_a_page(
    shell: Shell, line: str, code: int, said: str
) -> None:
    ran = await live(shell, "watch", *line.split())

    assert ran.code == code, ran.err
    assert said in ran.err
    assert ran.out == ""
