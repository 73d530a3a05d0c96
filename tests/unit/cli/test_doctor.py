"""The doctor looks for Chromium where the browsers will."""

from pathlib import Path

import pytest

from penstock.cli import doctor
from penstock.kernel.fetchers.browser import chromium
from penstock.settings import load_settings


def test_a_chromium_that_is_named_and_missing_is_a_problem(tmp_path: Path) -> None:
    settings = load_settings(browser={"executable": str(tmp_path / "none")})

    finding = doctor._chromium(settings)

    assert finding.state == "problem"
    assert "PENSTOCK_BROWSER__EXECUTABLE" in finding.do


def test_a_chromium_that_is_found_is_shown() -> None:
    finding = doctor._chromium(load_settings(browser={"executable": "/bin/sh"}))

    assert (finding.state, finding.says) == ("ok", "/bin/sh")


def test_no_chromium_is_worth_a_note(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(chromium, "PLACES", ())
    monkeypatch.setenv("HOME", str(tmp_path))

    finding = doctor._chromium(load_settings())

    assert finding.state == "note"
    assert "apt-get install" in finding.do
