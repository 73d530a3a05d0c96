"""`make console`: the console on the demo's data, to look around in until Ctrl-C.

Shops are watched, one of them contradicts itself and one breaks, pages are scraped, a shop is
crawled, a match is followed, and some hosts misbehave: a little of everything is to be seen.
"""

import asyncio
import contextlib
import os
import secrets
import shutil
import sys
import webbrowser
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from rich.console import Console

from tests.site import Reply, Site
from tests.site.monitor_demo import (
    ADAPTER,
    CORNER,
    CORNER_HOST,
    CORNER_URLS,
    LAMP,
    LAMP_URLS,
    LAMPS,
    LAMPS_HOST,
    OTHER_PRICE,
    Api,
    running,
)
from tests.site.shops import product, product_page

#: The demo's own pace, by section: a person watches it, and the site is ours.
PACE: Mapping[str, Mapping[str, Any]] = {
    "pacing": {"requests_per_second": 20, "request_delay_ms": 50, "max_concurrent": 4},
    "breaker": {"cooldown_seconds": 600},
    "robots": {"retry_seconds": 0.2},
    "retry": {"initial_delay_ms": 300},
    "identity": {"contact": "demo@penstock.invalid"},
    "monitor": {
        "requests_per_second": 20,
        "request_delay_ms": 50,
        "max_concurrent": 4,
        "tick_seconds": 0.5,
    },
    "catalog": {"crawl_delay_seconds": 0, "max_concurrent_requests": 20, "tick_seconds": 0.2},
}
POLICY = """
domains:
  live.test: {tokens_per_interval: 10, interval_seconds: 1, request_delay_ms: 100}
  shop01.test:
    tokens_per_interval: 20
    interval_seconds: 1
    request_delay_ms: 50
    max_concurrent: 4
    allowed_hours: {start: 0, end: 24}
"""
MATCHES = (7, 8, 9)
CRAWLED = "http://goods01.test/sitemap.xml"
SCRAPED = (
    *(f"http://shop0{number}.test/product/{number}" for number in range(1, 8)),
    "http://shop01.test/cart",
    "http://shop02.test/product/99999",
    "http://blocked.test/captcha",
    "http://outage.test/1",
)
PUSHED = tuple(f"http://shop03.test/product/{number}" for number in range(1, 9))
PERCENTS = (96, 91, 93, 85, 88, 97, 90)


async def fill(site: Site, http: httpx.AsyncClient, site_settles: float = 90.0) -> None:
    """Let a service have a little of everything; `http` has its key."""
    async with asyncio.timeout(site_settles):
        await _watch_matches(http)
        await _submit(http, "/scrape/batch", {"targets": [_target(url) for url in SCRAPED[:4]]})
        for url in SCRAPED[4:]:
            await _submit(http, "/scrape", _target(url) | {"workspace_id": "demo"})
        await _submit(http, "/stream/urls", {"urls": PUSHED})
        await _submit(http, "/admin/tasks", {"sitemap_url": CRAWLED})
        await _watch_shops(site, Api(http))


async def _submit(http: httpx.AsyncClient, path: str, body: Mapping[str, Any]) -> Any:
    answer = await http.post(f"/api/v1{path}", json=body)
    assert answer.is_success, (path, answer.text)
    return answer.json()["data"]


def _target(url: str) -> dict[str, Any]:
    return {"target_type": "product", "target_url": url, "workspace_id": "demo"}


async def _watch_matches(http: httpx.AsyncClient) -> None:
    for number in MATCHES:
        url = f"http://live.test/match/{number}/plain?minutes=60&speed=5"
        feed = {"url": url, "match_id": f"match-{number}", "adapter": "cricket-html"}
        await _submit(http, "/live/feeds", {**feed, "interval": 1})


