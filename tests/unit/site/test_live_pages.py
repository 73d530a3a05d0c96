"""Live hosts show a match as it stands, in every way, and get into trouble when told to."""

import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from tests.clocks import HandClock
from tests.site import HOSTS, Site, SiteSettings
from tests.site.live_ground import TROUBLED_HOSTS, Trouble
from tests.site.live_match import match_at
from tests.site.live_pages import LIVE_HOSTS, text_frame

HOST = "live.test"


class Fan:
    """Looks at matches over HTTP."""

    def __init__(self, site: Site, session: aiohttp.ClientSession) -> None:
        self.site = site
        self.session = session

    async def get(self, path: str, host: str = HOST) -> tuple[int, str]:
        url = f"http://{self.site.address}{path}"
        async with self.session.get(url, headers={"Host": host}) as reply:
            return reply.status, await reply.text()

    async def data(self, path: str = "/match/7", host: str = HOST) -> dict[str, Any]:
        route, _, query = path.partition("?")
        status, text = await self.get(f"{route}/data.json?{query}", host)
        assert status == 200
        told: dict[str, Any] = json.loads(text)
        return told


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
async def site(clock: HandClock) -> AsyncIterator[Site]:
    async with Site(settings=SiteSettings(now=clock.now)) as site:
        yield site


@pytest.fixture
async def fan(site: Site) -> AsyncIterator[Fan]:
    async with aiohttp.ClientSession() as session:
        yield Fan(site, session)


def as_told(number: int, seconds: float, minutes: float = 20.0) -> dict[str, Any]:
    orders = {"markup": "", "order": None, "mb": 20.0}
    return match_at(number, seconds, minutes).as_json() | orders


async def test_match_begins_when_it_is_first_asked_for(fan: Fan, clock: HandClock) -> None:
    clock.move(1_000)
    assert await fan.data() == as_told(7, 0)
    clock.move(31)
    assert await fan.data() == as_told(7, 31)
    assert await fan.data("/match/8") == as_told(8, 0)
    assert await fan.data(host="live01.test") == as_told(7, 0)


async def test_test_says_when_a_match_began(fan: Fan, site: Site) -> None:
    site.ground.begin(HOST, 7, seconds_ago=600)

    assert await fan.data() == as_told(7, 600)


async def test_query_says_how_long_a_match_takes_and_how_fast(fan: Fan, clock: HandClock) -> None:
    await fan.data()
    clock.move(2)

    assert await fan.data("/match/7?minutes=3&speed=60") == as_told(7, 120, 3)


async def test_plain_page_has_everything_and_no_script(fan: Fan, site: Site) -> None:
    site.ground.begin(HOST, 7, seconds_ago=60)
    status, text = await fan.get("/match/7/plain")
    match = match_at(7, 60)

    assert status == 200
    assert "<script" not in text
    assert f'<b class="runs">{match.runs}</b>' in text
    assert all(f'<b class="batter-name">{one.name}</b>' in text for one in match.batters)


@pytest.mark.parametrize("path", ["/match/7", "/match/7/plain", "/match/7/socket"])
async def test_pages_are_light(fan: Fan, path: str) -> None:
    status, text = await fan.get(path)

    assert (status, len(text) < 2_000) == (200, True)


@pytest.mark.parametrize("path", ["/match/", "/match/x", "/match/7/other", "/match/7/plain/x"])
async def test_other_paths_are_not_found(fan: Fan, path: str) -> None:
    assert (await fan.get(path))[0] == 404


@pytest.mark.parametrize("host", LIVE_HOSTS)
async def test_twenty_hosts_show_matches_to_robots_too(fan: Fan, host: str) -> None:
    assert (await fan.get("/match/1", host))[0] == 200
    assert "Disallow: /" not in (await fan.get("/robots.txt", host))[1]
    assert host in HOSTS


async def test_updates_come_over_a_websocket_when_there_is_news(fan: Fan, clock: HandClock) -> None:
    url = f"http://{fan.site.address}/match/7/stream?every=0"
    async with fan.session.ws_connect(url, headers={"Host": HOST}) as socket:
        assert await socket.receive_json() == as_told(7, 0)
        clock.move(60)
        assert await socket.receive_json() == as_told(7, 60)
        fan.site.ground.cut(HOST)
        assert (await socket.receive()).type is aiohttp.WSMsgType.CLOSED


