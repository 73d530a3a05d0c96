"""The lane of tasks by itself: for what a task waits, and how much is remembered of tasks."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from penstock.extract.adapters.product import ADAPTER
from penstock.extract.registry import Registry
from penstock.kernel.model import Wait
from penstock.queue.ports import Claim
from penstock.workloads.scrape import lane as scrape
from penstock.workloads.scrape import providing
from penstock.workloads.scrape.credentials import Logins
from penstock.workloads.scrape.lane import ScrapeLane
from penstock.workloads.scrape.providing import Provider
from tests.archives import open_archive
from tests.site import Site
from tests.stores import sqlite_stores
from tests.unit.workloads.scrape.backends import (
    HOST,
    admission_of,
    as_json,
    open_client,
    path_of,
)

MEMBERS = replace(
    ADAPTER, id="members", urls=("members.test/*",), domain="members.test", login="members"
)
PAYLOAD = {"target_type": "product", "url": "http://members.test/1", "workspace": "acme"}


@pytest.fixture
async def lane(tmp_path: Path) -> AsyncIterator[ScrapeLane]:
    async with sqlite_stores(tmp_path) as stores:
        yield (await open_archive(stores, tmp_path)).lane


def claim(number: int, attempts: int = 1, **payload: Any) -> Claim:
    content = {**PAYLOAD, **payload}
    return Claim(f"task-{number}", "scrape", content, "g", 5, "acme", "", 0, 0, 1, attempts)


def test_only_so_many_turns_are_remembered(
    lane: ScrapeLane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scrape, "MOST_TURNS", 3)
    for number in range(5):
        lane.will_wait(claim(number, sync=True), Wait(10.0 + number, "pacing", ""))

    assert [lane.turn_of(f"task-{number}") for number in range(5)] == [None, None, 12, 13, 14]


@pytest.mark.parametrize(("attempts", "waits"), [(1, True), (2, True), (3, False)])
def test_a_site_is_not_waited_for_that_puts_off_again_and_again(
    lane: ScrapeLane, attempts: int, waits: bool
) -> None:
    rate_limited = Wait(2000.0, "retry", "the site asks us to slow down", line=True)

    assert lane.will_wait(claim(1, attempts, sync=True), rate_limited) is waits


async def test_only_so_many_logins_are_kept_for_tasks_that_do_not_begin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(providing, "MOST_GIVEN", 2)
    async with Site() as site, open_client(site) as client:
        site.reply(HOST, path_of("acme", "members"), as_json({"token": "s3cret"}))
        known = {**site.known_hosts, "members.test": site.address}
        provider = Provider(Registry([MEMBERS]), Logins(client, admission_of(known)))
        claims = [claim(number) for number in range(4)]
        said = [await provider.provide(each) for each in claims if provider.needs(each)]
        given = [bool(provider.take(each).headers) for each in claims]

    assert said == [None] * 4
    assert given == [False, False, True, True]


def test_an_item_that_cannot_be_read_needs_no_login() -> None:
    provider = Provider(Registry([MEMBERS]), None)

    assert provider.needs(claim(1))
    assert not provider.needs(claim(1, url="not a url"))
    assert not provider.needs(claim(1, url=None))
