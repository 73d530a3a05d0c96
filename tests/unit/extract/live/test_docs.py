"""What docs/live-adapters.md shows works as it is written there."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from penstock.core.urls import parse
from penstock.extract.live.adapter import LiveAdapter, Snapshot
from penstock.extract.live.registry import LIVE_ADAPTERS, SETTING, open_live_registry
from penstock.extract.live.selectors import SELECTORS
from penstock.kernel.records import ExtractReason
from tests.site.live_ground import TROUBLED_HOSTS
from tests.site.live_match import match_at
from tests.unit.extract.live.sources import html_of, refused, seen, source

DOCS = (Path(__file__).parents[4] / "docs/live-adapters.md").read_text()


def block(language: str) -> str:
    [text] = re.findall(rf"```{language}\n(.*?)```", DOCS, re.DOTALL)
    assert isinstance(text, str)
    return text


@pytest.fixture
def board(tmp_path: Path) -> LiveAdapter:
    file = tmp_path / "board.py"
    file.write_text(block("python"))
    chosen = open_live_registry([str(file)]).choose(parse("http://live.test/score"))
    assert chosen is not None
    return chosen


def board_page(runs: str = "24", wickets: str = "0") -> str:
    return (
        f'<h1>A v B</h1><p id="score"><span class="runs">{runs}</span>/'
        f'<span class="wickets">{wickets}</span> (<span class="overs">2.0</span> ov)</p>'
    )


def test_adapter_of_the_example_reads_its_page(board: LiveAdapter) -> None:
    score = {"runs": 24, "wickets": 0, "overs": "2.0"}

    assert board.read(source(board_page())) == Snapshot(
        {"title": "A v B", "score": score}, "in_play"
    )
    assert seen(board.read(source(board_page(wickets="10")))).state == "ended"


def test_adapter_of_the_example_fails_as_the_text_says(board: LiveAdapter) -> None:
    found = refused(board.read(source(board_page().replace("runs", "points"))))

    assert found.detail in DOCS
    assert refused(board.read(source(board_page(runs="-")))).reason is (
        ExtractReason.PAGE_STRUCTURE_CHANGED
    )


@pytest.mark.parametrize(("seconds", "state"), [(60, "in_play"), (560, "break"), (9_999, "ended")])
def test_options_of_the_example_read_the_match(seconds: float, state: str) -> None:
    options: dict[str, Any] = json.loads(block("json"))
    match = match_at(7, seconds)
    SELECTORS.check_options(options)
    found = seen(SELECTORS.read(source(html_of(match).page.text, options)))

    assert found.state == state == match.state
    assert found.payload == {
        "runs": str(match.runs),
        "wickets": str(match.wickets),
        "status": match.status,
        "result": match.result,
    }
    assert SELECTORS.way_for(options) == "page"


def test_everything_that_is_named_exists() -> None:
    named = set(re.findall(r"live-[a-z]+\.test", DOCS))

    assert all(f"`{one.id}`" in DOCS for one in LIVE_ADAPTERS)
    assert SETTING in DOCS
    assert named <= set(TROUBLED_HOSTS)
