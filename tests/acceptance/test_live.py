"""Live pages from end to end: a real Chromium, a match that scores by itself, and a real store."""

import os
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx

from penstock.app.service import open_live_api
from penstock.notify.ops import open_alerts
from penstock.workloads.live.supervising import Supervision
from penstock.workloads.live.tables import Row
from penstock.workloads.live.watcher import Watcher
from tests.browsers import Place, chromiums
from tests.chaos.live.truth import Played, Span, compare
from tests.platforms import policies
from tests.services import URL, Service, serving
from tests.shell import eventually
from tests.site import Site

HOST, NUMBER = "live01.test", 6
#: A page that is told of every ball at once.
PAGE = f"http://{HOST}/match/{NUMBER}/socket?every=0.1"
PATIENCE = 30.0
Settings = Mapping[str, Any]
QUICK: Settings = {
    "polling_interval_seconds": 0.2,
    "retry_base_delay_seconds": 0.1,
    "retry_max_delay_seconds": 1.6,
    # A page that does not change for ten of these looks is not idle yet.
    "enable_adaptive_polling": False,
}
#: The circuit of the domain is another, and not what is looked at here.
PATIENT: Settings = {"threshold": 1000}
#: What the site allows us to ask of it.
AT_ONCE: Settings = {"tokens_per_interval": 100, "interval_seconds": 1, "request_delay_ms": 0}


@dataclass(frozen=True, slots=True)
class Ground:
    """A service that watches feeds in real browsers; `alone` is /health of live pages alone."""

    service: Service
    supervision: Supervision
    alone: httpx.AsyncClient

    async def start(self, url: str = PAGE, adapter: str = "cricket", **more: Any) -> None:
        body = {"url": url, "match_id": "m", "adapter": adapter, **more}
        answer = await self.service.post("/live/feeds", body)
        assert answer.status_code in (200, 201), answer.text

    async def feed(self) -> Row:
        found: Row = (await self.service.get("/live/feeds/m")).json()["data"]
        return found

    async def until(self, is_so: Callable[[Row], bool]) -> Row:
        """The feed, as soon as something is so of it."""

        async def look() -> bool:
            return is_so(await self.feed())

        await eventually(look, PATIENCE)
        return await self.feed()

    async def lose_site_and_browser(self) -> Row:
        """Watch a page until it can be had no more; the feed as it was before."""
        await self.start()
        feed = await self.until(lambda feed: feed["last_sequence"] >= 1)
        self.service.site.ground.cut(HOST)
        [browser] = chromiums(os.getpid())
        os.kill(browser, signal.SIGKILL)
        return feed

    async def errors(self) -> list[Row]:
        """What went wrong, oldest first."""
        found: list[Row] = (await self.service.get("/live/errors", limit=100)).json()["data"]
        return found[::-1]

    async def updates(self) -> list[Row]:
        living = self.service.engine.living.service()
        return await living.updates_after("m", 0, 1000)

    async def health(self) -> Row:
        """What /health says; how soon it does is in `test_live_health`."""
        found: Row = (await self.alone.get("/health")).json()
        return found

    async def has_alert(self) -> bool:
        alerts = await self.service.engine.store.read(open_alerts)
        return any(alert["kind"] == "live_parse" for alert in alerts)


@asynccontextmanager
async def watching(
    site: Site, folder: Path, browsers: Place, *, policy: Settings = AT_ONCE, **live: Any
) -> AsyncIterator[Ground]:
    """A service on the site; what it keeps is still there for the next one in the folder."""
    said: dict[str, Settings] = {
        "browser": browsers.settings(),
        "live": {**QUICK, **live},
        "breaker": PATIENT,
        "policies": policies(folder, live01_test=policy),
    }
    async with AsyncExitStack() as stack:
        service = await stack.enter_async_context(serving(site, folder, works=False, **said))
        engine = service.engine
        supervision = await engine.living.watch(
            lambda: engine.heartbeat.id, engine.supervisor, stack
        )
        stack.push_async_callback(supervision.stop)
        alone = open_live_api(service.settings, service.platform, engine)
        http = httpx.AsyncClient(transport=httpx.ASGITransport(alone.application), base_url=URL)
        yield Ground(service, supervision, await stack.enter_async_context(http))


# ── the life of a scraper


