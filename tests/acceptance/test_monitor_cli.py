"""`penstock monitor` as ops run it."""

import asyncio
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock.cli import app
from tests.shell import Ran, Shell

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


async def _until_read(number: int) -> None:
    """Wait until so many prices are there."""
    async with asyncio.timeout(30):
        while len((await monitor("prices", "list", "--json")).objects) < number:
            pass
