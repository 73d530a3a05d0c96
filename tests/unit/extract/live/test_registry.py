"""The live adapter of a URL is always the same one; others are loaded only where they are named."""

from itertools import permutations
from pathlib import Path

import pytest

from penstock.core.errors import SettingsError
from penstock.core.urls import parse
from penstock.extract.live.adapter import LiveAdapter, Snapshot, Source
from penstock.extract.live.registry import (
    ENTRY_POINTS,
    LIVE_ADAPTERS,
    SETTING,
    LiveRegistry,
    open_live_registry,
)

FILE = """
from penstock.extract.live.adapter import LiveAdapter, Snapshot

def read(source):
    return Snapshot({"text": source.document.first_text("p")}, "in_play")

ADAPTER = LiveAdapter("mine", "1.0.0", read, urls=("mine.example/*",))
"""


def read(source: Source) -> Snapshot:
    return Snapshot({}, "in_play")


def adapter(adapter_id: str, *urls: str) -> LiveAdapter:
    return LiveAdapter(adapter_id, "1.0.0", read, urls=urls)


@pytest.mark.parametrize(
    ("url", "adapter_id"),
    [
        ("http://live.test/match/7", "cricket"),
        ("http://live01.test/match/7?minutes=3", "cricket"),
        ("http://live.test/match/7/socket", "cricket"),
        ("http://live.test/match/7/plain?minutes=3", "cricket-html"),
        ("http://live.test/match/7/data.json", "cricket-data"),
        ("http://live.test/score", None),
        ("https://other.example/match/7", None),
    ],
)
def test_own_adapters_are_chosen_by_url(url: str, adapter_id: str | None) -> None:
    chosen = open_live_registry().choose(parse(url))

    assert (chosen.id if chosen else None) == adapter_id


def test_pattern_that_says_most_wins_and_ids_settle_a_tie() -> None:
    vague, late = adapter("a", "x.example/*"), adapter("c", "x.example/m/*")
    early = adapter("b", "x.example/m/*")
    for order in permutations([vague, late, early]):
        assert LiveRegistry(order).choose(parse("http://x.example/m/1")) is early


def test_adapters_are_listed_and_found_by_id() -> None:
    registry = open_live_registry()

    assert [one.id for one in registry.all] == [
        *("cricket", "cricket-data", "cricket-html", "selectors")
    ]
    assert registry.get("cricket") is LIVE_ADAPTERS[0]
    assert registry.get("tennis") is None


def test_id_can_be_taken_only_once() -> None:
    with pytest.raises(SettingsError, match="two live adapters have the id 'cricket'"):
        LiveRegistry([*LIVE_ADAPTERS, adapter("cricket")])


def test_adapter_of_a_file_joins_the_own_ones(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(FILE)
    chosen = open_live_registry([str(file)]).choose(parse("https://mine.example/1"))

    assert chosen is not None
    assert chosen.id == "mine"


def test_adapter_of_a_package_joins_when_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    info = tmp_path / "pkg_live-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: pkg_live\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{ENTRY_POINTS}]\ntheirs = pkg_live:ADAPTER\n")
    (tmp_path / "pkg_live.py").write_text(FILE)

    assert open_live_registry(["theirs"]).get("mine")
    assert open_live_registry().get("mine") is None


@pytest.mark.parametrize(
    "text",
    [
        *("1 / 0", "", "ADAPTER = 5"),
        "from penstock.extract.adapters.product import ADAPTER",
    ],
)
def test_broken_file_is_an_error_that_names_the_setting(tmp_path: Path, text: str) -> None:
    file = tmp_path / "mine.py"
    file.write_text(text)
    with pytest.raises(SettingsError, match=SETTING):
        open_live_registry([str(file)])
