"""Pages: shown to who is signed in, changed by who may, and nothing in them but what is ours."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from penstock.console.audit import Audit
from penstock.console.pages import POLICY
from penstock.store.switches import StoredSwitches
from penstock.web.keys import Keys, Scope
from tests.consoles import (
    Guest,
    RunningConsole,
    actions_of,
    console_on,
    foreign_parts,
    pages_of,
    text_of,
)
from tests.services import KEY
from tests.site import Site

pytestmark = pytest.mark.asyncio(loop_scope="module")
PAUSE = "/domains/pause"
SOON = {"keys_seconds": 0.05}
WANTED: dict[str, Any] = {"domain": "shop01.test", "reason": "why not"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def console(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningConsole]:
    folder = tmp_path_factory.mktemp("console")
    quick = {"refresh_seconds": 0.05}
    async with Site() as site, console_on(folder, site, console=quick, api=SOON) as console:
        yield console


async def paused(console: RunningConsole) -> dict[str, str]:
    return await StoredSwitches(console.service.engine.store).paused()


async def test_every_page_opens_quickly_and_has_nothing_foreign(console: RunningConsole) -> None:
    for path in pages_of(console):
        page = await console.get(path)

        assert page.status_code == 200, path
        if is_download(page):
            continue
        assert foreign_parts(page) == [], path
        assert page.text.count("<h1") == 1, path
        assert page.elapsed.total_seconds() < 2, path


async def test_every_page_says_that_it_is_not_to_be_framed_stored_or_scripted(
    console: RunningConsole,
) -> None:
    for path in (*pages_of(console), "/no/such/page", "/sign-in"):
        page = await console.get(path)
        headers = page.headers

        assert headers["x-content-type-options"] == "nosniff", path
        if is_download(page):
            continue
        assert headers["content-security-policy"] == POLICY, path
        assert headers["x-frame-options"] == "DENY", path
        assert headers["cache-control"] == "no-store", path
        assert headers["referrer-policy"] == "same-origin", path


async def test_what_is_nowhere_is_said_in_a_page(console: RunningConsole) -> None:
    page = await console.get("/no/such/page")

    assert page.status_code == 404
    assert "There is no such page" in text_of(page)


async def test_reader_sees_every_page_and_every_button_is_disabled(console: RunningConsole) -> None:
    for path in pages_of(console):
        page = await console.reader.get(path)
        assert page.status_code == 200, path
        for form in re.findall(r'<form[^>]*method="post".*?</form>', page.text, re.S):
            if "/sign-out" not in form:
                buttons = re.findall(r"<button[^>]*>", form)
                assert all("disabled" in button for button in buttons), (path, form)


async def test_reader_changes_nothing(console: RunningConsole) -> None:
    reader = console.reader
    elsewhere = await _send(reader, reader.csrf, referer="")
    note = await reader.post(PAUSE, **WANTED)

    assert elsewhere.status_code == 403
    assert "may look, and not change" in text_of(note)
    assert await paused(console) == {}


async def test_every_action_is_refused_to_readers_and_without_the_word_of_the_session(
    console: RunningConsole,
) -> None:
    for path in actions_of(console):
        forbidden = await console.reader.http.post(path, data={"csrf": console.reader.csrf})
        strange = await console.http.post(path, data={"csrf": "strange"})
        assert forbidden.status_code == 403, path
        assert strange.status_code == 403, path


@pytest.mark.parametrize("said", [None, "", "wrong", "é", "0" * 64])
async def test_form_without_the_word_of_its_session_is_refused(
    console: RunningConsole, said: str | None
) -> None:
    answer = await _send(console, said, referer="")

    assert answer.status_code == 403
    assert await paused(console) == {}


async def test_word_of_another_session_is_refused(console: RunningConsole) -> None:
    async with console.guest(KEY) as other:
        assert (await _send(console, other.csrf, referer="")).status_code == 403
    assert await paused(console) == {}


async def test_trouble_leads_back_to_a_page_of_ours_only(console: RunningConsole) -> None:
    ours, theirs = f"{console.address}/console/domains", "https://evil.test/console/domains"
    back = await _send(console, console.csrf, referer=ours, reason="")
    lost = await _send(console, console.csrf, referer=theirs, reason="")

    assert (back.status_code, back.headers["location"]) == (303, "/console/domains")
    assert lost.status_code == 422
    assert "location" not in lost.headers


async def test_change_is_written_down_and_refused_ones_are_not(console: RunningConsole) -> None:
    audit = Audit(console.service.engine.store)
    before = len(await audit.list())

    await console.reader.post(PAUSE, **WANTED)
    await console.post(PAUSE, domain="shop01.test", reason="")
    assert len(await audit.list()) == before
    await console.post(PAUSE, **WANTED)
    await console.post("/domains/resume", domain="shop01.test")

    newest = await audit.list(limit=2)
    assert {row["action"] for row in newest} == {"pause", "resume"}
    assert {row["who"] for row in newest} == {"service"}


async def test_note_is_shown_once(console: RunningConsole) -> None:
    done = await console.post(PAUSE, **WANTED)
    again = await console.get("/domains")
    await console.post("/domains/resume", domain="shop01.test")

    assert "Contact with shop01.test is paused." in text_of(done)
    assert "Contact with shop01.test is paused." not in text_of(again)


async def test_large_forms_are_refused(console: RunningConsole) -> None:
    answer = await console.http.post(
        f"/console{PAUSE}", data={"csrf": console.csrf, "reason": "x" * (1 << 20), "domain": "x"}
    )
    many = await console.http.post(
        f"/console{PAUSE}", data={"csrf": console.csrf, "x": [str(n) for n in range(3000)]}
    )

    assert answer.status_code == 413
    assert many.status_code == 400
    assert await paused(console) == {}


async def test_stream_sends_the_live_part_and_nothing_while_nothing_changes(
    console: RunningConsole,
) -> None:
    async with console.http.stream("GET", "/console?_stream=1") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        first = await anext(stream.aiter_text())

    assert first.startswith("event: live\ndata: {")
    assert "<html" not in first


async def test_stream_ends_with_its_session(console: RunningConsole) -> None:
    async with (
        asyncio.timeout(30),
        console.guest(KEY) as guest,
        guest.http.stream("GET", "/console?_stream=1") as stream,
    ):
        parts = stream.aiter_text()
        await anext(parts)
        await guest.post("/sign-out")
        async for _ in parts:
            pass


async def test_stream_ends_with_its_key(console: RunningConsole) -> None:
    keys = Keys(console.service.engine.store)
    key, secret = await keys.create("for a moment", [Scope.READ])
    async with (
        asyncio.timeout(30),
        console.guest(secret) as guest,
        guest.http.stream("GET", "/console?_stream=1") as stream,
    ):
        parts = stream.aiter_text()
        await anext(parts)
        await keys.revoke(key.id)
        async for _ in parts:
            pass


async def test_stream_ends_when_the_service_does(tmp_path: Path) -> None:
    async with (
        Site() as site,
        asyncio.timeout(30),
        console_on(tmp_path, site, console={"refresh_seconds": 0.05}) as console,
        console.http.stream("GET", "/console?_stream=1") as stream,
    ):
        parts = stream.aiter_text()
        await anext(parts)
        console.service.api.stop()
        async for _ in parts:
            pass


def is_download(answer: httpx.Response) -> bool:
    return "attachment" in answer.headers.get("content-disposition", "")


async def _send(
    guest: Guest, csrf: str | None, referer: str, reason: str = "why not"
) -> httpx.Response:
    """A form as it comes, not as our pages would send it."""
    data = {"domain": "shop01.test", "reason": reason}
    return await guest.http.post(
        f"/console{PAUSE}",
        data=data if csrf is None else {**data, "csrf": csrf},
        headers={"Referer": referer} if referer else {},
        follow_redirects=False,
    )
