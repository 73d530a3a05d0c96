"""`penstock monitor` as ops run it."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from penstock.cli import app
from tests.shell import Ran, Shell
from tests.site import Reply
from tests.site.shops import product, product_page

FAST = {
    "PENSTOCK_MONITOR__TICK_SECONDS": "0.1",
    "PENSTOCK_MONITOR__REQUESTS_PER_SECOND": "1000",
    "PENSTOCK_MONITOR__REQUEST_DELAY_MS": "0",
    "PENSTOCK_MONITOR__MAX_CONCURRENT": "10",
}


@pytest.fixture(autouse=True)
def same_settings(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands in this process have the settings of those in others."""
    monkeypatch.chdir(shell.folder)
    for name, value in shell.environment.items():
        monkeypatch.setenv(name, value)


async def monitor(*arguments: str) -> Ran:
    """A command, run here: a process of its own takes seconds to begin."""
    ran = await asyncio.to_thread(CliRunner().invoke, app, ["monitor", *arguments])
    return Ran(ran.exit_code, ran.stdout, ran.stderr)


async def test_pages_are_read_and_their_prices_shown(shell: Shell, tmp_path: Path) -> None:
    await monitor("sources", "add", "Shop 1", "shop01.test")
    await monitor("sources", "approve", "Shop 1")
    urls = [f"http://shop01.test/product/{number}" for number in (1, 2)]
    await monitor("targets", "add", *urls)
    up = await shell.start("up", "--no-api", **FAST)
    await _until_read(2)
    up.terminate()
    await up.wait()

    history = await monitor("prices", "history", urls[0])
    assert "┤" in history.out
    assert "Shop 1" in history.out
    [price] = (await monitor("prices", "history", urls[0], "--json")).objects
    assert price["ingestion_run_type"] == "SCRAPE"
    assert price["visibility_status"] == "INELIGIBLE"

    product = price["product_id"]
    seen = await monitor("prices", "current", product, "--json")
    assert seen.objects == []
    await monitor("sources", "edit", "Shop 1", "--visibility", "ELIGIBLE")
    [seen_now] = (await monitor("prices", "current", product, "--json")).objects
    assert seen_now["price"] == price["price"]

    hidden = await monitor(
        "prices", "correct", price["price_id"], "--hide", "--why", "wrong box", "--json"
    )
    assert hidden.objects[0]["reason"] == "wrong box"
    assert (await monitor("prices", "current", product, "--json")).objects == []

    csv = await monitor("prices", "history", urls[0], "--csv", "-")
    assert csv.out.splitlines()[0].startswith("price_id,product_id")
    parquet = tmp_path / "prices.parquet"
    assert (await monitor("prices", "history", urls[0], "--parquet", str(parquet))).code == 0
    assert parquet.read_bytes()[:4] == b"PAR1"

    replayed = await monitor("replay", "--adapter", "product", "--since", "1d", "--json")
    assert replayed.code == 0, replayed.err
    assert json.loads(replayed.out.splitlines()[-1])["summary"]["pages"] == 2
    why = await monitor("why", urls[0], "--save", str(tmp_path / "pages"))
    assert "accept" in why.out
    assert (tmp_path / "pages" / "last.html").read_bytes()


async def test_what_was_read_is_found_by_what_it_is_of(shell: Shell) -> None:
    urls = [f"http://shop01.test/product/{number}" for number in (1, 2, 3)]
    good, unclear, gone = urls
    shown = product_page("shop01.test", 2).replace(product("shop01.test", 2).price_text, "$1.75", 1)
    shell.site.reply("shop01.test", "/product/2", Reply(200, shown))
    shell.site.reply("shop01.test", "/product/3", Reply(404, "gone"))
    await monitor("sources", "add", "Shop 1", "shop01.test")
    await monitor("sources", "approve", "Shop 1")
    await monitor("targets", "add", *urls)
    [launch] = (await monitor("runs", "start", *urls, "--json")).objects
    [run] = launch["runs"]
    up = await shell.start("up", "--no-api", **FAST)
    await _until_over(run)
    up.terminate()
    await up.wait()

    [price] = (await monitor("prices", "list", "--target", good, "--json")).objects
    await _prices_are_found(price, elsewhere=unclear)
    await monitor("prices", "correct", price["price_id"], "--hide", "--why", "wrong box")
    [story] = (await monitor("prices", "show", price["price_id"], "--json")).objects
    assert story["correction_action"] == "HIDE"
    assert [each["reason"] for each in story["corrections"]] == ["wrong box"]
    assert "1 corrections" in (await monitor("prices", "show", price["price_id"])).out

    [offer] = (await monitor("quarantine", "list", "--target", unclear, "--json")).objects
    assert (await monitor("quarantine", "list", "--run", run, "--json")).objects == [offer]
    assert (await monitor("quarantine", "list", "--target", good, "--json")).objects == []
    assert offer["id"] in (await monitor("quarantine", "list", "--run", run)).out

    [retried] = (await monitor("runs", "retry", run, "--json")).objects
    assert (retried["accepted"], retried["left"]) == (1, 0)
    assert (await monitor("targets", "show", gone, "--json")).objects[0]["run_id"]
    again = await monitor("runs", "retry", run)
    assert (again.code, "is being read now" in again.err) == (1, True)

    part = await monitor("replay", "--adapter", "product", "--limit", "1", "--json")
    summary = part.objects[-1]["summary"]
    assert (summary["pages"], summary["is_complete"]) == (1, False)
    whole = await monitor("replay", "--adapter", "product", "--limit", "9", "--json")
    assert whole.objects[-1]["summary"]["is_complete"]


async def _prices_are_found(price: dict[str, Any], elsewhere: str) -> None:
    """By product, run and time, and not where they are not."""
    of_product = ("prices", "list", "--product", price["product_id"], "--json")
    assert (await monitor(*of_product)).objects == [price]
    assert (await monitor(*of_product, "--run", price["ingestion_run_id"])).objects == [price]
    assert (await monitor(*of_product, "--since", "2020-01-01")).objects == [price]
    assert (await monitor(*of_product, "--until", "1d")).objects == []
    assert (await monitor(*of_product, "--until", price["observed_at"])).objects == []
    assert (await monitor(*of_product, "--target", elsewhere)).objects == []
    csv = await monitor("prices", "list", "--product", price["product_id"], "--csv", "-")
    assert [line.partition(",")[0] for line in csv.out.splitlines()[1:]] == [price["price_id"]]


async def _until_over(run: str) -> None:
    """Wait until a run has come to its end."""
    async with asyncio.timeout(30):
        while not (await monitor("runs", "show", run, "--json")).objects[0]["completed_at"]:
            pass


async def _until_read(number: int) -> None:
    """Wait until so many prices are there."""
    async with asyncio.timeout(30):
        while len((await monitor("prices", "list", "--json")).objects) < number:
            pass
