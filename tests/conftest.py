"""What all tests share."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest_plugins = ["tests.browsers", "tests.shell"]


@pytest.fixture(scope="session", autouse=True)
def _own_lock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The tests do not mind another process that fetches on this machine, nor does it mind them."""
    path: Path = tmp_path_factory.mktemp("lock") / "penstock.lock"
    os.environ["PENSTOCK_SHARED__LOCK_FILE"] = str(path)
    yield
    del os.environ["PENSTOCK_SHARED__LOCK_FILE"]
