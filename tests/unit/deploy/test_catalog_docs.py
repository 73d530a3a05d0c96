"""The runbook of the product crawler names commands and settings that exist."""

import re
import shlex
from pathlib import Path

import pytest
import typer

from penstock.cli.catalog import app as catalog_app
from penstock.core.metrics import Metrics
from penstock.settings import unknown_variables
from penstock.workloads.catalog.metrics import CatalogGauges, CatalogMetrics
from penstock.workloads.catalog.model import Category
from tests.unit.deploy.test_stream_docs import LINK, anchors

ROOT = Path(__file__).resolve().parents[3]
RUNBOOK = ROOT / "docs" / "operations" / "catalog.md"
PAGES = [RUNBOOK, ROOT / "README.md", ROOT / "docs" / "decisions" / "0015-catalog.md"]
COMMAND = re.compile(r"penstock catalog ([^`|#<>\n]+)")
SETTING = re.compile(r"PENSTOCK_[A-Z]+__[A-Z_]*[A-Z]")


def named() -> list[str]:
    """Every `penstock catalog …` that the pages name, once."""
    texts = [page.read_text().replace("\\\n", " ") for page in PAGES]
    found = [said.strip() for text in texts for said in COMMAND.findall(text)]
    return list(dict.fromkeys(said for said in found if said[0].isalpha()))


@pytest.mark.parametrize("said", named())
def test_command_and_its_options_exist(said: str) -> None:
    command = typer.main.get_command(catalog_app)
    words = shlex.split(said)
    while words and hasattr(command, "commands"):
        assert words[0] in command.commands, said
        command = command.commands[words.pop(0)]
    options = {name for each in command.params for name in [*each.opts, *each.secondary_opts]}
    assert {word for word in words if word.startswith("-") and word != "-"} <= options


def test_settings_exist() -> None:
    names = set(SETTING.findall(RUNBOOK.read_text()))
    assert names
    assert unknown_variables(dict.fromkeys(names, "1")) == []


def test_every_metric_and_every_category_is_explained() -> None:
    metrics, text = Metrics(), RUNBOOK.read_text()
    CatalogMetrics(metrics)
    CatalogGauges(metrics, store=None)  # type: ignore[arg-type]
    for more in metrics._more:
        assert f"| `{more.family().name}" in text
    assert [each for each in Category if f"`{each}`" not in text] == []


def test_links_lead_somewhere() -> None:
    for name, heading in LINK.findall(RUNBOOK.read_text()):
        target = RUNBOOK.parent / name if name else RUNBOOK
        assert target.is_file(), name
        if heading:
            assert heading in anchors(target), f"{name}#{heading}"
