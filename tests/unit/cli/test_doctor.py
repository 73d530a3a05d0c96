"""The doctor looks for Chromium where the browsers will."""

from pathlib import Path

import pytest

from penstock.cli import doctor
from penstock.kernel.fetchers.browser import chromium
from penstock.settings import load_settings
from tests.browsers import Place


def test_a_chromium_that_is_named_and_missing_is_a_problem(tmp_path: Path) -> None:
    settings = load_settings(browser={"executable": str(tmp_path / "none")})

    finding = doctor._chromium(settings)

    assert finding.state == "problem"
    assert "PENSTOCK_BROWSER__EXECUTABLE" in finding.do


def test_a_chromium_that_starts_is_shown(browsers: Place) -> None:
    settings = load_settings(browser=browsers.settings())

    finding = doctor._chromium(settings)

    assert (finding.state, finding.says) == ("ok", f"{settings.browser.executable} starts")
    assert browsers.files_left() == []


def test_a_chromium_that_does_not_start_is_a_problem(browsers: Place) -> None:
    settings = load_settings(browser=browsers.settings(executable="/bin/false"))

    finding = doctor._chromium(settings)

    assert finding.state == "problem"
    assert "does not start" in finding.says


def test_no_chromium_is_worth_a_note(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(chromium, "PLACES", ())
    monkeypatch.setenv("HOME", str(tmp_path))

    finding = doctor._chromium(load_settings())

    assert finding.state == "note"
    assert "apt-get install" in finding.do
