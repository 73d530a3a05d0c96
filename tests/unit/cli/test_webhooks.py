"""`penstock webhooks`: callbacks for people to look at and to send again."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, update
from typer.testing import CliRunner, Result

from penstock.cli.webhooks import app
from penstock.core.clock import SystemClock
from penstock.events.log import EventLog
from penstock.events.ports import Message
from penstock.events.tables import deliveries
from penstock.notify.webhooks import WebhookSubscription
from penstock.store.settings import StoreSettings
from penstock.store.store import open_store
from penstock.store.unit import Unit
from tests.stores import make_sqlite, rows_of
from tests.unit.notify.deliveries import finished


class Desk:
    """A store with callbacks in it, and the command."""

    def __init__(self, folder: Path) -> None:
        self.settings = StoreSettings(folder=folder)

    def announce(self, *messages: Message) -> None:
        self._write(lambda unit, log: log.append(unit, messages))

    def park(self, seq: int) -> None:
        parked = update(deliveries).where(deliveries.c.seq == seq)
        values = {"state": "parked", "attempts": 4, "error": "the receiver answered 500"}
        self._write(lambda unit, _: unit.run(parked.values(values)) and None)

    def deliver(self, seq: int) -> None:
        sent = delete(deliveries).where(deliveries.c.seq == seq)
        self._write(lambda unit, _: unit.run(sent) and None)

    def owed(self) -> list[dict[str, Any]]:
        async def look() -> list[dict[str, Any]]:
            async with open_store(self.settings, SystemClock()) as store:
                return await rows_of(store, deliveries)

        return asyncio.run(look())

    def _write(self, work: Any) -> None:
        async def write() -> None:
            async with open_store(self.settings, SystemClock()) as store:
                log = EventLog(store, [WebhookSubscription()])

                def step(unit: Unit) -> None:
                    work(unit, log)

                await store.write(step)

        asyncio.run(write())

    def run(self, *arguments: str) -> Result:
        return CliRunner().invoke(app, arguments)

    def list(self, *arguments: str) -> Sequence[dict[str, Any]]:
        ran = self.run("list", "--json", *arguments)
        assert ran.exit_code == 0, ran.output
        return [json.loads(line) for line in ran.stdout.splitlines()]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setenv("PENSTOCK_STORE__FOLDER", str(tmp_path))
    asyncio.run(make_sqlite(tmp_path))
    desk = Desk(tmp_path)
    desk.announce(
        finished(name="first"),
        finished(name="second"),
        finished(None, name="nobody's"),
        Message("other", "fetch.finished", "k", {"callback_url": "http://backend.test/"}),
    )
    desk.park(1)
    return desk


def test_callbacks_are_listed_with_where_they_stand(desk: Desk) -> None:
    second, first = desk.list()

    assert (first["id"], first["state"], first["attempts"]) == ("first", "parked", 4)
    assert (first["key"], first["receiver"]) == ("job-1", "backend.test")
    assert first["error"] == "the receiver answered 500"
    assert (second["id"], second["state"]) == ("second", "waiting")
    assert "results" not in json.dumps(first)


def test_of_one_that_was_sent_nobody_knows_how_often_it_was_tried(desk: Desk) -> None:
    desk.deliver(1)

    assert [(each["state"], each["attempts"]) for each in desk.list()] == [
        ("waiting", 0),
        ("sent", None),
    ]
    assert "None" not in desk.run("list").stdout


def test_only_the_parked_ones_are_listed_on_demand(desk: Desk) -> None:
    assert [entry["id"] for entry in desk.list("--parked")] == ["first"]
    assert "first" in desk.run("list", "--parked").stdout
    assert "second" not in desk.run("list", "--parked").stdout


def test_one_is_sent_again_by_its_id(desk: Desk) -> None:
    ran = desk.run("resend", "first", "--json")

    assert (ran.exit_code, json.loads(ran.stdout)) == (0, {"resent": 1})
    assert {row["state"] for row in desk.owed()} == {"waiting"}


def test_all_that_are_parked_are_sent_again(desk: Desk) -> None:
    assert json.loads(desk.run("resend", "--all", "--json").stdout) == {"resent": 1}
    assert desk.list("--parked") == []


@pytest.mark.parametrize("arguments", [[], ["first", "--all"]])
def test_it_has_to_be_said_which(desk: Desk, arguments: list[str]) -> None:
    assert desk.run("resend", *arguments).exit_code == 2


@pytest.mark.parametrize("stranger", ["unknown", "nobody's", "other"])
def test_what_is_no_callback_is_told(desk: Desk, stranger: str) -> None:
    ran = desk.run("resend", stranger)

    assert ran.exit_code == 1
    assert len(desk.owed()) == 2
