"""The demo of live pages: a match is followed ball by ball, until it has ended by itself."""

import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console

from tests.site import Site
from tests.site.commands import start
from tests.site.live_match import ends_at, match_at
from tests.site.monitor_demo import Demo

#: Of this demo only: by default a page is asked for every two seconds at most.
POLICY = """
domains:
  live.test:
    tokens_per_interval: 10
    interval_seconds: 1
    request_delay_ms: 100
"""
NUMBER, MINUTES, SPEED, SECONDS = 7, 1, 20, 0.5
URL = f"http://live.test/match/{NUMBER}/plain?minutes={MINUTES}&speed={SPEED}"

Row = dict[str, Any]


async def show_live(console: Console, site: Site, settings: Mapping[str, str]) -> None:
    """Show a live match; raise `NotSeenError` if anything is not as it should be."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        policy = folder / "policy.yaml"
        policy.write_text(POLICY)
        own = {
            **settings,
            "PENSTOCK_POLICIES__FILES": str(policy),
            "PENSTOCK_STORE__FOLDER": str(folder / "data"),
            "PENSTOCK_SHARED__LOCK_FILE": str(folder / "lock"),
            "PENSTOCK_LOG__LEVEL": "ERROR",
        }
        demo = Demo(console, site, own, folder)
        demo.head("A page that changes by the second, with a faster policy than the default (2 s):")
        for line in POLICY.split("\n")[1:-1]:
            demo.tell(line)
        await _follow(demo)


async def _follow(demo: Demo) -> None:
    """Follow a match as a person would, and read the lines as they come."""
    command = ["live", "watch", URL, "--interval", str(SECONDS), "--json"]
    demo.show(command[:-1])
    process = await start(command, demo.settings)
    assert process.stdout
    told: list[Row] = []
    async for line in process.stdout:
        told.append(json.loads(line))
        if told[-1]["event"] == "update":
            demo.tell(_score(told[-1]))
    is_well = await process.wait() == 0 and told[-1].get("kind") == "completed"
    demo.saw(is_well, "the match has ended, and with it who watched it")
    updates = [each for each in told if each["event"] == "update"]
    numbers = [each["sequence"] for each in updates]
    demo.saw(
        numbers == list(range(1, len(updates) + 1)), "every change has its number, without gap"
    )
    last = match_at(NUMBER, ends_at(NUMBER, MINUTES), MINUTES).as_json()
    demo.saw(updates[-1]["payload"] == last, f"the last of them is the result: {last['result']}")


def _score(update: Row) -> str:
    match = update["payload"]
    score = match["score"]
    told = f"{score['batting']} {score['runs']}/{score['wickets']} ({score['overs']} overs)"
    return f"#{update['sequence']:<3} {update['state']:<8} {told}  {match['result'] or ''}".rstrip()
