"""The `penstock` command, run in this process."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.cli import main
from tests.shell import Ran

FOLDER = "PENSTOCK_STORE__FOLDER"
Run = Callable[..., Ran]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in an empty folder, from which no store is named."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(FOLDER, raising=False)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["penstock", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return Ran(int(ended.value.code or 0), *capsys.readouterr())

    return run
