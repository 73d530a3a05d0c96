"""The monitor through its API: sources, targets, files, runs, prices, rules, and who may what."""

import csv
import io
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pyarrow import parquet  # type: ignore[import-untyped]
from sqlalchemy import update

from penstock.notify.ops import OpsAlert, OpsAlerts, resolve
from penstock.products.tables import source_products
from penstock.web.keys import Keys, Scope
from penstock.workloads.monitor import exporting
from tests.lamps import get, post, read_all, show, with_lamps
from tests.services import URL, Service, serving
from tests.site import Site

SHOP = {"name": "Shop 1", "domain": "shop01.test", "retailer": "Shops & Co"}
PAGE = "http://shop01.test/product/1"
UNKNOWN = "0" * 32


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Service]:
    async with Site() as site, serving(site, tmp_path, works=False) as service:
        yield service


async def with_target(service: Service, **traits: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """A source and a target of it."""
    source = await post(service, "/sources", SHOP, 201)
    target = await post(service, "/targets", {"url": PAGE, **traits}, 201)
    return source, target


async def test_a_source_begins_invisible_untrusted_and_unapproved(service: Service) -> None:
    source = await post(service, "/sources", SHOP, 201)
    assert source["visibility_status"] == "INELIGIBLE"
    assert (source["upc_trusted"], source["tos_approved_by"]) == (False, None)
    approved = await post(service, f"/sources/{source['id']}/approve")
    assert approved["tos_approved_by"] == "service"
    assert approved["tos_reviewed_at"].endswith("Z")
    answer = await service.http.patch(
        f"/api/v1/monitor/sources/{source['id']}",
        json={"visibility_status": "ELIGIBLE", "upc_trusted": True},
    )
    assert answer.json()["data"]["visibility_status"] == "ELIGIBLE"
    assert answer.json()["data"]["upc_trusted"]
    revoked = await post(service, f"/sources/{source['id']}/revoke")
    assert revoked["tos_approved_by"] is None
    assert [each["name"] for each in await get(service, "/retailers")] == ["Shops & Co"]


async def test_a_target_is_added_changed_switched_and_removed(service: Service) -> None:
    _, target = await with_target(service, schedule="6h", priority=2)
    path = f"/targets/{target['id']}"
    assert target["waits_for"] == ("nobody has approved the terms of service of source 'Shop 1'")
    answer = await service.http.patch(
        f"/api/v1/monitor{path}", json={"schedule": None, "notes": "dear"}
    )
    edited = answer.json()["data"]
    assert (edited["schedule"], edited["notes"], edited["priority"]) == (None, "dear", 2)
    assert (await post(service, f"{path}/pause"))["status"] == "PAUSED"
    assert (await post(service, f"{path}/resume"))["status"] == "ACTIVE"
    assert (await post(service, f"{path}/block"))["robots_path_blocked"]
    assert not (await post(service, f"{path}/unblock"))["robots_path_blocked"]
    assert not (await post(service, f"{path}/disable"))["enabled"]
    assert (await post(service, f"{path}/enable"))["enabled"]
    removed = await service.http.delete(f"/api/v1/monitor{path}")
    assert removed.json()["data"]["deleted"]
    await get(service, path, 404)


async def test_what_is_wrong_is_answered_by_field(service: Service) -> None:
    await post(service, "/sources", SHOP, 201)
    answer = await service.post("/monitor/targets", {"url": PAGE, "adapter": "nothing"})
    assert answer.status_code == 422
    assert answer.json()["meta"]["errors"][0]["field"] == "adapter"
    answer = await service.post("/monitor/targets", {"url": PAGE, "color": "red"})
    assert answer.json()["meta"]["errors"][0]["field"] == "body.color"
    answer = await service.post("/monitor/sources", SHOP)
    assert answer.status_code == 409
    await post(service, "/targets", {"url": PAGE}, 201)
    await post(service, "/targets", {"url": f"{PAGE}?utm_source=x"}, 409)


async def test_a_file_is_imported_whole_or_not_at_all(service: Service) -> None:
    await post(service, "/sources", SHOP, 201)
    text = f"url\n{PAGE}\nnonsense\n"
    report = await post(service, "/imports", {"text": text, "dry_run": True})
    assert [each["line"] for each in report["problems"]] == [3]
    report = await post(service, "/imports", {"text": text})
    assert (report["added"], report["problems"][0]["line"]) == (0, 3)
    assert await get(service, "/targets") == []
    report = await post(service, "/imports", {"text": f"url\n{PAGE}\n", "schedule": "1d"})
    assert report["added"] == 1
    exported = await service.get("/monitor/exports")
    assert exported.headers["content-type"].startswith("text/csv")
    assert exported.text.splitlines()[1].startswith(f"{PAGE},Shop 1,product,1d,0,ACTIVE,true,false")


async def test_a_number_is_no_time(service: Service) -> None:
    for path in ("/prices", "/prices/export", "/shadow"):
        await get(service, path, 422, since="-1.5e-295", adapter="product")
    await post(service, "/replays", {"adapter": "product", "since": 1_772_625_600}, 422)


async def test_lists_come_in_parts(service: Service) -> None:
    await post(service, "/sources", SHOP, 201)
    text = "url\n" + "".join(f"http://shop01.test/product/{number}\n" for number in range(5))
    await post(service, "/imports", {"text": text})
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        answer = (await service.get("/monitor/targets", limit=2, **cursor)).json()
        seen += [each["id"] for each in answer["data"]]
        if not (place := answer["meta"]["next_cursor"]):
            break
        cursor = {"cursor": place}
    assert len(seen) == len(set(seen)) == 5
    assert await get(service, "/targets", source="Shop 1", status="PAUSED") == []
    await get(service, "/targets", 404, source="Nobody")


async def test_a_run_is_refused_until_the_terms_are_approved(service: Service) -> None:
    source, target = await with_target(service)
    answer = await service.post("/monitor/runs", {"source": "Shop 1"})
    assert answer.status_code == 409
    assert "terms of service" in answer.json()["error"]
    await post(service, f"/sources/{source['id']}/approve")
    launch = await post(service, "/runs", {"target_ids": [target["id"]]}, 202)
    assert (launch["accepted"], launch["left"]) == (1, 0)
    run = await get(service, f"/runs/{launch['runs'][0]}")
    assert (run["trigger"], run["status"], run["urls_total"]) == ("MANUAL", "RUNNING", 1)
    assert [each["id"] for each in await get(service, "/runs", source="Shop 1")] == launch["runs"]
    answer = await service.http.delete(f"/api/v1/monitor/targets/{target['id']}")
    assert answer.status_code == 409
    await post(service, "/runs", {}, 422)


async def test_of_what_is_no_domain_there_are_no_sources(service: Service) -> None:
    await with_target(service)
    assert await get(service, "/sources", domain="<<\x1cm") == []


async def test_what_failed_in_a_run_is_read_again_and_only_that(service: Service) -> None:
    source, target = await with_target(service)
    await post(service, f"/sources/{source['id']}/approve")
    launch = await post(service, "/runs", {"target_ids": [target["id"]]}, 202)
    path = f"/runs/{launch['runs'][0]}/retry"
    answer = await service.post(f"/monitor{path}", None)
    assert answer.status_code == 409
    assert "no target of that run failed" in answer.json()["error"]
    await post(service, f"/runs/{UNKNOWN}/retry", None, 404)


async def test_an_adapter_is_stopped_and_started_with_who(service: Service) -> None:
    source, target = await with_target(service)
    await post(service, f"/sources/{source['id']}/approve")
    await post(service, "/runs", {"target_ids": [target["id"]]}, 202)
    [status] = await get(service, "/adapters")
    path = f"/adapters/{status['adapter_id']}"
    assert status["adapter_id"] == "product@Shop 1"
    stopped = await post(service, f"{path}/disable", {"reason": "ToS_VIOLATION"})
    assert (stopped["enabled"], stopped["disabled_by"]) == (False, "service")
    assert stopped["disabled_reason"] == "ToS_VIOLATION"
    started = await post(service, f"{path}/enable")
    assert (started["enabled"], started["needs_canary"]) == (True, True)
    await post(service, "/adapters/nobody/enable", None, 404)


async def test_rules_are_kept_and_checked(service: Service) -> None:
    _, target = await with_target(service)
    rule = {"kind": "below_price", "target_id": target["id"], "threshold": "9.50"}
    await post(service, "/rules", rule, 422)
    made = await post(service, "/rules", {**rule, "currency": "USD"}, 201)
    assert (made["threshold"], made["created_by"]) == ("9.50", "service")
    private = {**rule, "currency": "USD", "notify_url": "http://10.0.0.1/hook"}
    await post(service, "/rules", private, 422)
    await post(service, "/rules", {**rule, "currency": "USD", "target_id": UNKNOWN}, 404)
    assert not (await post(service, f"/rules/{made['id']}/disable"))["enabled"]
    assert [each["id"] for each in await get(service, "/rules")] == [made["id"]]
    gone = await service.http.delete(f"/api/v1/monitor/rules/{made['id']}")
    assert gone.status_code == 204
    await get(service, f"/rules/{made['id']}", 404)


@pytest.mark.parametrize(
    "path",
    [
        "/sources/{}",
        "/targets/{}",
        "/targets/{}/why",
        "/runs/{}",
        "/quarantine/{}",
        "/products/{}/prices",
        "/products/{}/history",
        "/prices/{}",
        "/prices/{}/corrections",
        "/rules/{}",
        "/results/{}/page",
    ],
)
async def test_what_is_not_there_is_404(service: Service, path: str) -> None:
    await get(service, path.format(UNKNOWN), 404)


async def test_a_target_that_was_not_read_yet_says_so(service: Service) -> None:
    _, target = await with_target(service)
    why = await get(service, f"/targets/{target['id']}/why")
    assert why["last"] is None
    assert "terms of service" in why["held_up"][0]


async def test_keys_see_and_change_what_their_scope_allows(service: Service) -> None:
    keys = Keys(service.engine.store)
    _, reading = await keys.create("reader", [Scope.READ])
    _, bound = await keys.create("tenant", [Scope.ADMIN], workspace_id="acme")
    transport = httpx.ASGITransport(service.api.application)

    async def status(method: str, path: str, secret: str) -> int:
        async with httpx.AsyncClient(transport=transport, base_url=URL) as http:
            headers = {"X-Service-Key": secret}
            answer = await http.request(method, f"/api/v1/monitor{path}", headers=headers)
            return answer.status_code

    assert await status("GET", "/targets", reading) == 200
    assert await status("GET", "/products", reading) == 200
    # These show prices that consumers must not see.
    assert await status("GET", "/prices", reading) == 403
    assert await status("GET", f"/prices/{UNKNOWN}", reading) == 403
    assert await status("GET", "/prices/export", reading) == 403
    assert await status("GET", "/quarantine", reading) == 403
    assert await status("GET", "/shadow?adapter=product", reading) == 403
    assert await status("POST", "/replays", reading) == 403
    assert await status("GET", "/alerts", reading) == 200
    assert await status("GET", "/alerts", bound) == 403
    assert await status("POST", f"/targets/{UNKNOWN}/pause", reading) == 403
    assert await status("GET", "/targets", bound) == 403
    assert await status("POST", f"/targets/{UNKNOWN}/pause", bound) == 403
    assert await status("GET", "/targets", "no key of ours") == 401


async def test_replay_says_what_a_repaired_adapter_makes_of_kept_pages(tmp_path: Path) -> None:
    async with with_lamps(tmp_path) as (service, _):
        show(service.site, "amount")
        assert (await read_all(service))["extraction_failures"] == 3
        whole = await post(service, "/replays", {"adapter": "lamps@1.1.0", "source": "Lamps"})
        same = await post(service, "/replays", {"adapter": "lamps"})
        [first, second] = [await part(service, 4), await part(service, 4, following=True)]
        wrong = await service.post("/monitor/replays", {"adapter": "lamps@9.9.9"})
        late = {"adapter": "lamps", "since": "2199-01-01T00:00:00Z"}
        assert (await post(service, "/replays", late))["pages"] == 0
        assert len(await get(service, "/runs")) == 2

    assert (whole["same"], whole["newly_good"], whole["is_safe"]) == (3, 3, True)
    assert (whole["is_complete"], len(whole["differing"])) == (True, 3)
    differences = {each["field"]: each for each in whole["differing"][0]["differences"]}
    assert differences["price"]["after"].startswith("19.9")
    assert (same["pages"], same["same"], same["differing"]) == (6, 6, [])
    assert (first["pages"], first["is_complete"]) == (4, False)
    assert (second["pages"], second["newly_good"], second["is_complete"]) == (2, 2, True)
    assert wrong.status_code == 422
    assert "lamps@1.1.0" in wrong.json()["error"]


async def part(service: Service, limit: int, *, following: bool = False) -> dict[str, Any]:
    """The first part of a replay, or the one that follows it."""
    body = {"adapter": "lamps@1.1.0", "limit": limit}
    answer = (await service.post("/monitor/replays", body)).json()
    if following:
        body["cursor"] = answer["meta"]["next_cursor"]
        answer = (await service.post("/monitor/replays", body)).json()
    data: dict[str, Any] = answer["data"]
    return data


async def test_shadow_says_how_a_candidate_does_on_live_pages(tmp_path: Path) -> None:
    async with with_lamps(tmp_path, shadow={"lamps": "lamps@1.1.0"}) as (service, _):
        show(service.site, "amount")
        await read_all(service)
        [report] = await get(service, "/shadow", adapter="lamps")
        assert await get(service, "/shadow", adapter="lamps", since="2199-01-01") == []
        await get(service, "/shadow", 422)

    assert (report["candidate"], report["agreement"]) == ("lamps@1.1.0", 0.5)
    assert (report["pages"], report["newly_good"], len(report["examples"])) == (6, 3, 3)
    assert report["examples"][0]["url"].startswith("http://lamps.test/product/")


async def test_a_price_is_shown_with_where_it_comes_from_and_what_corrects_it(
    tmp_path: Path,
) -> None:
    async with with_lamps(tmp_path) as (service, source_id):
        [newest, *_] = await get(service, "/prices", source="Lamps")
        path = f"/prices/{newest['price_id']}"
        plain = await get(service, path)
        correction = {"why": "a typo", "price": "21.00"}
        made = await post(service, f"{path}/corrections", correction, 201)
        corrected = await get(service, path)
        [run] = await get(service, "/runs")

    assert {**plain, "corrections": None} == {**newest, "corrections": None}
    assert plain["corrections"] == []
    assert (plain["source_id"], plain["ingestion_run_id"]) == (source_id, run["id"])
    assert (plain["adapter_version"], plain["released_by"]) == ("1.0.0", None)
    assert (corrected["price"], corrected["price_as_seen"]) == ("21.00", plain["price"])
    assert corrected["corrections"] == [made]
    assert (run["urls_failed"], run["urls_unreachable"]) == (0, 0)


async def test_prices_are_exported_as_tables_without_formulas(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Three prices: a table of two parts.
    monkeypatch.setattr(exporting, "AT_ONCE", 2)
    async with with_lamps(tmp_path) as (service, _):
        evil = update(source_products).values(title="=HYPERLINK(1)")
        await service.engine.store.write(lambda unit: unit.run(evil) and None)
        text = await service.get("/monitor/prices/export")
        few = await service.get("/monitor/prices/export", limit=2, source="Lamps")
        table = await service.get("/monitor/prices/export", format="parquet")
        listed = await get(service, "/prices")
        await get(service, "/prices/export", 404, source="Nobody")

    assert text.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(text.text, newline="")))
    assert [row["price_id"] for row in rows] == [row["price_id"] for row in listed]
    assert {row["title"] for row in rows} == {"'=HYPERLINK(1)"}
    assert len(few.text.splitlines()) == 3
    found = parquet.read_table(io.BytesIO(table.content)).to_pylist()
    assert [str(row["price"]) for row in found] == [row["price"] for row in listed]
    assert table.headers["content-disposition"].endswith('"prices.parquet"')