async def _watch_shops(site: Site, api: Api) -> None:
    """Two shops: the prices of one change and one page contradicts itself, the other breaks."""
    _serve_lamps(site, "price")
    for name, domain, adapter, urls in (
        (CORNER, CORNER_HOST, None, CORNER_URLS),
        (LAMPS, LAMPS_HOST, "lamps", LAMP_URLS),
    ):
        about = {"name": name, "domain": domain, "retailer": name, "adapter_id": adapter}
        source = await api.post("/sources", about)
        await api.post("/imports", {"text": "\n".join(["url", *urls]), "source": name})
        await api.post(f"/sources/{source['id']}/approve")
        await api.next_run(name)
    targets = {target["url"]: target["id"] for target in await api.get("/targets", source=CORNER)}
    first = product(CORNER_HOST, 1).price_minor
    for percent in PERCENTS:
        _reprice(site, 1, f"{first / 100:.2f}", f"{first * percent / 10_000:.2f}")
        await api.read(target_ids=[targets[CORNER_URLS[0]]])
    shown = product_page(CORNER_HOST, 3)
    shown = shown.replace(product(CORNER_HOST, 3).price_text, f"${OTHER_PRICE}", 1)
    site.reply(CORNER_HOST, "/product/3", Reply(200, shown))
    await api.read(source=CORNER)
    _serve_lamps(site, "amount")
    for _ in range(2):
        await api.read(source=LAMPS)


def _reprice(site: Site, number: int, before: str, after: str) -> None:
    page = product_page(CORNER_HOST, number).replace(before, after)
    site.reply(CORNER_HOST, f"/product/{number}", Reply(200, page))


def _serve_lamps(site: Site, price_class: str) -> None:
    for number, url in enumerate(LAMP_URLS, 1):
        path = url.removeprefix(f"http://{LAMPS_HOST}")
        site.reply(LAMPS_HOST, path, Reply(200, LAMP.format(number, price_class, 20 + number)))


def sections(folder: Path) -> dict[str, dict[str, Any]]:
    """The settings of a service that is filled; their files are put in a folder."""
    policy, adapter = folder / "policies.yaml", folder / "lamps.py"
    policy.write_text(POLICY, encoding="utf-8")
    shutil.copy(ADAPTER, adapter)
    return {
        **{name: dict(section) for name, section in PACE.items()},
        "policies": {"shipped": False, "files": (policy,)},
        "extract": {"adapters": (str(adapter),)},
    }


def environment(found: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The same settings as a command reads them."""
    return {
        f"PENSTOCK_{section}__{name}".upper(): _text(value)
        for section, values in found.items()
        for name, value in values.items()
    }


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


@asynccontextmanager
async def filled(site: Site, folder: Path) -> AsyncIterator[tuple[str, str]]:
    """The address of a service that has a little of everything, and its key."""
    key = secrets.token_hex(16)
    known = ",".join(f"{host}={address}" for host, address in site.known_hosts.items())
    settings = {
        **environment(sections(folder)),
        "PENSTOCK_ADMISSION__KNOWN_HOSTS": known,
        "PENSTOCK_STORE__FOLDER": str(folder / "data"),
        "PENSTOCK_SHARED__LOCK_FILE": str(folder / "lock"),
        "PENSTOCK_API__SERVICE_KEY": key,
        "PENSTOCK_LOG__LEVEL": "ERROR",
    }
    async with running(settings) as api:
        await fill(site, api.http)
        yield str(api.http.base_url).rstrip("/"), key


async def main() -> int:
    """Serve the console until somebody presses Ctrl-C."""
    screen = Console()
    screen.print("Shops are watched, a catalogue is crawled, matches begin: half a minute…")
    with TemporaryDirectory() as folder:
        async with Site() as site, filled(site, Path(folder)) as (address, key):
            screen.print(f"\nThe console: [bold]{address}/console[/]", highlight=False)
            screen.print(f"The key:     [bold]{key}[/]", highlight=False)
            screen.print("Open it in a browser and sign in with the key.")
            screen.print("Ctrl-C ends it; everything that it kept is thrown away.")
            if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
                webbrowser.open(f"{address}/console")
            try:
                await asyncio.Event().wait()
            finally:
                screen.print("\nEnding what is under way, a few seconds…")
    return 0


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(asyncio.run(main()))
