"""A file that one process at a time can hold."""

import subprocess
import sys
from pathlib import Path

import pytest

from penstock.core.errors import SettingsError
from penstock.core.lock import only_process

TRY = """
import sys
from pathlib import Path
from penstock.core.lock import only_process
with only_process(Path(sys.argv[1]), "taken"):
    print("mine", flush=True)
    sys.stdin.read()
"""


def other(path: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", TRY, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_another_process_is_refused_until_the_first_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    first = other(path)
    assert first.stdout
    assert first.stdout.readline() == "mine\n"
    with pytest.raises(SettingsError, match="taken"), only_process(path, "taken"):
        pass
    first.kill()
    first.communicate()
    with only_process(path, "taken"), only_process(path, "taken"):
        pass


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "lock"
    with pytest.raises(SettingsError, match="nowhere"), only_process(path, "taken"):
        pass
