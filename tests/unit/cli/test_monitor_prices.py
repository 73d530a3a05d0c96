"""`penstock monitor prices`: what is shown, and what is written to files."""

import asyncio
import csv
import json
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet  # type: ignore[import-untyped]
from typer.testing import CliRunner, Result

from penstock.cli.monitor_prices import app
from penstock.core.clock import SystemClock
from penstock.products.writing import write_offers
from penstock.store.settings import StoreSettings
from penstock.store.store import open_store
from penstock.store.unit import Unit
from tests.stores import make_sqlite
from tests.unit.products.offers import HOUR, NOON, open_shop, show

MANY = 60


def fill(unit: Unit) -> None:
    """Many prices of one item, and one of another; consumers see the first shop only."""
    seen, unseen = open_shop(unit, "seen"), open_shop(unit, "unseen")
    show(unit, seen)
    for place in range(MANY):
        write_offers(unit, [seen.offer("1", run=f"run-{place}", at=NOON + place * HOUR)])
    write_offers(unit, [unseen.offer("2", at=NOON)])


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_STORE__FOLDER", str(tmp_path))

    async def write() -> None:
        await make_sqlite(tmp_path)
        async with open_store(StoreSettings(folder=tmp_path), SystemClock()) as store:
            await store.write(fill)

    asyncio.run(write())


def run(*arguments: str) -> Result:
    ran = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    return ran


def rows(*arguments: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run(*arguments, "--json").stdout.splitlines()]


def read_csv(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


@pytest.mark.usefixtures("store")
def test_a_file_has_all_prices_though_a_list_has_fifty(tmp_path: Path) -> None:
    table, column = tmp_path / "prices.csv", tmp_path / "prices.parquet"
    ran = run("list", "--csv", str(table), "--parquet", str(column))
    assert ran.stdout == ""
    written = read_csv(table)
    assert len({row["price_id"] for row in written}) == MANY + 1
    assert parquet.read_table(column)["price_id"].to_pylist() == [
        row["price_id"] for row in written
    ]
    assert len(rows("list")) == 50


@pytest.mark.usefixtures("store")
def test_a_file_has_as_many_as_are_asked_for(tmp_path: Path) -> None:
    table = tmp_path / "prices.csv"
    shown = rows("list", "--limit", "55", "--csv", str(table))
    assert [row["price_id"] for row in shown] == [row["price_id"] for row in read_csv(table)]
    assert len(shown) == 55


@pytest.mark.usefixtures("store")
def test_a_file_that_is_made_of_several_parts_has_one_head(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.workloads.monitor.exporting.AT_ONCE", 7)
    [first, *_] = rows("list", "--limit", "1")
    table = tmp_path / "prices.csv"
    run("history", first["product_id"], "--csv", str(table))
    assert len({row["observed_at"] for row in read_csv(table)}) == MANY
    assert table.read_text(encoding="utf-8").count("price_id") == 1


@pytest.mark.usefixtures("store")
def test_prices_are_found_by_what_a_source_sells() -> None:
    [other] = [row for row in rows("list", "--limit", "100") if row["source"] == "unseen"]
    assert rows("list", "--source-product", other["source_product_id"]) == [other]


@pytest.mark.usefixtures("store")
def test_consumers_see_the_past_of_sources_that_are_eligible() -> None:
    every = rows("list", "--limit", "100")
    [unseen] = {row["product_id"] for row in every if row["source"] == "unseen"}
    [seen] = {row["product_id"] for row in every if row["source"] == "seen"}
    past = rows("visible", seen, "--since", "2026-03-05")
    times = [row["observed_at"] for row in past]
    assert times == sorted(times)
    assert times[0].startswith("2026-03-05")
    assert {"visibility_status", "adapter_id"}.isdisjoint(past[0])
    assert rows("visible", seen, "--until", "2026-03-04") == []
    assert f"penstock monitor prices history {unseen}" in run("visible", unseen).stdout
    assert "0 prices that consumers see" in run("visible", unseen).stdout
