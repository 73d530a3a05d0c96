"""Candidates: other versions of adapters, which are found by their full name only."""

from dataclasses import replace
from pathlib import Path

import pytest

from penstock.core.errors import SettingsError
from penstock.core.urls import parse
from penstock.extract.adapter import Adapter
from penstock.extract.adapters import sgammo
from penstock.extract.registry import Registry, open_registry
from penstock.kernel.model import Page

NEXT = replace(sgammo.ADAPTER, version="9.0.0")
URL = "https://www.sgammo.com/product/9mm/box/"
ADAPTER_FILE = """
from dataclasses import replace
from penstock.extract.adapters import sgammo
ADAPTER = replace(sgammo.ADAPTER, version="9.0.0")
"""


def registry() -> Registry:
    found = Registry([sgammo.ADAPTER])
    found.register_candidate(NEXT)
    return found


def test_candidate_is_found_by_its_full_name() -> None:
    assert registry().get("sgammo@9.0.0") is NEXT
    assert registry().get("sgammo") is sgammo.ADAPTER
    assert registry().get(sgammo.ADAPTER.name) is sgammo.ADAPTER
    assert registry().get("sgammo@0.0.1") is None


def test_candidate_is_never_chosen_by_url() -> None:
    assert registry().choose(parse(URL)).adapter is sgammo.ADAPTER
    assert registry().choose(parse(URL), "sgammo@9.0.0").adapter is NEXT
    assert NEXT not in registry().list()


def test_page_read_by_a_candidate_names_it() -> None:
    page = Page(URL, 200, {"Content-Type": "text/html"}, b"<p>nothing</p>", 0.0)

    assert registry().extract(page, "sgammo@9.0.0").adapter == "sgammo@9.0.0"


@pytest.mark.parametrize("again", [NEXT, sgammo.ADAPTER])
def test_version_can_be_taken_only_once(again: Adapter) -> None:
    with pytest.raises(SettingsError, match=f"'{again.name}'"):
        registry().register_candidate(again)


def test_setting_names_the_file_of_a_candidate(tmp_path: Path) -> None:
    file = tmp_path / "sgammo_next.py"
    file.write_text(ADAPTER_FILE)

    found = open_registry((), [str(file)])

    assert "sgammo@9.0.0" in found.names()
    assert found.choose(parse(URL)).adapter is sgammo.ADAPTER
