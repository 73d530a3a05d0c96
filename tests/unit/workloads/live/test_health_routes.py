"""Health of live pages in a process that watches none: what the store knows."""

from pathlib import Path

from penstock.workloads.live.model import ScraperStatus
from tests.live_api import open_live_api
from tests.live_rows import look, update


async def test_health_says_what_the_store_knows_and_that_it_is_no_more(tmp_path: Path) -> None:
    async with open_live_api(tmp_path) as api:
        del api.http.headers["X-Service-Key"]
        nothing = await api.data("GET", "/health")
        await api.rows.watch("a", by=1)
        await api.rows.watch("b", by=2)
        now = await api.rows.now()
        await api.rows.note(look("a", by=1, at=now), look("b", by=2, at=now))
        healthy = await api.data("GET", "/health")
        await api.rows.note(look("b", by=2, at=now, scraper_status=ScraperStatus.ERROR))
        one_fails = await api.data("GET", "/health")
        await api.rows.lose("w")
        nobody = await api.data("GET", "/health")

    assert (nothing["status"], nothing["active_scraper_count"]) == ("healthy", 0)
    assert (healthy["status"], healthy["active_scraper_count"]) == ("healthy", 2)
    assert (one_fails["status"], one_fails["total_matches_scraping"]) == ("degraded", 2)
    assert (nobody["status"], nobody["active_scraper_count"]) == ("down", 0)
    assert "no feed is watched by this process" in healthy["note"]
    assert set(healthy) == {
        *("status", "timestamp", "active_scraper_count", "total_matches_scraping", "scrapers"),
        *("resources", "errors", "performance", "note"),
    }


async def test_old_data_and_errors_of_the_last_minute_are_trouble(tmp_path: Path) -> None:
    async with open_live_api(tmp_path) as api:
        await api.rows.watch("m")
        await api.rows.note(look("m", at=await api.rows.now()))
        api.clock.move(121)
        old = await api.data("GET", "/health")
        for _ in range(11):
            await api.rows.error("m")
        failing = await api.data("GET", "/health")
        api.clock.move(61)
        later = await api.data("GET", "/health")

    assert (old["status"], old["errors"]["last_minute"]) == ("degraded", 0)
    assert (failing["status"], failing["errors"]["last_minute"]) == ("down", 11)
    assert (later["errors"]["last_minute"], later["errors"]["last_hour"]) == (0, 11)


async def test_health_that_is_switched_off_is_not_there(tmp_path: Path) -> None:
    async with open_live_api(tmp_path, health_check_enabled=False) as api:
        await api.rows.watch("m")
        await api.rows.write(update(1, "m"))

        await api.refusal("GET", "/health", 404)
        await api.ask("GET", "/api/v1/live/m", 200)
