"""Proxies through the API: what admins do, what they are shown, and what nobody is."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import APIRouter
from pydantic import SecretStr

from penstock.api.application import create_application
from penstock.core.metrics import Metrics
from penstock.core.secrets import SecretBox
from penstock.kernel.model import Proxy
from penstock.kernel.proxies import Address, Delta, parse_proxy
from penstock.kernel.settings import ProxySettings
from penstock.store.proxies import add_deltas, insert_proxy, open_box, seed_proxies
from penstock.store.settings import StoreSettings
from penstock.store.store import Store
from penstock.web.guard import Guard
from penstock.web.keys import KeyRing, Keys, RateLimiter, Scope
from penstock.web.settings import ApiSettings
from penstock.workloads.catalog import proxy_routes
from penstock.workloads.catalog.proxies import Proxies
from tests.clocks import HandClock
from tests.stores import sqlite_stores

KEY, PASSWORD = "a-key-for-tests", "hunter2"
UNKNOWN = "0" * 32
NEW = {
    "proxy_url": "Proxy.Test",
    "proxy_port": 3128,
    "proxy_username": "jo",
    "proxy_password": PASSWORD,
    "region": "DE",
    "cost_per_gb_micros": 4_500_000,
}


class Desk:
    """The API of proxies on a store; `works` says whether connections are accepted."""

    def __init__(self, store: Store, http: httpx.AsyncClient) -> None:
        self.store = store
        self.http = http
        self.works = True
        self.tested: list[Proxy] = []

    async def check(self, proxy: Proxy) -> bool:
        self.tested.append(proxy)
        return self.works

    async def ask(self, method: str, path: str, status: int = 200, body: Any = None) -> Any:
        answer = await self.http.request(method, f"/proxies{path}", json=body)
        assert answer.status_code == status, answer.text
        assert PASSWORD not in answer.text
        return answer.json()

    async def data(self, method: str, path: str, status: int = 200, body: Any = None) -> Any:
        return (await self.ask(method, path, status, body))["data"]


@asynccontextmanager
async def open_desk(folder: Path, box: SecretBox) -> AsyncIterator[Desk]:
    async with sqlite_stores(folder) as stores:
        store, clock = await stores.open(), HandClock()
        ring = KeyRing(Keys(store), KEY, ApiSettings(), clock)
        desk = Desk(store, httpx.AsyncClient())
        proxies = Proxies(store, box, desk.check, {})
        router = APIRouter()
        proxy_routes.add(router, proxies)
        application = create_application(
            [router],
            Guard(ring, RateLimiter(clock)),
            ApiSettings(),
            clock,
            Metrics(),
        )
        transport = httpx.ASGITransport(application)
        headers = {"X-Service-Key": KEY}
        async with httpx.AsyncClient(
            transport=transport, base_url="http://service.test", headers=headers
        ) as desk.http:
            yield desk


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    box = open_box(ProxySettings(), StoreSettings(folder=tmp_path))
    async with open_desk(tmp_path, box) as desk:
        yield desk


async def test_a_proxy_is_added_changed_switched_and_removed(desk: Desk) -> None:
    added = await desk.data("POST", "", 201, NEW)
    path = f"/{added['id']}"
    assert (added["proxy_url"], added["region"], added["origin"]) == ("proxy.test", "de", "admin")
    assert (added["has_password"], added["is_active"], added["problem"]) == (True, True, None)
    assert await desk.data("GET", path) == added
    changed = await desk.data("PATCH", path, body={"region": None, "proxy_password": None})
    assert (changed["region"], changed["has_password"]) == (None, False)
    assert changed["cost_per_gb_micros"] == 4_500_000
    assert not (await desk.data("POST", f"{path}/disable"))["is_active"]
    assert (await desk.data("POST", f"{path}/enable"))["is_active"]
    assert (await desk.data("DELETE", path))["id"] == added["id"]
    await desk.ask("GET", path, 404)


async def test_ports_and_protocols_have_usual_ones(desk: Desk) -> None:
    added = await desk.data("POST", "", 201, {"proxy_url": "p.test", "proxy_protocol": "socks5"})

    assert (added["proxy_port"], added["proxy_username"]) == (1080, "")
    assert not added["has_password"]


async def test_counts_and_costs_are_shown(desk: Desk) -> None:
    added = await desk.data("POST", "", 201, NEW)
    address = Address("http", "proxy.test", 3128, "jo")
    delta = Delta(successes=3, failures=1, answers=3, seconds=0.6, bytes=2_000_000, used=0.0)
    await desk.store.write(lambda unit: add_deltas(unit, {address: delta}, 0.0, 10))

    shown = await desk.data("GET", f"/{added['id']}")

    assert (shown["success_count"], shown["total_failures"]) == (3, 1)
    assert (shown["avg_response_time_ms"], shown["bytes_carried"]) == (200, 2_000_000)
    assert shown["cost_micros"] == 9_000
    assert shown["last_used_at"].endswith("Z")


async def test_proxies_are_listed_in_parts_and_filtered(desk: Desk) -> None:
    ids = [
        (await desk.data("POST", "", 201, {"proxy_url": f"p{number}.test"}))["id"]
        for number in range(3)
    ]
    await desk.data("POST", f"/{ids[0]}/disable")

    first = await desk.ask("GET", "?limit=2")
    rest = await desk.ask("GET", f"?limit=2&cursor={first['meta']['next_cursor']}")

    listed = [row["id"] for row in (*first["data"], *rest["data"])]
    assert listed == sorted(ids, reverse=True)
    assert rest["meta"]["next_cursor"] is None
    assert [row["id"] for row in await desk.data("GET", "?active=false")] == [ids[0]]
    assert await desk.data("GET", "?healthy=false") == []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"proxy_url": "http://proxy.test"}, "proxy_url"),
        ({"proxy_url": "a b"}, "proxy_url"),
        ({"proxy_port": 0}, "proxy_port"),
        ({"proxy_port": "80"}, "proxy_port"),
        ({"proxy_protocol": "ftp"}, "proxy_protocol"),
        ({"proxy_username": "j\x00o"}, "proxy_username"),
        ({"proxy_password": PASSWORD * 100}, "proxy_password"),
        ({"cost_per_gb_micros": -1}, "cost_per_gb_micros"),
        ({"speed": 1}, "speed"),
    ],
)
async def test_what_is_no_proxy_is_refused_by_field(
    desk: Desk, change: dict[str, Any], field: str
) -> None:
    refused = await desk.ask("POST", "", 422, {**NEW, **change})

    assert field in refused["meta"]["errors"][0]["field"]


async def test_a_number_may_have_a_point_as_in_any_json(desk: Desk) -> None:
    added = await desk.data("POST", "", 201, {**NEW, "proxy_port": 1081.0})

    assert added["proxy_port"] == 1081


async def test_an_address_is_taken_once(desk: Desk) -> None:
    added = await desk.data("POST", "", 201, NEW)

    assert added["id"] in (await desk.ask("POST", "", 409, NEW))["error"]


async def test_without_a_key_a_password_is_refused_with_the_setting(tmp_path: Path) -> None:
    shared = StoreSettings(url=SecretStr("postgresql://db.test/p"))
    async with open_desk(tmp_path, open_box(ProxySettings(), shared)) as desk:
        refused = await desk.ask("POST", "", 422, NEW)
        assert "PENSTOCK_PROXIES__ENCRYPTION_KEYS" in refused["error"]
        lines = {"text": f"http://jo:{PASSWORD}@a.test:1", "dry_run": True}
        await desk.ask("POST", "/import", 422, lines)
        await desk.ask("POST", "", 201, {"proxy_url": "p.test"})


async def test_an_import_is_whole_or_nothing_and_says_which_line(desk: Desk) -> None:
    await desk.data("POST", "", 201, NEW)
    lines = [
        "# ours",
        f"http://jo:{PASSWORD}@proxy.test:3128#de",
        "",
        f"socks5://al:{PASSWORD}@b.test",
        "http://c.test:1#us",
        "http://c.test:1#us",
    ]
    good, bad = "\n".join(lines), "\n".join([*lines, f"http//jo:{PASSWORD}@d.test"])

    assert await desk.data("POST", "/import", body={"text": good, "dry_run": True}) == {
        "lines": 4,
        "added": 2,
        "skipped": 2,
        "dry_run": True,
        "problems": [],
    }
    wrong = await desk.data("POST", "/import", body={"text": bad})
    assert (wrong["added"], [each["line"] for each in wrong["problems"]]) == (0, [7])
    assert len(await desk.data("GET", "")) == 1
    assert (await desk.data("POST", "/import", body={"text": good}))["added"] == 2
    assert {row["proxy_url"] for row in await desk.data("GET", "")} == {
        "proxy.test",
        "b.test",
        "c.test",
    }


async def test_a_test_connects_once_and_decides_on_health(desk: Desk) -> None:
    added = await desk.data("POST", "", 201, NEW)
    path = f"/{added['id']}"
    desk.works = False

    tested = await desk.data("POST", f"{path}/test")

    assert (tested["ok"], tested["problem"]) == (
        False,
        "http://proxy.test:3128 does not accept connections",
    )
    assert not (await desk.data("GET", path))["is_healthy"]
    desk.works = True
    assert await desk.data("POST", f"{path}/test") == {
        "id": added["id"],
        "ok": True,
        "problem": None,
    }
    assert (await desk.data("GET", path))["is_healthy"]
    assert [proxy.password for proxy in desk.tested] == [PASSWORD, PASSWORD]


async def test_one_whose_password_is_lost_says_so(desk: Desk) -> None:
    proxy = parse_proxy(f"http://jo:{PASSWORD}@a.test:1")
    other = SecretBox([SecretStr("the key of somebody")], "")
    lost = await desk.store.write(lambda unit: insert_proxy(unit, proxy, other))

    shown = await desk.data("GET", f"/{lost}")
    tested = await desk.data("POST", f"/{lost}/test")

    assert "PENSTOCK_PROXIES__ENCRYPTION_KEYS" in shown["problem"]
    assert (tested["ok"], tested["problem"]) == (False, shown["problem"])
    assert desk.tested == []


async def test_those_of_the_settings_are_changed_there(desk: Desk) -> None:
    proxy = parse_proxy("http://a.test:1")
    box = SecretBox([], "")
    await desk.store.write(lambda unit: seed_proxies(unit, {Address.of(proxy): proxy}, box))
    (row,) = await desk.data("GET", "")
    path = f"/{row['id']}"

    for method, body in (("PATCH", {"region": "de"}), ("DELETE", None)):
        refused = await desk.ask(method, path, 409, body)
        assert "PENSTOCK_PROXIES__ENDPOINTS" in refused["error"]
    assert (await desk.data("PATCH", path, body={"cost_per_gb_micros": 1}))["id"] == row["id"]
    assert not (await desk.data("POST", f"{path}/disable"))["is_active"]


async def test_only_admins_of_everything_may_look(desk: Desk) -> None:
    keys = Keys(desk.store)
    _, reader = await keys.create("reader", [Scope.READ, Scope.SCRAPE])
    _, local = await keys.create("local", [Scope.ADMIN], workspace_id="acme")
    for secret in (reader, local):
        answer = await desk.http.get("/proxies", headers={"X-Service-Key": secret})
        assert answer.status_code == 403
    assert (await desk.http.get("/proxies", headers={"X-Service-Key": "no"})).status_code == 401


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("PATCH", ""),
        ("DELETE", ""),
        ("POST", "/test"),
        ("POST", "/enable"),
        ("POST", "/disable"),
    ],
)
async def test_an_unknown_one_is_not_found(desk: Desk, method: str, path: str) -> None:
    await desk.ask(method, f"/{UNKNOWN}{path}", 404, {} if method == "PATCH" else None)


async def test_every_endpoint_is_described_with_examples(desk: Desk) -> None:
    document = (await desk.http.get("/openapi.json")).json()

    schemas = document["components"]["schemas"]
    assert all(schemas[name]["examples"] for name in ("NewProxy", "ProxyChanges", "Import"))
    assert schemas["NewProxy"]["properties"]["proxy_password"]["anyOf"][0]["writeOnly"]
    assert len(document["paths"]) == 6
    assert "proxy_password" not in json.dumps(schemas["ProxyView"])
