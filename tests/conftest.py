"""What all tests share, and how several processes share the tests."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

# A hundred times fewer searches for dead cycles than unless told: a quarter of the time went there.
gc.set_threshold(70_000)

# How long an example takes says more of the machine than of the code.
settings.register_profile("penstock", deadline=None)
settings.load_profile("penstock")

pytest_plugins = ["tests.browsers", "tests.once", "tests.shell"]

#: The folders with the longest tests first: where there are many processes, they end together.
FOLDERS = ("chaos", "acceptance", "property", "contract", "architecture", "unit")
#: Files of one process: each of their tests keeps the machine busy and has to be done in time.
BUSY = (
    "tests/chaos/test_engine_",
    "tests/chaos/test_stream_",
    "tests/chaos/test_catalog_",
    "tests/chaos/test_live_",
)


class InFiles(LoadFileScheduling):
    """A file's tests run in one process, in their order, and so do all busy files."""

    def _split_scope(self, nodeid: str) -> str:
        return BUSY[0] if nodeid.startswith(BUSY) else super()._split_scope(nodeid)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--store", choices=["pgbouncer"], help="what stands between the tests and PostgreSQL"
    )


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> InFiles:
    config.option.loadscopereorder = False
    return InFiles(config, log)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes are no names: packed ones have the time in them, and all processes must agree."""
    return argname if isinstance(val, bytes) and not val.isascii() else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=_place_of_folder)


def pytest_collection_finish() -> None:
    """What was imported stays: no search for dead cycles has to look at it again."""
    gc.collect()
    gc.freeze()


def _place_of_folder(item: pytest.Item) -> int:
    here = Path(__file__).parent
    folder = item.path.relative_to(here).parts[0] if item.path.is_relative_to(here) else ""
    return FOLDERS.index(folder) if folder in FOLDERS else len(FOLDERS)


@pytest.fixture(scope="session", autouse=True)
def _own_lock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The tests do not mind another process that fetches on this machine, nor does it mind them."""
    path: Path = tmp_path_factory.mktemp("lock") / "penstock.lock"
    os.environ["PENSTOCK_SHARED__LOCK_FILE"] = str(path)
    yield
    del os.environ["PENSTOCK_SHARED__LOCK_FILE"]


@pytest.fixture(autouse=True)
def _own_logs() -> Iterator[None]:
    """What a test says of the process's logs, or runs that does, is not left to the next one."""
    yield
    structlog.reset_defaults()
