"""A site is down for two hours, with every time of the page fetcher's spec a 480th of itself."""

import os
from collections.abc import AsyncIterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from tests.chaos.stream.fleet import Fetcher, Fleet, open_fleet
from tests.page_fetchers import Servers, stand_up
from tests.shell import eventually
from tests.site import Hit, Reset, Site

HOST, OTHER = "one.test", "two.test"
SCALE = 480
FIRST, LONGEST = 30 / SCALE, 300 / SCALE
#: In two hours: after 30 s, 1, 2 and 4 min, then every 5 min.
KNOCKS = 4 + (7200 - 450) // 300
THRESHOLD = 5
#: So many may be under way when the circuit opens: a site's slots.
UNDER_WAY = 8
#: A queue that gave nothing is asked again after a second, and the machine is busy.
LATE = 2.5
SETTINGS = {
    "rate_limit_per_second": 50,
    "circuit_breaker_failure_threshold": THRESHOLD,
    "circuit_breaker_initial_backoff_seconds": FIRST,
    "circuit_breaker_max_backoff_seconds": LONGEST,
    "circuit_breaker_backoff_multiplier": 2,
}


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as site:
        stand_up(site, HOST, OTHER)
        yield site


@pytest.fixture
async def fleet(tmp_path: Path, site: Site, servers: Servers) -> AsyncIterator[Fleet]:
    async with open_fleet(tmp_path, site, servers, **SETTINGS) as fleet:
        yield fleet


async def test_two_hours_cost_a_few_knocks_and_no_url(
    servers: Servers, site: Site, fleet: Fleet
) -> None:
    fetchers = [await fleet.start(), await fleet.start()]
    await servers.push(f"http://{HOST}/page")
    await eventually(servers.urls)
    urls = [f"http://{HOST}/page?{n}" for n in range(100)]
    site.take_down(HOST, Reset())
    before = len(site.hits_of(HOST))
    await servers.push(*urls)
    await eventually(lambda: _is_down(fetchers[0]))

    busy = sum(map(_cpu_seconds, fetchers))
    await _live_through(site, servers)
    busy = sum(map(_cpu_seconds, fetchers)) - busy
    hits = site.hits_of(HOST)[before:]
    assert await servers.left() == len(urls)
    assert await servers.dead() == {}
    site.bring_up(HOST)
    await eventually(servers.is_empty, 30.0)

    assert await servers.urls() == sorted(_all_fetched(urls))
    assert await servers.dead() == {}
    assert THRESHOLD <= sum(hit.method == "GET" for hit in hits) <= THRESHOLD + UNDER_WAY
    _require_growing_pauses(_knocks(site)[:KNOCKS])
    assert busy < KNOCKS * LONGEST / 2
    assert [(await each.health())["figures"]["down"] for each in fetchers] == [[], []]


async def _is_down(fetcher: Fetcher) -> bool:
    down = (await fetcher.health())["figures"]["down"]
    return [circuit["domain"] for circuit in down] == [HOST]


async def _live_through(site: Site, servers: Servers) -> None:
    """An outage of so many knocks, in which another site's pages come as ever."""
    for number in range(KNOCKS):
        await servers.push(f"http://{OTHER}/page?{number}")
        await eventually(lambda: servers.body(f"http://{OTHER}/page?{number}"))  # noqa: B023
        await eventually(lambda: len(_knocks(site)) > number)  # noqa: B023 - awaited here


def _knocks(site: Site) -> list[Hit]:
    return [hit for hit in site.hits_of(HOST) if hit.method == "HEAD"]


def _all_fetched(urls: Sequence[str]) -> list[str]:
    others = [f"http://{OTHER}/page?{number}" for number in range(KNOCKS)]
    return [f"http://{HOST}/page", *urls, *others]


def _require_growing_pauses(knocks: Sequence[Hit]) -> None:
    """One knock at the root after each pause, which is twice the last one up to the longest."""
    assert {hit.path for hit in knocks} == {"/"}
    wanted = FIRST
    for one, other in pairwise(hit.started for hit in knocks):
        wanted = min(wanted * 2, LONGEST)
        assert wanted <= other - one < wanted + LATE


def _cpu_seconds(fetcher: Fetcher) -> float:
    """How long it has kept a processor busy."""
    fields = Path(f"/proc/{fetcher.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
