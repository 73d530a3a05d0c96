"""The OpenAPI document tells the truth: schemathesis finds nothing, with all of its checks."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from penstock.kernel.fetchers.browser import chromium
from tests.services import KEY, listening, serving
from tests.site import Site

ROOT = Path(__file__).resolve().parents[2]
SCHEMATHESIS = Path(sys.executable).with_name("schemathesis")
#: The same ones in every run; others and more of them with PENSTOCK_TEST_API_EXAMPLES.
EXAMPLES = os.environ.get("PENSTOCK_TEST_API_EXAMPLES")
AMOUNT = ("--max-examples", EXAMPLES) if EXAMPLES else ("--max-examples", "5", "--seed", "1")


async def test_schemathesis_finds_nothing(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A service that offers no browser: with one that cannot be started it would not be ready.
    monkeypatch.setattr(chromium, "PLACES", ())
    monkeypatch.setattr(chromium, "DOWNLOADS", ())
    # Nobody is at home at the hosts of the examples in the document: nothing leaves the machine.
    hosts = {"known_hosts": {**site.known_hosts, "*.com": "127.0.0.1:9"}}
    async with (
        serving(
            site,
            tmp_path,
            admission=hosts,
            # Nor is it asked again meanwhile: their circuit would open, which is a 503.
            robots={"unreachable_first_seconds": 300},
            scrape={"max_queue_depth": 1_000_000},
        ) as service,
        listening(service) as address,
    ):
        for number in (1, 2):
            shop = {"name": f"Shop {number}", "domain": f"shop0{number}.test", "retailer": "Shops"}
            assert (await service.post("/monitor/sources", shop)).status_code == 201
        code, output = await run_schemathesis(f"{address}/openapi.json", tmp_path)

    # Behind what went wrong there are thousands of words of advice.
    assert code == 0, output[output.find("= FAILURES =") :][:6_000]
    assert "Stateful" in output


async def run_schemathesis(document: str, folder: Path) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        SCHEMATHESIS,
        *("run", document, "--checks", "all", *AMOUNT, "--no-color"),
        *("-H", f"X-Service-Key: {KEY}", "--request-timeout", "30"),
        cwd=folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "SCHEMATHESIS_HOOKS": "tests.openapi_hooks",
        },
    )
    output, _ = await process.communicate()
    return process.returncode or 0, output.decode()
