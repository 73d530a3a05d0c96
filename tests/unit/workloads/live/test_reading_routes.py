"""What consumers read of a feed: the state with its age, in an envelope and bare."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from penstock.web.keys import Scope
from penstock.workloads.live.model import ScraperStatus
from tests.live_api import KEY, LiveApi, open_live_api
from tests.live_rows import look, scraper, update

NOON = 1_772_625_600_000
ENVELOPED, BARE = "/api/v1/live/m", "/cricket-data/match-info/m"
BOTH = pytest.mark.parametrize("path", [ENVELOPED, BARE])


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[LiveApi]:
    """A feed that was seen three seconds ago."""
    async with open_live_api(tmp_path) as api:
        await api.rows.watch()
        payload = {"matchId": 123, "score": {"runs": 7}}
        await api.rows.write(update(1, payload=payload, scraped_at=NOON))
        await api.rows.note(look(at=NOON))
        api.clock.move(3.2)
        yield api


def state_in(answer: dict[str, Any]) -> dict[str, Any]:
    state: dict[str, Any] = answer["data"] if "success" in answer else answer
    return state


@BOTH
async def test_a_state_comes_with_its_age(api: LiveApi, path: str) -> None:
    answer = await api.ask("GET", path)

    assert answer.headers["x-data-freshness"] == "2026-03-04T12:00:00Z"
    assert answer.headers["x-data-age-seconds"] == "3"
    assert answer.headers["content-type"] == "application/json"
    assert state_in(answer.json()) == {
        "matchId": 123,
        "score": {"runs": 7},
        "_metadata": {
            "scraped_at": "2026-03-04T12:00:00Z",
            "data_age_seconds": 3,
            "scraper_id": scraper(1),
            "source": "scraper",
            "scraper_status": "active",
            "state": "in_play",
            "sequence": 1,
        },
    }


@BOTH
async def test_the_last_state_is_marked_when_the_scraper_is_down(api: LiveApi, path: str) -> None:
    await api.rows.note(look(at=NOON, scraper_status=ScraperStatus.ERROR))
    failing = state_in((await api.ask("GET", path)).json())
    await api.data("POST", "/feeds/m/stop")
    api.clock.move(600)
    stopped = state_in((await api.ask("GET", path)).json())

    assert failing["score"] == stopped["score"] == {"runs": 7}
    assert (failing["_metadata"]["source"], failing["_metadata"]["scraper_status"]) == (
        "cache",
        "error",
    )
    assert (stopped["_metadata"]["source"], stopped["_metadata"]["scraper_status"]) == (
        "cache",
        "stopped",
    )
    assert stopped["_metadata"]["data_age_seconds"] == 603


@BOTH
async def test_a_state_that_nobody_has_looked_at_for_long_is_marked(
    api: LiveApi, path: str
) -> None:
    # Its worker is gone, and nobody has noticed yet.
    api.clock.move(120)

    metadata = state_in((await api.ask("GET", path)).json())["_metadata"]

    assert (metadata["source"], metadata["scraper_status"]) == ("cache", "active")
    assert metadata["data_age_seconds"] == 123


@BOTH
async def test_a_state_that_is_known_is_not_sent_again(api: LiveApi, path: str) -> None:
    tag = (await api.ask("GET", path)).headers["etag"]
    api.clock.move(2)
    same = await api.ask("GET", path, 304, **{"If-None-Match": f'"other", {tag}'})
    anything = await api.ask("GET", path, 304, **{"If-None-Match": "*"})
    await api.ask("GET", path, 200, **{"If-None-Match": '"other"'})
    await api.rows.write(update(2, scraped_at=NOON))
    news = await api.ask("GET", path, 200, **{"If-None-Match": tag})

    assert (same.content, anything.content) == (b"", b"")
    assert (same.headers["etag"], same.headers["x-data-age-seconds"]) == (tag, "5")
    assert news.headers["etag"] != tag


@BOTH
async def test_a_state_that_became_old_is_sent_to_whoever_knows_it(api: LiveApi, path: str) -> None:
    tag = (await api.ask("GET", path)).headers["etag"]
    api.clock.move(200)

    await api.ask("GET", path, 200, **{"If-None-Match": tag})


async def test_what_is_unknown_or_unseen_is_not_there(api: LiveApi) -> None:
    await api.rows.put("new")

    for name, said in {"nobody": "There is no feed 'nobody'", "new": "Nothing has been"}.items():
        assert said in (await api.refusal("GET", f"/{name}", 404))["error"]
        bare = (await api.ask("GET", f"/cricket-data/match-info/{name}", 404)).json()
        assert list(bare) == ["error"]
        assert said in bare["error"]


async def test_a_field_of_a_page_never_stands_for_its_age(api: LiveApi) -> None:
    forged = {"_metadata": {"data_age_seconds": 0, "source": "scraper"}}
    await api.rows.write(update(2, payload=forged, scraped_at=NOON))
    api.clock.move(300)

    assert (await api.data("GET", "/m"))["_metadata"]["data_age_seconds"] == 303


async def test_updates_come_in_parts_without_a_gap(api: LiveApi) -> None:
    await api.rows.write(*(update(number, scraped_at=NOON) for number in (2, 3, 4)))
    seen: list[int] = []
    after = 0
    while part := (await api.ask("GET", f"{ENVELOPED}/updates?after={after}&limit=3")).json():
        seen += [each["sequence"] for each in part["data"]]
        after = part["meta"]["next_after"]
        if not part["data"]:
            break

    assert seen == [1, 2, 3, 4]
    assert part["meta"] == {"limit": 3, "next_after": 4, "last_sequence": 4}
    for wrong in ("after=-1", "after=x", "limit=0", f"after={2**63}"):
        await api.ask("GET", f"{ENVELOPED}/updates?{wrong}", 422)


async def test_an_update_says_what_it_is(api: LiveApi) -> None:
    [found] = await api.data("GET", "/m/updates")

    assert found["payload"] == {"matchId": 123, "score": {"runs": 7}}
    assert (found["state"], found["critical"], found["final"]) == ("in_play", False, False)
    assert (found["scraped_at"], found["scraper_id"]) == ("2026-03-04T12:00:00.000Z", scraper(1))
    assert (found["update_latency_ms"], found["data_source"]) == (250, "scraper")


# ── keys


@pytest.mark.parametrize("path", [ENVELOPED, BARE, f"{ENVELOPED}/updates"])
async def test_reading_needs_a_key_that_may_read(api: LiveApi, path: str) -> None:
    reader, other = await api.key(Scope.READ), await api.key(Scope.SCRAPE)
    tenant = await api.key(Scope.READ, workspace_id="acme")

    for secret, status in {"": 401, "wrong": 401, other: 403, reader: 200, tenant: 200}.items():
        answer = await api.ask("GET", path, status, **{"X-Service-Key": secret})
        if status != 200:
            assert answer.json()["error"]
            assert ("success" in answer.json()) is path.startswith("/api/v1")


@pytest.mark.parametrize("path", [ENVELOPED, BARE])
@pytest.mark.parametrize("keys_required", [True, False])
async def test_a_key_has_a_rate_also_where_none_is_needed(
    tmp_path: Path, path: str, keys_required: bool
) -> None:
    async with open_live_api(tmp_path, keys_required=keys_required) as api:
        await api.rows.watch()
        await api.rows.write(update(1, scraped_at=NOON))
        secret = {"X-Service-Key": await api.key(Scope.READ, rate_limit=2)}
        for _ in range(2):
            await api.ask("GET", path, 200, **secret)
        refused = await api.ask("GET", path, 429, **secret)
        api.clock.move(30)
        await api.ask("GET", path, 200, **secret)

    assert refused.headers["retry-after"] == "30"
    assert refused.json()["error"] == "Too many requests with this key"


@pytest.mark.parametrize("path", [ENVELOPED, BARE, f"{ENVELOPED}/updates"])
async def test_where_no_key_is_needed_a_wrong_one_is_refused_all_the_same(
    tmp_path: Path, path: str
) -> None:
    async with open_live_api(tmp_path, keys_required=False) as api:
        await api.rows.watch()
        await api.rows.write(update(1, scraped_at=NOON))
        del api.http.headers["X-Service-Key"]

        await api.ask("GET", path, 200)
        await api.ask("GET", path, 200, **{"X-Service-Key": KEY})
        await api.ask("GET", path, 401, **{"X-Service-Key": "wrong"})
        # Whoever steers needs one anyway.
        await api.ask("GET", "/api/v1/live/feeds", 401)
