"""The clients and the price monitor: what people do with it, on a real port."""

import asyncio
import csv
import io
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from penstock.client import AsyncClient, Client, Conflict, InvalidRequest, NotFound
from tests.lamps import show, with_lamps
from tests.monitors import product_page, status_at_end
from tests.services import KEY, listening, serving
from tests.site import Reply, Site
from tests.watching import QUICK

URL = "http://lamps.test/product/{}"


async def test_a_shop_is_added_read_and_looked_at(tmp_path: Path) -> None:
    async with (
        Site() as site,
        serving(site, tmp_path, monitor=QUICK) as service,
        listening(service) as address,
        AsyncClient(address, KEY) as penstock,
    ):
        monitor = penstock.monitor
        url = "http://rivals.test/product/1"
        # People see another price than machines: nobody can say which one is right.
        site.reply("rivals.test", "/product/1", Reply(200, product_page(url, shown="24.99")))
        source = await monitor.sources.add("Rivals", "rivals.test")
        assert [each["name"] for each in await monitor.retailers.list()] == ["Rivals"]
        target = await monitor.targets.add(url, schedule="6h", notes="dear")
        assert "terms of service" in (target.waits_for or "")
        with pytest.raises(Conflict, match="terms of service"):
            await monitor.runs.start(source="Rivals")
        await monitor.sources.approve(source["id"])
        await monitor.sources.edit(source["id"], visibility_status="ELIGIBLE")

        launch = await monitor.runs.start(target_ids=[target.id])
        assert await status_at_end(penstock, launch.runs[0]) == "SUCCESS"
        [offer] = [each async for each in monitor.quarantine.list(status="OPEN")]
        assert (offer.reason, offer.target_id) == ("AMBIGUOUS_PRICE", target.id)
        why = await monitor.targets.why(target.id)
        assert why["last"]["reason"] == "AMBIGUOUS_PRICE"
        assert b"Kettle 1" in await monitor.targets.page(why["last"]["id"])
        released = await monitor.quarantine.release(
            offer.id, "seen by eye", price=Decimal("24.99"), currency="USD"
        )
        [product] = await monitor.prices.products("kettle")
        [now] = await monitor.prices.current(product["id"])
        price = await monitor.prices.get(released.price_id or "")

    assert (now.price, now.price_id, now.released_by) == (Decimal("24.99"), price.price_id, None)
    assert (price.released_by, price.target_id) == ("service", target.id)
    assert price.ingestion_run_id == launch.runs[0]


async def test_targets_are_changed_switched_and_moved_as_files(tmp_path: Path) -> None:
    async with (
        with_lamps(tmp_path) as (service, _),
        listening(service) as address,
        AsyncClient(address, KEY) as penstock,
    ):
        targets = penstock.monitor.targets
        listed = [each async for each in targets.list(source="Lamps", at_once=2)]
        first = listed[0].id
        assert (await targets.edit(first, priority=3, schedule="1d")).priority == 3
        assert (await targets.edit(first, schedule=None)).schedule is None
        assert (await targets.pause(first)).status == "PAUSED"
        assert [each.id async for each in targets.list(status="PAUSED")] == [first]
        assert (await targets.resume(first)).status == "ACTIVE"
        assert (await targets.block(first)).robots_path_blocked
        assert not (await targets.disable(first)).enabled
        assert not (await targets.remove(first))["deleted"]
        report = await targets.import_text(f"url\n{URL.format(8)}\n", dry_run=True)
        assert (report["added"], report["problems"]) == (1, [])
        exported = (await targets.export(source="Lamps")).decode()
        assert await targets.requeue() == {"requeued": 0}
        with pytest.raises(InvalidRequest) as caught:
            await targets.add("http://lamps.test/product/9", adapter="nobody")
        with pytest.raises(NotFound):
            await targets.get("0" * 32)

    assert sorted(each.url for each in listed) == [URL.format(number) for number in (1, 2, 3)]
    assert len(exported.splitlines()) == 4
    assert caught.value.errors[0]["field"] == "adapter"


async def test_prices_are_gone_through_corrected_and_exported(tmp_path: Path) -> None:
    async with (
        with_lamps(tmp_path) as (service, source_id),
        listening(service) as address,
        AsyncClient(address, KEY) as penstock,
    ):
        prices = penstock.monitor.prices
        yesterday = datetime.now(UTC) - timedelta(days=1)
        seen = [each async for each in prices.list(source="Lamps", since=yesterday, at_once=2)]
        await penstock.monitor.sources.edit(source_id, visibility_status="ELIGIBLE")
        first = seen[0]
        correction = await prices.correct(first.price_id, "a typo", "21.00")
        [shown] = await prices.history(first.product_id or "", since=yesterday)
        [kept] = await prices.corrections(first.price_id)
        await prices.revoke(correction["id"])
        [again] = await prices.history(first.product_id or "")
        of_source = prices.list(source_product_id=first.source_product_id)
        [alone] = [each async for each in of_source]
        with pytest.raises(NotFound):
            await prices.revoke(correction["id"])
        table = await prices.export("csv", source="Lamps", until=datetime.now(UTC))
        parquet = await prices.export("parquet", limit=1)

    assert len(seen) == len({each.price_id for each in seen}) == 3
    assert (shown.price, again.price) == (Decimal("21.00"), first.price)
    assert kept["reason"] == "a typo"
    assert alone.price_id == first.price_id
    rows = list(csv.DictReader(io.StringIO(table.decode(), newline="")))
    assert {row["price_id"] for row in rows} == {each.price_id for each in seen}
    assert parquet.startswith(b"PAR1")


async def test_a_program_that_blocks_repairs_an_adapter_and_makes_rules(tmp_path: Path) -> None:
    async with with_lamps(tmp_path) as (service, _), listening(service) as address:
        show(service.site, "amount")

        def program() -> None:
            with Client(address, KEY) as penstock:
                monitor = penstock.monitor
                launch = monitor.runs.start(source="Lamps")
                while not (run := monitor.runs.get(launch.runs[0])).is_over:
                    pass
                assert run.extraction_failures == 3
                assert next(monitor.runs.list(at_once=1)).id == run.id
                part = monitor.adapters.replay("lamps@1.1.0", source="Lamps", limit=5)
                rest = monitor.adapters.replay("lamps@1.1.0", cursor=part["next_cursor"])
                assert (part["is_complete"], part["newly_good"]) == (False, 2)
                assert (rest["is_complete"], rest["newly_good"]) == (True, 1)
                assert monitor.adapters.shadow("lamps") == []
                [status] = monitor.adapters.list()
                assert not monitor.adapters.disable(status["adapter_id"])["enabled"]
                assert monitor.adapters.enable(status["adapter_id"])["needs_canary"]
                target = next(monitor.targets.list())
                rule = monitor.rules.add("drop_percent", target_id=target.id, threshold="5")
                assert not monitor.rules.disable(rule["id"])["enabled"]
                assert [each["id"] for each in monitor.rules.list()] == [rule["id"]]
                monitor.rules.remove(rule["id"])
                assert list(monitor.alerts.list(open=True, severity="P1")) == []
                assert monitor.targets.export("json").count(b"\n") == 3

        await asyncio.to_thread(program)
