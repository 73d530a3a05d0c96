"""The runbook of live pages names commands, settings, metrics and alerts that exist, and all."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from penstock.cli import app
from penstock.core.metrics import Metrics
from penstock.settings import ALIASES, unknown_variables
from penstock.workloads.live import scraper, supervising
from penstock.workloads.live.metrics import LiveGauges, LiveMetrics
from penstock.workloads.live.model import ErrorType
from penstock.workloads.live.names import FORM
from penstock.workloads.live.settings import LiveSettings
from tests.unit.deploy.test_stream_docs import LINK, anchors

ROOT = Path(__file__).resolve().parents[3]
RUNBOOK = ROOT / "docs" / "operations" / "live.md"
TEXT = RUNBOOK.read_text()
COMPOSE = ROOT / "deploy" / "compose.live.yaml"
COMMAND = re.compile(r"penstock live\s+([^`|#<>\n;]+)")
SETTING = re.compile(r"PENSTOCK_[A-Z]+__[A-Z_]*[A-Z]")
ROW = re.compile(r"^\| `([A-Z_]+)` \| ([^|]*) \| ([^|]*)\| ([^|]*)\|$", re.MULTILINE)


def named() -> list[str]:
    """Every `penstock live …` that is named for operators, once."""
    rules = (ROOT / "deploy" / "prometheus" / "live.yml").read_text()
    rules = re.sub(r"\{\{[^}]*\}\}", "MATCH", rules)
    command = yaml.safe_load(COMPOSE.read_text())["services"]["live"]["command"]
    found = [said for text in (TEXT, rules) for said in COMMAND.findall(text)]
    said = [re.split(r" (?:says|names|or) ", each)[0].strip(" .") for each in found]
    return list(dict.fromkeys([*said, " ".join(command[2:])]))


@pytest.mark.parametrize("said", named())
def test_command_and_its_options_exist(said: str) -> None:
    command: Any = get_command(app)
    words = ["live", *shlex.split(said)]
    while words and hasattr(command, "get_command"):
        command = command.get_command(None, word := words.pop(0))
        assert command is not None, f"no command {word} in: penstock live {said}"
    options = {name for each in command.params for name in [*each.opts, *each.secondary_opts]}
    assert {word for word in words if word.startswith("-")} <= options


def test_settings_exist() -> None:
    names = set(SETTING.findall(TEXT)) - {"PENSTOCK_LIVE__KEY"}
    assert names
    assert unknown_variables(dict.fromkeys(names, "1")) == []


def test_every_setting_is_told_with_its_default_and_its_other_names() -> None:
    variables = {place: name for name, place in ALIASES.items()}
    paths = {place: path for path, place in FORM.items()}
    told = {
        key: (default, name.strip(), path.strip()) for key, default, name, path in ROW.findall(TEXT)
    }
    assert list(told) == [name.upper() for name in LiveSettings.model_fields]
    for key, (default, name, path) in told.items():
        place = "live", key.lower()
        other = variables.get(place, "")
        assert default == shown(getattr(LiveSettings(), key.lower()))
        assert name == ("the same" if other == key else other and f"`{other}`")
        assert path == (f"`{paths[place]}`" if place in paths else "")


def shown(value: Any) -> str:
    if value in (None, ()):
        return "none"
    return str(value).lower() if isinstance(value, bool) else f"{value:g}"


def test_every_metric_and_every_type_of_error_is_explained() -> None:
    metrics = Metrics()
    live = LiveMetrics(metrics)
    LiveGauges(metrics, store=None)  # type: ignore[arg-type]
    for more in [*metrics._more, live._latencies]:
        assert f"`{more.family().name}" in TEXT
    assert [each for each in ErrorType if f"| `{each}` |" not in TEXT] == []


def test_alerts_of_our_own_are_explained() -> None:
    for kind in (*scraper.ALERTS, supervising.MEMORY_ALERT):
        assert f"`{kind}`" in TEXT


def test_links_lead_somewhere() -> None:
    links = LINK.findall(TEXT)
    assert links
    for name, heading in links:
        target = RUNBOOK.parent / name if name else RUNBOOK
        assert target.is_file(), name
        if heading:
            assert heading in anchors(target), f"{name}#{heading}"
