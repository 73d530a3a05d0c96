"""The door: who is let in, with which cookie, where to, and how often one may try."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from penstock.console.sessions import COOKIE
from penstock.web.keys import Keys, Scope
from tests.consoles import XSS, RunningConsole, assert_harmless, console_on, text_of
from tests.services import KEY, serving
from tests.site import Site

pytestmark = pytest.mark.asyncio(loop_scope="module")
SIGN_IN = "/console/sign-in"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def console(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningConsole]:
    folder = tmp_path_factory.mktemp("console")
    async with Site() as site, console_on(folder, site) as console:
        yield console


@asynccontextmanager
async def stranger(console: RunningConsole) -> AsyncIterator[httpx.AsyncClient]:
    """Somebody who is not signed in and follows nothing."""
    async with httpx.AsyncClient(base_url=console.address) as http:
        yield http


def flags_of(answer: httpx.Response) -> set[str]:
    """The flags of the cookie that came."""
    return {flag.strip().lower() for flag in answer.headers["set-cookie"].split(";")[1:]}


async def test_who_is_not_signed_in_sees_the_door_and_nothing_else(console: RunningConsole) -> None:
    async with stranger(console) as http:
        for path in ("/console", "/console/audit", "/console/domains?url=x", "/console/no/such"):
            answer = await http.get(path)
            assert answer.status_code == 303
            assert answer.headers["location"].startswith(f"{SIGN_IN}?to=%2Fconsole")
            assert not answer.content
        stream = await http.get("/console?_stream=1")
        changed = await http.post("/console/domains/pause", data={"domain": "x.test"})

    assert stream.status_code == 204
    assert changed.status_code == 303
    assert changed.headers["location"].startswith(SIGN_IN)


async def test_front_door_leads_to_the_console(console: RunningConsole) -> None:
    async with stranger(console) as http:
        assert (await http.get("/")).headers["location"] == "/console"


async def test_good_key_opens_and_leads_back_to_where_one_wanted_to_go(
    console: RunningConsole,
) -> None:
    wanted = "/console/domains?url=https%3A%2F%2Fshop.test%2F&workload=scrape"
    async with stranger(console) as http:
        to_door = await http.get(wanted)
        form = await http.get(to_door.headers["location"])
        assert "shop.test" in form.text
        answer = await http.post(SIGN_IN, data={"key": f"  {KEY} ", "to": wanted})

    assert (answer.status_code, answer.headers["location"]) == (303, wanted)


async def test_cookie_is_kept_from_scripts_and_from_other_sites(console: RunningConsole) -> None:
    async with stranger(console) as http:
        plain = await http.post(SIGN_IN, data={"key": KEY})
        behind_tls = await http.post(
            SIGN_IN, data={"key": KEY}, headers={"X-Forwarded-Proto": "https"}
        )

    assert {"httponly", "samesite=strict", "path=/console"} <= flags_of(plain)
    assert "secure" not in flags_of(plain)
    assert "secure" in flags_of(behind_tls)
    assert "domain" not in plain.headers["set-cookie"].lower()


@pytest.mark.parametrize(
    "to",
    [
        "//evil.test",
        "/\\evil.test",
        "https://evil.test/console",
        "https:evil.test",
        "javascript:alert(1)",
        "/console@evil.test",
        "/console.evil.test",
        "/console\\@evil.test",
        "\t//evil.test",
        "/api/v1/scrape",
        "",
    ],
)
async def test_nobody_is_led_elsewhere(console: RunningConsole, to: str) -> None:
    async with stranger(console) as http:
        answer = await http.post(SIGN_IN, data={"key": KEY, "to": to})

    assert answer.headers["location"] == "/console"


async def test_headers_cannot_be_smuggled_in(console: RunningConsole) -> None:
    async with stranger(console) as http:
        wanted = "/console/x\r\nX-Injected: 1\r\n\r\n<script>alert(1)</script>"
        answer = await http.post(SIGN_IN, data={"key": KEY, "to": wanted})

    assert answer.status_code == 303
    assert "x-injected" not in answer.headers


async def test_keys_of_one_workspace_and_wrong_ones_are_turned_away(tmp_path: Path) -> None:
    async with Site() as site, console_on(tmp_path, site) as console:
        keys = Keys(console.service.engine.store)
        _, of_workspace = await keys.create("one", [Scope.ADMIN], workspace_id="acme")
        async with stranger(console) as http:
            for secret in (of_workspace, "pk_a-wrong-one"):
                answer = await http.post(SIGN_IN, data={"key": secret, "to": "/console/audit"})

                assert answer.status_code == 401
                assert "set-cookie" not in answer.headers
                assert "This is no key of this service" in text_of(answer)
                assert 'value="/console/audit"' in answer.text
                assert secret not in answer.text


async def test_who_tries_many_keys_has_to_wait_even_with_a_good_one(tmp_path: Path) -> None:
    async with Site() as site, console_on(tmp_path, site) as console, stranger(console) as http:
        statuses = [
            (await http.post(SIGN_IN, data={"key": f"key {number}"})).status_code
            for number in range(8)
        ]
        answer = await http.post(SIGN_IN, data={"key": KEY})

    assert statuses[:3] == [401, 401, 401]
    assert statuses[-1] == 429
    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) >= 1
    assert "set-cookie" not in answer.headers


async def test_signing_out_ends_the_session_for_good(console: RunningConsole) -> None:
    async with console.guest(KEY) as guest:
        cookie = guest.token
        await guest.post("/sign-out")
        guest.http.cookies.set(COOKIE, cookie, path="/console")
        again = await guest.http.get("/console/audit", follow_redirects=False)

    assert again.status_code == 303


async def test_nobody_is_signed_out_by_another_site(console: RunningConsole) -> None:
    async with console.guest(KEY) as guest:
        await guest.post("/sign-out", csrf="wrong")

        assert (await guest.http.get("/console/audit", follow_redirects=False)).status_code == 200


async def test_signing_in_anew_ends_the_session_before(console: RunningConsole) -> None:
    async with console.guest(KEY) as guest, stranger(console) as http:
        before = guest.token
        await guest.http.post(SIGN_IN, data={"key": KEY})
        assert guest.token != before
        http.cookies.set(COOKIE, before, path="/console")

        assert (await http.get("/console/audit")).status_code == 303


async def test_static_files_are_ours_and_nothing_else(console: RunningConsole) -> None:
    async with stranger(console) as http:
        for name, kind in (("console.css", "text/css"), ("console.js", "text/javascript")):
            answer = await http.get(f"/console/static/{name}")
            assert answer.headers["content-type"].startswith(kind)
            assert answer.headers["x-content-type-options"] == "nosniff"
        for name in ("..%2Fdoor.py", "%2e%2e/door.py", "nothing.css", "..%5Cdoor.py"):
            assert (await http.get(f"/console/static/{name}")).status_code in (303, 404)


async def test_hostile_words_at_the_door_stay_words(console: RunningConsole) -> None:
    async with stranger(console) as http:
        for words in XSS:
            assert_harmless(await http.get(SIGN_IN, params={"to": words}))


async def test_console_can_be_switched_off(tmp_path: Path) -> None:
    async with Site() as site, serving(site, tmp_path, console={"enabled": False}) as service:
        assert (await service.http.get("/console")).status_code == 404
        assert (await service.http.get(SIGN_IN)).status_code == 404