async def test_a_scraper_lives_from_its_start_to_an_end_in_good_order(
    site: Site, tmp_path: Path, browsers: Place
) -> None:
    async with watching(site, tmp_path, browsers, health_log_seconds=0.1) as ground:
        await ground.start()
        await ground.until(lambda feed: feed["last_sequence"] >= 2)
        # Memory and processors are measured every few seconds.
        measured = await ground.until(lambda feed: feed["scraper"]["memory_mb"] > 0)
        watcher = ground.supervision.watchers["m"]
        assert watcher.context
        assert [watcher.context.browser_pid] == chromiums(os.getpid())
        health = await ground.health()
        assert_health_is_that_of(watcher, health)
        log = (await ground.service.get("/live/feeds/m/health-log")).json()["data"]
        metrics = (await ground.alone.get("/metrics")).text
        await ground.supervision.stop()
        seen, stopped, errors = await ground.updates(), await ground.feed(), await ground.errors()

    scraper = measured["scraper"]
    assert (scraper["health_status"], scraper["total_updates"] >= 2) == ("healthy", True)
    assert {row["scraper_id"] for row in log} == {scraper["scraper_id"]}
    assert log[0]["health_status"] == "healthy"
    assert 'scraper_updates_total{match_id="m",status="changed"}' in metrics
    # The last cycle came to its end, all is written, and nobody has the feed.
    assert errors == []
    assert stopped["last_sequence"] == len(seen) == seen[-1]["sequence"]
    assert (stopped["status"], stopped["scraper_status"]) == ("waiting", "stopped")
    assert (chromiums(os.getpid()), browsers.files_left()) == ([], [])


def assert_health_is_that_of(watcher: Watcher, health: Row) -> None:
    """Every figure of /health is one of the only scraper, which looks on meanwhile."""
    assert watcher.context
    shown, breaker = watcher.context.to_dict(), watcher.rules.breaker.to_dict()
    [scraper] = health["scrapers"]
    [circuit] = health["errors"]["circuit_breakers"]
    fixed = ("scraper_id", "match_id", "url", "start_time", "memory_mb", "polling_interval")
    assert {name: scraper[name] for name in fixed} == {name: shown[name] for name in fixed}
    assert health["status"] == "healthy"
    assert health["active_scraper_count"] == health["total_matches_scraping"] == 1
    assert health["resources"]["total_memory_mb"] == scraper["memory_mb"] > 0
    assert (circuit["name"], circuit["state"]) == (breaker["name"], "CLOSED")
    assert 0 < circuit["total_successes"] <= breaker["total_successes"]
    assert health["errors"]["last_minute"] == 0
    assert 0 < health["performance"]["updates_per_minute"] <= shown["total_updates"]
    assert health["performance"]["average_latency_ms"] > 0


# ── errors


async def test_errors_are_logged_retried_more_and_more_slowly_and_resolved_by_a_success(
    site: Site, tmp_path: Path, browsers: Place
) -> None:
    async with watching(site, tmp_path, browsers, circuit_breaker_timeout_seconds=3) as ground:
        await ground.lose_site_and_browser()
        opened = await ground.until(lambda feed: _circuit(feed) == "OPEN")
        site.ground.mend(HOST)
        closed = await ground.until(lambda feed: _circuit(feed) == "CLOSED")
        errors = await ground.errors()

    tries = [error["retry_attempt"] for error in errors[:5]]
    times = [datetime.fromisoformat(error["timestamp"]).timestamp() for error in errors[:5]]
    pauses = [after - before for before, after in pairwise(times)]
    assert tries == [0, 1, 2, 3, 4]
    assert errors[0]["error_type"] == "browser"
    assert {error["error_type"] for error in errors[1:]} == {"network"}
    # A tenth of the shipped ones, which are 1, 2, 4, 8 and 16 seconds.
    for pause, least in zip(pauses, (0.1, 0.2, 0.4, 0.8), strict=True):
        assert pause >= least
    assert opened["circuit_breaker"]["total_failures"] == 5
    assert closed["circuit_breaker"]["total_rejections"] >= 1
    assert closed["scraper"]["error_count"] == 0
    assert all(error["resolved"] for error in errors)
    assert {error["resolution_method"] for error in errors} == {"auto_retry"}


async def test_errors_without_end_let_another_scraper_try(
    site: Site, tmp_path: Path, browsers: Place
) -> None:
    async with watching(
        site, tmp_path, browsers, circuit_breaker_timeout_seconds=0.1, retry_max_attempts=0
    ) as ground:
        first = await ground.lose_site_and_browser()
        second = await ground.until(lambda feed: feed["restarts"] == 1)
        errors = await ground.errors()
        site.ground.mend(HOST)
        fresh = await ground.until(lambda feed: feed["last_sequence"] > first["last_sequence"])

    of_the_first = [each for each in errors if each["scraper_id"] == first["scraper_id"]]
    assert second["scraper_id"] != first["scraper_id"]
    assert len(of_the_first) == 11
    assert {error["resolution_method"] for error in of_the_first} == {"restart"}
    assert fresh["scraper_status"] == "active"


def _circuit(feed: Row) -> str:
    breaker = feed["circuit_breaker"]
    return str(breaker["state"]) if breaker else ""


# ── a match