async def test_stream_is_for_websockets_alone(fan: Fan) -> None:
    assert (await fan.get("/match/7/stream"))[0] == 426


def test_long_texts_are_framed_too() -> None:
    assert text_frame("x" * 125)[:2] == b"\x81\x7d"
    assert text_frame("x" * 126)[:4] == b"\x81\x7e\x00\x7e"


async def test_redesign_has_other_names_and_then_none_that_is_known(
    fan: Fan, clock: HandClock
) -> None:
    path, host = "/match/7/plain?after=10", "live-redesign.test"
    pages = [(await fan.get(path, host))[1]]
    for _ in range(2):
        clock.move(10)
        pages.append((await fan.get(path, host))[1])

    assert ['class="runs"' in text for text in pages] == [True, False, False]
    assert ['class="m-runs"' in text for text in pages] == [False, True, False]
    assert ['class="x-runs"' in text for text in pages] == [False, False, True]
    lost = await fan.data("/match/7?after=10", host)
    assert "score" not in lost


@pytest.mark.parametrize("trouble", ["hang", "leak", "reload"])
async def test_script_is_told_to_misbehave(
    fan: Fan, site: Site, clock: HandClock, trouble: Trouble
) -> None:
    assert (await fan.data())["order"] is None
    site.ground.set_trouble(HOST, trouble)
    assert (await fan.data())["order"] == trouble
    assert trouble in (await fan.get("/match/7"))[1]
    site.ground.end_trouble(HOST)
    assert (await fan.data())["order"] is None


async def test_host_gets_into_trouble_after_a_while_unless_it_is_told_not_to(
    fan: Fan, site: Site, clock: HandClock
) -> None:
    for host, kinds in TROUBLED_HOSTS.items():
        site.ground.begin(host, 7)
        start = site.ground.start_of(host, 7)
        assert site.ground.strike_on(host, start, 20).trouble is None
        clock.move(20)
        assert site.ground.strike_on(host, start, 20).trouble == kinds[0]
        site.ground.end_trouble(host)
        assert site.ground.strike_on(host, start, 20).trouble is None


async def test_frozen_page_stays_as_it_was_until_it_thaws(
    fan: Fan, site: Site, clock: HandClock
) -> None:
    await fan.data()
    clock.move(30)
    site.ground.set_trouble(HOST, "freeze")
    clock.move(300)
    assert (await fan.data())["score"] == match_at(7, 30).as_json()["score"]
    site.ground.end_trouble(HOST)
    assert (await fan.data())["score"] == match_at(7, 330).as_json()["score"]


@pytest.mark.parametrize(
    ("trouble", "query", "status"),
    [("vanish", "", 410), ("vanish", "?status=404", 404), ("outage", "", 503)],
)
async def test_page_is_gone_or_out_of_order(
    fan: Fan, site: Site, trouble: Trouble, query: str, status: int
) -> None:
    site.ground.set_trouble(HOST, trouble)

    assert (await fan.get(f"/match/7{query}"))[0] == status
    assert (await fan.get(f"/match/7/data.json{query}"))[0] == status


async def test_refreshing_page_says_so(fan: Fan, site: Site) -> None:
    site.ground.set_trouble(HOST, "refresh")

    assert 'http-equiv="refresh"' in (await fan.get("/match/7"))[1]
    assert 'http-equiv="refresh"' in (await fan.get("/match/7/plain"))[1]


async def test_slow_page_comes_late(fan: Fan, site: Site) -> None:
    site.ground.set_trouble(HOST, "slow")
    assert (await fan.get("/match/7?seconds=0.01"))[0] == 200
    with pytest.raises(TimeoutError):
        await fan.session.get(
            f"http://{site.address}/match/7",
            headers={"Host": HOST},
            timeout=aiohttp.ClientTimeout(total=0.1),
        )


async def test_network_is_cut_for_some_hosts_until_it_is_mended(fan: Fan, site: Site) -> None:
    site.ground.cut(HOST, "live01.test")
    for host in (HOST, "live01.test"):
        with pytest.raises(aiohttp.ClientError):
            await fan.get("/robots.txt", host)
    assert (await fan.get("/match/1", "live02.test"))[0] == 200

    site.ground.mend(HOST)
    assert (await fan.get("/match/1"))[0] == 200
    with pytest.raises(aiohttp.ClientError):
        await fan.get("/match/1", "live01.test")
