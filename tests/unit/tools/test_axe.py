"""axe-core comes with npm, is fetched once, and is only taken as it is known."""

import hashlib
import tarfile
from io import BytesIO
from pathlib import Path

import pytest

from tools.provision import axe
from tools.provision.maven import cache_folder
from tools.provision.model import UnavailableError

NPM_THAT_PACKS = """#!/bin/sh
echo asked >> "$0.calls"
cp "$0.tgz" "$4/axe-core-VERSION.tgz"
"""
SCRIPT = b"a very small axe"


@pytest.fixture(autouse=True)
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An npm that has a very small axe."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    program = tmp_path / "npm"
    program.write_text(NPM_THAT_PACKS.replace("VERSION", axe.VERSION))
    program.chmod(0o755)
    with tarfile.open(tmp_path / "npm.tgz", "w:gz") as packed:
        member = tarfile.TarInfo(axe.SCRIPT)
        member.size = len(SCRIPT)
        packed.addfile(member, BytesIO(SCRIPT))
    monkeypatch.setenv("PENSTOCK_TEST_NPM", str(program))
    return program


def test_axe_is_fetched_once(npm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(axe, "SHA256", hashlib.sha256(SCRIPT).hexdigest())

    assert axe.axe_script() == axe.axe_script()

    assert axe.axe_script().read_bytes() == SCRIPT
    assert len(npm.with_suffix(".calls").read_text().splitlines()) == 1
    assert [path.name for path in cache_folder().iterdir()] == [f"axe-core-{axe.VERSION}.js"]


def test_another_axe_than_the_known_one_is_not_taken() -> None:
    with pytest.raises(UnavailableError, match="not axe-core"):
        axe.axe_script()

    assert list(cache_folder().iterdir()) == []


def test_no_npm_means_no_axe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PENSTOCK_TEST_NPM")
    monkeypatch.setattr(axe, "find", lambda _tool: None)

    with pytest.raises(UnavailableError, match="no npm"):
        axe.axe_script()