async def test_a_match_is_watched_to_its_end_though_the_process_starts_anew_in_its_middle(
    site: Site, tmp_path: Path, browsers: Place
) -> None:
    speed, minutes = 3.0, 0.8
    url = f"{PAGE}&speed={speed:g}&minutes={minutes:g}"
    async with watching(site, tmp_path, browsers) as ground:
        await ground.start(url)
        began = time.time()
        await ground.until(lambda feed: feed["last_sequence"] >= 3)
        away = time.time()
    async with watching(site, tmp_path, browsers) as ground:
        await ground.until(lambda feed: feed["scraper"] and feed["scraper"]["total_updates"] >= 1)
        back = time.time()
        feed = await ground.until(lambda feed: feed["status"] == "completed")
        updates = await ground.updates()
        state = (await ground.service.http.get("/cricket-data/match-info/m")).json()

    start = site.ground.start_of(HOST, NUMBER).timestamp()
    watched: Span = (began, float("inf"))
    played = Played(NUMBER, minutes, speed, start)
    found = compare(played, updates, watched, blind=[(away, back)], enough=1.0)
    assert found.is_clean, found
    assert found.critical >= 4
    assert len({update["scraper_id"] for update in updates}) == 2
    assert updates[-1]["state"] == "ended"
    assert updates[-1]["payload"]["result"] == state["result"] is not None
    assert feed["wanted"] is False
    assert feed["reason"] == "the page says that it has ended"
    # Opened by each process, and once more for its last word.
    assert len(site.hits_of(HOST, f"/match/{NUMBER}/socket")) == 3


# ── a page that changes its looks


async def test_a_page_with_other_markup_is_read_on_and_one_that_says_nothing_is_kept_as_evidence(
    site: Site, tmp_path: Path, browsers: Place
) -> None:
    async with watching(
        site,
        tmp_path,
        browsers,
        retry_max_attempts=0,
        parse_retry_seconds=0.5,
        snapshots_per_feed=3,
    ) as ground:
        await ground.start(f"{PAGE}&speed=10")
        site.ground.set_trouble(HOST, "redesign")
        seen = (await ground.feed())["last_sequence"]
        redesigned = await ground.until(lambda feed: feed["last_sequence"] >= seen + 3)
        assert await ground.errors() == []

        site.ground.set_trouble(HOST, "lost")
        await eventually(ground.has_alert, PATIENCE)
        # So many errors in a row are a reason for another scraper, too; the circuit outlives both.
        rested = await ground.until(lambda feed: _circuit(feed) in ("OPEN", "HALF_OPEN"))
        errors = await ground.errors()
        evidence = [error["id"] for error in errors if error["has_snapshot"]]
        page = await ground.service.get(f"/live/errors/{evidence[-1]}/snapshot")
        picture = await ground.service.get(f"/live/errors/{evidence[-1]}/screenshot")

        site.ground.end_trouble(HOST)
        await eventually(_not(ground.has_alert), PATIENCE)
        last = await ground.until(lambda feed: feed["last_sequence"] > rested["last_sequence"])

    assert redesigned["scraper"]["total_errors"] == 0
    assert {error["error_type"] for error in errors} == {"parsing"}
    assert len(errors) >= 11
    assert len(evidence) == 3
    assert b'class="x-runs"' in page.content
    assert picture.content.startswith((b"\x89PNG", b"\xff\xd8\xff"))
    assert last["circuit_breaker"]["state"] == "CLOSED"


def _not(ask: Callable[[], Awaitable[bool]]) -> Callable[[], Awaitable[bool]]:
    async def is_not() -> bool:
        return not await ask()

    return is_not


# ── gates


async def test_what_robots_forbid_is_refused(site: Site, tmp_path: Path, browsers: Place) -> None:
    site.robots[HOST] = "User-agent: *\nDisallow: /match/\n"
    async with watching(site, tmp_path, browsers) as ground:
        await ground.start()
        feed = await ground.until(lambda feed: feed["status"] == "refused")

    assert "robots" in feed["reason"]
    assert site.hits_of(HOST, f"/match/{NUMBER}/socket") == []


async def test_outside_of_its_hours_a_feed_is_paused(
    site: Site, tmp_path: Path, browsers: Place
) -> None:
    hour = datetime.now(UTC).hour
    closed = {"start": (hour + 2) % 24, "end": (hour + 3) % 24}
    async with watching(site, tmp_path, browsers, policy={"allowed_hours": closed}) as ground:
        await ground.start()
        feed = await ground.until(lambda feed: feed["scraper"] and feed["scraper"]["waits_for"])

    assert feed["scraper"]["waits_for"].startswith(f"{HOST} is closed until")
    assert feed["scraper"]["total_errors"] == 0
    assert site.hits == []


async def test_an_interval_shorter_than_the_policy_allows_is_refused(
    site: Site, tmp_path: Path, browsers: Place
) -> None:
    async with watching(site, tmp_path, browsers, policy={}) as ground:
        body = {"url": f"http://{HOST}/match/6", "adapter": "cricket-data", "interval": 1.5}
        answer = await ground.service.post("/live/feeds", body)

    [error] = answer.json()["meta"]["errors"]
    assert (answer.status_code, error["field"]) == (422, "interval")
    assert "a request every 2 s" in error["message"]
