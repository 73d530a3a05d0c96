"""`penstock monitor shadow` and `alerts`, on a store with something to report."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from penstock.cli.monitor_reports import alerts, shadow
from penstock.core.clock import SystemClock
from penstock.events.log import EventLog
from penstock.notify.ops import OpsAlert, OpsAlerts, resolve
from penstock.store.settings import StoreSettings
from penstock.store.store import Store, open_store
from penstock.store.unit import Unit
from tests.stores import make_sqlite
from tests.unit.products.offers import open_shop
from tests.unit.workloads.monitor.watched import add_result, add_run, add_target

APP = typer.Typer()
APP.command()(shadow)
APP.command()(alerts)
DIFFERENCE = {"field": "price", "before": None, "after": "19.99"}


class Desk:
    """A store, and the commands on it."""

    def __init__(self, folder: Path) -> None:
        self._settings = StoreSettings(folder=folder)

    def write(self, work: Callable[[Unit, Store], object]) -> None:
        async def write() -> None:
            async with open_store(self._settings, SystemClock()) as store:
                await store.write(lambda unit: work(unit, store) and None)

        asyncio.run(write())

    def run(self, *arguments: str) -> Result:
        return CliRunner().invoke(APP, arguments, catch_exceptions=False)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setenv("PENSTOCK_STORE__FOLDER", str(tmp_path))
    asyncio.run(make_sqlite(tmp_path))
    return Desk(tmp_path)


def compared(unit: Unit, store: Store) -> None:
    del store
    shop = open_shop(unit)
    add_target(unit, shop)
    for place, change in enumerate(("same", "newly_good")):
        found = [] if change == "same" else [DIFFERENCE]
        beside = {"candidate": "product@2.0.0", "change": change, "differences": found}
        add_run(unit, shop, f"run-{place}")
        add_result(unit, f"r{place}", {"shadow": beside}, at=unit.now, run_id=f"run-{place}")


def test_shadow_shows_how_a_candidate_agrees(desk: Desk) -> None:
    desk.write(compared)

    output = desk.run("shadow", "product").output

    assert "product@2.0.0: 2 pages, 50.0% alike, 1 newly good, 0 newly failing" in output
    assert "newly_good: https://shop.example/t1 (price)" in output


def test_shadow_is_plain_data_for_programs(desk: Desk) -> None:
    desk.write(compared)

    report = json.loads(desk.run("shadow", "product", "--json").stdout)

    assert (report["agreement"], report["newly_good"]) == (0.5, 1)
    assert report["examples"][0]["differences"] == [DIFFERENCE]


def test_shadow_says_that_there_was_none(desk: Desk) -> None:
    assert "Nothing read pages beside product" in desk.run("shadow", "product").output


def raise_two(unit: Unit, store: Store) -> None:
    raised = [
        OpsAlert("adapter_disabled", "product@shop", "P1", "two bad batches"),
        OpsAlert("zero_price", "product@shop", "P2", "a price of zero"),
    ]
    OpsAlerts(EventLog(store)).tell(unit, raised)
    resolve(unit, "zero_price", "product@shop")


def test_alerts_show_what_lasts_and_on_request_what_is_over(desk: Desk) -> None:
    desk.write(raise_two)

    [lasting] = map(json.loads, desk.run("alerts", "--json").stdout.splitlines())
    everything = desk.run("alerts", "--all", "--json").stdout.splitlines()

    assert (lasting["kind"], lasting["severity"], lasting["resolved_at"]) == (
        "adapter_disabled",
        "P1",
        None,
    )
    assert lasting["first_at"].endswith("Z")
    assert len(everything) == 2
    assert "1 alerts" in desk.run("alerts").output


@pytest.mark.parametrize(
    ("wanted", "kinds"),
    [
        (("--kind", "zero_price"), ["zero_price"]),
        (("--severity", "p1"), ["adapter_disabled"]),
        (("--subject", "product@shop"), ["zero_price", "adapter_disabled"]),
        (("--subject", "product@shop", "--severity", "P3"), []),
    ],
)
def test_alerts_are_found_by_what_they_are_of(
    desk: Desk, wanted: tuple[str, ...], kinds: list[str]
) -> None:
    desk.write(raise_two)
    shown = desk.run("alerts", "--all", *wanted, "--json").stdout.splitlines()
    assert sorted(json.loads(line)["kind"] for line in shown) == sorted(kinds)


def test_alerts_show_only_what_is_over(desk: Desk) -> None:
    desk.write(raise_two)
    [over] = map(json.loads, desk.run("alerts", "--over", "--json").stdout.splitlines())
    assert (over["kind"], over["resolved_at"] is None) == ("zero_price", False)
    refused = desk.run("alerts", "--over", "--all")
    assert (refused.exit_code, "either --all or --over" in refused.stderr) == (1, True)
