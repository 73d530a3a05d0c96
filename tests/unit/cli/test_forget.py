"""`penstock forget`: asks, erases, and says what it erased."""

import asyncio
import json
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from penstock.cache.sql import SqlCache
from penstock.cli.forget import forget
from penstock.events.log import EventLog
from penstock.events.ports import Message
from penstock.kernel.model import Request
from penstock.store.settings import FILE_NAME
from penstock.workloads.fetch.lane import item_for as fetch_item
from penstock.workloads.stream.lane import item_for as stream_item
from penstock.workloads.stream.model import cache_key
from tests.archives import Archive, open_archive
from tests.stores import sqlite_stores

app = typer.Typer()
app.command()(forget)


class Desk:
    """A store folder with tasks in it, and the command."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def prepare(self, steps: Callable[[Archive], Awaitable[None]]) -> None:
        async def run() -> None:
            async with sqlite_stores(self._folder) as stores:
                await steps(await open_archive(stores, self._folder))

        asyncio.run(run())

    def run(self, *arguments: str, answer: str = "") -> Result:
        return CliRunner().invoke(app, arguments, input=answer)

    def erased(self, *arguments: str) -> dict[str, int]:
        ran = self.run(*arguments, "--yes", "--json")
        assert ran.exit_code == 0, ran.output
        counts: dict[str, int] = json.loads(ran.stdout)["erased"]
        return counts

    def hold_open(self) -> closing[sqlite3.Connection]:
        """The database as a service has it: whoever closes it last would clean up behind all."""
        connection = sqlite3.connect(self._folder / FILE_NAME)
        connection.execute("SELECT count(*) FROM scrape_tasks").fetchall()
        return closing(connection)

    def bytes_in_files(self) -> bytes:
        return b"".join(file.read_bytes() for file in self._folder.glob(f"{FILE_NAME}*"))

    @property
    def blobs(self) -> int:
        return len(list((self._folder / "blobs").glob("??/??/*")))


async def two_workspaces(archive: Archive) -> None:
    await archive.submit("acme", "https://a.test/1")
    await archive.submit("acme", "https://a.test/2")
    await archive.submit("other", "https://a.test/1")
    await archive.work()


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setenv("PENSTOCK_STORE__FOLDER", str(tmp_path))
    monkeypatch.setenv("PENSTOCK_STORE__BUSY_SECONDS", "0.1")
    desk = Desk(tmp_path)
    desk.prepare(two_workspaces)
    return desk


def test_a_workspace_is_erased_with_the_blobs_that_nobody_else_needs(desk: Desk) -> None:
    assert desk.blobs == 2

    erased = desk.erased("--workspace", "acme")

    assert erased == {
        "tasks": 2,
        "jobs": 0,
        "outcomes": 0,
        "items": 2,
        "events": 2,
        "submissions": 2,
        "pages": 0,
        "feeds": 0,
        "updates": 0,
        "errors": 0,
        "blobs": 1,
    }
    assert desk.blobs == 1, "the other workspace has the same page"
    assert desk.erased("--workspace", "other")["blobs"] == 1
    assert desk.blobs == 0


def test_a_page_is_erased_for_all_workspaces(desk: Desk) -> None:
    erased = desk.erased("--url", "http://a.test/1?utm_source=mail")

    assert (erased["tasks"], erased["blobs"]) == (2, 1)


def test_a_page_is_erased_from_durable_fetching_too(desk: Desk) -> None:
    async def fetched(archive: Archive) -> None:
        await archive.queue.put([fetch_item(Request("https://f.test/1"), "g", "run")])
        await archive.finish(await archive.claim("fetch"), archive.fetch)

    desk.prepare(fetched)

    erased = desk.erased("--url", "https://f.test/1")

    assert (erased["outcomes"], erased["items"], erased["events"], erased["blobs"]) == (1, 1, 1, 1)


def test_a_page_is_erased_from_the_page_fetcher_too(desk: Desk) -> None:
    url = "https://s.test/1"

    async def streamed(archive: Archive) -> None:
        cache, log = SqlCache(archive.store), EventLog(archive.store)
        event = {"url": url, "cache_key": cache_key(url)}
        await cache.put(cache_key(url), b"page", 60)
        await cache.put(cache_key("https://s.test/2"), b"other", 60)
        await archive.queue.put([stream_item(url, "s.test")])
        message = Message("1", "webpage_log", "key", event)
        await archive.store.write(lambda unit: log.append(unit, [message]))

    desk.prepare(streamed)

    erased = desk.erased("--url", url)

    assert (erased["items"], erased["events"], erased["pages"]) == (1, 1, 1)


def test_what_is_erased_is_in_no_file_though_a_service_has_them_open(desk: Desk) -> None:
    async def told(archive: Archive) -> None:
        await archive.submit("clinic", "https://a.test/3", callback_url="https://b.test/jane-doe")
        await archive.work()

    with desk.hold_open():
        desk.prepare(told)
        assert b"jane-doe" in desk.bytes_in_files()

        desk.erased("--workspace", "clinic")

        assert b"jane-doe" not in desk.bytes_in_files()


def test_a_log_that_is_in_use_is_named(desk: Desk) -> None:
    with desk.hold_open() as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM scrape_tasks").fetchall()

        ran = desk.run("--workspace", "acme", "--yes")

    assert ran.exit_code == 0
    assert "the log of the database, which is in use now, still has" in ran.output


def test_it_asks_first(desk: Desk) -> None:
    assert desk.run("--workspace", "acme", answer="n\n").exit_code == 1
    assert desk.run("--workspace", "acme", answer="y\n").exit_code == 0
    assert desk.erased("--workspace", "acme")["tasks"] == 0


@pytest.mark.parametrize(
    "arguments", [[], ["--workspace", "w", "--url", "https://a.test/"], ["--url", "not a url"]]
)
def test_it_has_to_be_said_what(desk: Desk, arguments: list[str]) -> None:
    assert desk.run(*arguments, "--yes").exit_code == 2
    assert desk.erased("--workspace", "acme")["tasks"] == 2
