"""Live pages in the console: feeds with their freshness, one of them, starting and errors."""

from pathlib import Path
from typing import Any

from penstock.console.live_data import MOST_CHANGES, changes, leaves
from penstock.workloads.live.health_log import log_health
from tests.consoles import XSS, RunningConsole, assert_harmless, console_on, text_of
from tests.live_rows import LiveRows, health, look, update
from tests.site import Site

URL = "http://live.test/match/1"
OPTIONS = '{"select": {"score": [".score"]}}'


def rows_of(console: RunningConsole) -> LiveRows:
    return LiveRows(console.service.engine.store)


async def watched(console: RunningConsole, match_id: str = "m", **more: Any) -> LiveRows:
    """A feed that somebody else watches, seen a moment ago."""
    rows = rows_of(console)
    await rows.watch(match_id)
    now = await rows.now()
    await rows.write(update(1, match_id, scraped_at=now, **more))
    await rows.note(look(match_id, at=now))
    return rows


async def test_pages_without_feeds_are_there(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        for path in ("", "/start", "/errors"):
            page = await console.get(f"/live{path}")

            assert page.status_code == 200
            assert_harmless(page)


async def test_feeds_show_status_age_and_freshness(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        rows = await watched(console)
        now = await rows.now()
        entries = [
            health(at=now - minute * 60_000, last_update_age_seconds=minute) for minute in range(5)
        ]
        await rows.do(lambda unit: log_health(unit, entries))
        page = await console.get("/live")

    assert "https://live.example/match watching active in play" in text_of(page)
    assert 'class="spark"' in page.text
    assert "at most 4" in page.text


async def test_feeds_come_in_parts_and_by_status(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        rows = rows_of(console)
        for number in range(51):
            await rows.put(f"feed{number:02}")
        await console.post("/live/feeds/feed00/stop")
        first = await console.get("/live")
        second = await console.get("/live", after="feed49")
        stopped = await console.get("/live", status="stopped")

    assert first.text.count("/live/feeds/feed") >= 50
    assert "after=feed49" in first.text
    assert "feed50" in text_of(second)
    assert "feed49" not in text_of(second)
    assert "feed00" in text_of(stopped)
    assert "feed01" not in text_of(stopped)


async def test_feed_shows_what_its_page_says_and_what_was_news(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        rows = await watched(console, payload={"score": {"runs": 120}, "teams": ["A", "B"]})
        now = await rows.now()
        said = {"score": {"runs": 121}, "teams": ["A", "B"]}
        await rows.write(update(2, payload=said, scraped_at=now, critical=True))
        await rows.do(lambda unit: log_health(unit, [health(at=now, last_update_age_seconds=3)]))
        page = await console.get("/live/feeds/m")
        data = await console.get("/live/feeds/m/data")

    text = text_of(page)
    assert "score.runs 121" in text
    assert "teams[1] B" in text
    assert "score.runs: 120 → 121" in text
    assert "critical" in text
    assert 'class="chart"' in page.text
    assert data.json() == said
    assert data.headers["content-disposition"] == 'attachment; filename="m.json"'


async def test_older_updates_are_on_the_next_page(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        rows = await watched(console)
        await rows.write(*(update(number) for number in range(2, 26)))
        first = await console.get("/live/feeds/m")
        second = await console.get("/live/feeds/m", after="6")

    assert "after=6" in first.text
    assert "score: 5 → 6" in text_of(first)
    assert "score: 4 → 5" in text_of(second)
    assert "score: 5 → 6" not in text_of(second)


async def test_feed_is_started_with_a_form(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        page = await console.post(
            "/live/start",
            url=URL,
            match_id="final",
            adapter="selectors",
            options=OPTIONS,
            interval="7.5",
            priority="2",
        )
        found = (await console.service.get("/live/feeds/final")).json()["data"]
        again = await console.get("/live/start", feed="final")
        audit = text_of(await console.get("/audit"))

    assert str(page.url).endswith("/console/live/feeds/final")
    assert "Feed final is watched from now on" in text_of(page)
    assert (found["interval"], found["priority"]) == (7.5, 2)
    assert found["options"] == {"select": {"score": [".score"]}}
    assert 'value="7.5"' in again.text
    assert "live start final" in audit


WRONG: tuple[dict[str, Any], ...] = (
    {"url": "nonsense"},
    {"match_id": "a b"},
    {"match_id": "feeds"},
    {"adapter": "nobody"},
    {"options": "{"},
    {"options": "[1]"},
    {"options": '{"select": {}}'},
    {"interval": "often"},
    {"priority": "99"},
)


async def test_wrong_feed_is_said_at_its_field_with_what_was_typed(
    tmp_path: Path, site: Site
) -> None:
    form: dict[str, Any] = {"url": URL, "adapter": "selectors", "options": OPTIONS, "priority": "5"}
    async with console_on(tmp_path, site) as console:
        for fields in WRONG:
            page = await console.post("/live/start", **form | fields)
            [(field, text)] = fields.items()

            assert page.status_code == 422
            assert f'id="{field}-error"' in page.text
            if field in ("url", "match_id", "interval"):
                assert f'value="{text}"' in page.text
        feeds = (await console.service.get("/live/feeds")).json()["data"]

    assert feeds == []


async def test_feed_is_stopped_restarted_and_removed(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        rows = await watched(console)
        await console.post("/live/feeds/m/stop")
        stopped = await rows.row()
        again = await console.post("/live/feeds/m/restart")
        started = await rows.row()
        gone = await console.post("/live/feeds/m/remove")
        missing = await console.get("/live/feeds/m")

    assert (stopped["status"], stopped["wanted"]) == ("stopped", False)
    assert "is watched by a new scraper" in text_of(again)
    assert started["wanted"] is True
    assert "are forgotten" in text_of(gone)
    assert missing.status_code == 404


async def test_errors_are_settled_and_their_evidence_is_a_download(
    tmp_path: Path, site: Site
) -> None:
    async with console_on(tmp_path, site) as console:
        rows, blobs = await watched(console), console.service.engine.blobs
        page, picture = await blobs.put(b"<script>"), await blobs.put(b"\x89PNG")
        error = await rows.error(message="no score", snapshot=page, screenshot=picture)
        listed = await console.get("/live/errors", resolved="no")
        kept = await console.get(f"/live/errors/{error}/snapshot")
        shot = await console.get(f"/live/errors/{error}/screenshot")
        settled = await console.post(f"/live/errors/{error}/resolve", back="feed")
        left = await console.get("/live/errors", resolved="no")

    assert "no score" in text_of(listed)
    for answer in (kept, shot):
        assert answer.headers["content-type"] == "application/octet-stream"
        assert answer.headers["content-disposition"].startswith("attachment")
    assert kept.content == b"<script>"
    assert str(settled.url).endswith("/live/feeds/m")
    assert "manual" in text_of(settled)
    assert "Nothing went wrong" in text_of(left)


async def test_reader_sees_feeds_and_changes_none(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        rows = await watched(console)
        page = await console.reader.get("/live/feeds/m")
        await console.reader.post("/live/feeds/m/stop")
        row = await rows.row()

    assert "disabled" in page.text
    assert row["wanted"] is True


async def test_nothing_that_pages_say_or_people_send_runs(tmp_path: Path, site: Site) -> None:
    bad = " ".join(XSS)
    async with console_on(tmp_path, site) as console:
        rows = await watched(console, payload={bad: bad, "list": [bad]}, state=bad)
        await rows.error(message=bad, operation=bad[:100], stack_trace=bad, url=bad[:500])
        await rows.put("other", url="javascript:alert(1)", adapter=bad, options={bad: bad})
        await console.service.engine.living.service().stop("m", bad)
        for path in ("", "/errors", "/feeds/m", "/feeds/other", "/start?feed=other"):
            page = await console.get(f"/live{path}")
            assert page.status_code == 200
            assert_harmless(page)
        for each in XSS:
            form: dict[str, Any] = {
                "match_id": each,
                "adapter": each,
                "options": each,
                "interval": each,
            }
            assert_harmless(await console.post("/live/start", url=each, priority=each, **form))
            assert_harmless(await console.get("/live", status=each, after=each))


def test_fields_are_flat_and_bounded() -> None:
    payload = {"a": {"b": [1, None, True]}, "c": "x" * 1000, "d": {}, "e": 1.5}

    found = leaves(payload)

    assert found | {"c": ""} == {
        "a.b[0]": "1",
        "a.b[1]": "-",
        "a.b[2]": "yes",
        "c": "",
        "d": "-",
        "e": "1.5",
    }
    assert len(found["c"]) == 301
    assert len(leaves({str(number): number for number in range(1000)}, 10)) == 10


def test_changes_are_those_of_fields() -> None:
    found, more = changes({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 5, "d": 4})

    assert [(each.path, each.before, each.after) for each in found] == [
        ("b", "2", "5"),
        ("d", "-", "4"),
        ("c", "3", "-"),
    ]
    assert more == 0
    assert changes({}, {str(number): number for number in range(20)})[1] == 20 - MOST_CHANGES
