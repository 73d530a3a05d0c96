"""Who a browser says it is: Penstock, and somebody else only where a policy says so."""

import json
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from penstock.app import Platform
from penstock.kernel.identity import HEIGHTS, PLATFORMS, REGIONS, WIDTHS
from penstock.kernel.model import Request
from tests.browsers import Place
from tests.platforms import platform_for, policies
from tests.site import Site
from tests.unit.kernel.fetchers.tls import tls_front

pytestmark = pytest.mark.asyncio(loop_scope="module")

POLICIES: dict[str, dict[str, Any]] = {
    "default": {"fetcher": "browser", "respect_robots_txt": False},
    "masked.scripted.test": {"identity": "browser"},
    "german.scripted.test": {"identity": "browser", "proxy": {"use": "never", "region": "de"}},
}
_LOOKS = re.compile(r'<pre id="looks">(.*?)</pre>')


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site() -> AsyncIterator[Site]:
    async with Site() as site:
        yield site


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def platform(
    site: Site, place: Place, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Platform]:
    """A platform to which every host speaks TLS, as pages learn of hints only there."""
    async with (
        tls_front(site) as port,
        platform_for(
            site,
            admission={"known_hosts": {"*.test": f"127.0.0.1:{port}"}},
            browser=place.settings(arguments=("--ignore-certificate-errors",)),
            identity={"contact": "ops@penstock.example"},
            policies=policies(tmp_path_factory.mktemp("settings"), **POLICIES),
        ) as one,
    ):
        yield one


async def looks_at(platform: Platform, host: str) -> dict[str, Any]:
    outcome = await platform.pipeline.run(Request(f"https://{host}/looks"))
    assert outcome.ok, outcome.failure
    assert outcome.page
    found = _LOOKS.search(outcome.page.text)
    assert found
    looks: dict[str, Any] = json.loads(found[1])
    return looks


def headers_at(site: Site, host: str) -> dict[str, str]:
    return {name.lower(): value for name, value in site.hits_of(host)[-1].headers.items()}


async def test_without_a_policy_the_browser_is_honest(site: Site, platform: Platform) -> None:
    looks = await looks_at(platform, "scripted.test")
    headers = headers_at(site, "scripted.test")

    assert looks["agent"].startswith("Penstock/")
    assert "+ops@penstock.example" in looks["agent"]
    assert headers["user-agent"] == looks["agent"]
    assert looks["webdriver"] is True
    assert looks["runtime"] is False
    assert "HeadlessChrome" in headers["sec-ch-ua"]
    assert headers["sec-ch-ua-platform"] == '"Linux"'


async def test_a_masked_browser_fits_together(site: Site, platform: Platform) -> None:
    looks = await looks_at(platform, "masked.scripted.test")
    headers = headers_at(site, "masked.scripted.test")

    platform_named = {each.name: each for each in PLATFORMS}[looks["system"]]
    version = re.search(r"Chrome/(\d+)\.0\.0\.0", looks["agent"])
    assert version
    assert looks["agent"] == headers["user-agent"]
    assert platform_named.in_agent in looks["agent"]
    assert looks["platform"] == platform_named.navigator
    assert f"Google Chrome {version[1]}" in looks["brands"]
    assert headers["sec-ch-ua-platform"] == f'"{looks["system"]}"'
    for said in (looks["agent"], str(looks["brands"]), str(looks["full"]), headers["sec-ch-ua"]):
        assert "Headless" not in said
        assert "Penstock" not in said
    assert looks["webdriver"] is False
    assert looks["runtime"] is True
    assert looks["plugins"] == 5
    assert looks["plugin"] == "PDF Viewer"
    assert WIDTHS[0] <= looks["width"] <= WIDTHS[1]
    assert HEIGHTS[0] <= looks["height"] <= HEIGHTS[1]


async def test_a_masked_browser_fits_its_region(site: Site, platform: Platform) -> None:
    looks = await looks_at(platform, "german.scripted.test")
    headers = headers_at(site, "german.scripted.test")

    assert looks["languages"] == ["de-DE", "de", "en"]
    assert headers["accept-language"].startswith("de-DE,de;")
    assert looks["zone"] in {city.time_zone for city in REGIONS["de"].cities}


async def test_consecutive_visits_look_different(platform: Platform) -> None:
    seen = [await looks_at(platform, "masked.scripted.test") for _ in range(3)]

    shown = [(look["agent"], look["width"], look["height"], look["zone"]) for look in seen]
    assert len(set(shown)) == 3