async def test_parquet_without_its_library_is_refused_with_what_to_install(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    answer = await service.get("/monitor/prices/export", format="parquet")
    assert answer.status_code == 422
    assert "penstock[parquet]" in answer.json()["error"]


async def test_what_ops_were_told_of_is_listed_in_parts_and_by_kind(service: Service) -> None:
    ops = OpsAlerts(service.engine.log)
    told = [OpsAlert("drift", f"shop{number}", "P2", "reads worse") for number in range(3)]
    told.append(OpsAlert("adapter_disabled", "shop9", "P1", "stopped"))
    await service.engine.store.write(lambda unit: ops.tell(unit, told))
    await service.engine.store.write(lambda unit: resolve(unit, "drift", "shop0"))

    first = (await service.get("/monitor/alerts", limit=3)).json()
    rest = await get(service, "/alerts", cursor=first["meta"]["next_cursor"])
    subjects = [each["subject"] for each in (*first["data"], *rest)]
    assert sorted(subjects) == ["shop0", "shop1", "shop2", "shop9"]
    assert len(await get(service, "/alerts", open=True)) == 3
    [over] = await get(service, "/alerts", open=False)
    assert (over["subject"], over["resolved_at"][-1]) == ("shop0", "Z")
    assert len(await get(service, "/alerts", kind="drift", open=True)) == 2
    assert [each["kind"] for each in await get(service, "/alerts", severity="P1")] == [
        "adapter_disabled"
    ]
    await get(service, "/alerts", 422, severity="P9")
