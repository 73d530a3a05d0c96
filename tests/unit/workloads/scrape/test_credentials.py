"""Credentials: asked for once, kept for minutes, sent to their own site, shown to nobody."""

import asyncio
import copy
import io
import json
import pickle
from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr

from penstock.core.errors import CredentialNotFound, CredentialsUnavailable, SettingsError
from penstock.core.log import configure, get_logger
from penstock.core.urls import parse
from penstock.extract.adapter import Adapter, Findings
from penstock.kernel.fetchers.http import HttpFetcher
from penstock.kernel.settings import HttpSettings
from penstock.workloads.scrape.credentials import (
    NO_LOGIN,
    Backend,
    Credential,
    CredentialClient,
    Logins,
    as_login,
)
from tests.clocks import HandClock
from tests.shell import eventually
from tests.site import Reply, Reset, Site
from tests.unit.kernel.fetchers.tls import tls_front, trust
from tests.unit.workloads.scrape.backends import (
    HOST,
    KEY,
    admission_of,
    as_json,
    open_client,
    path_of,
)

SECRET = "s3cr3t-value"
PATH = path_of("w1", "linkedin")


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as site:
        site.reply(HOST, PATH, as_json({"token": SECRET}))
        yield site


async def test_a_credential_is_asked_for_with_the_service_key(site: Site) -> None:
    async with open_client(site) as client:
        found = await client.get_credential("w1", "linkedin")

    (hit,) = site.hits_of(HOST)
    assert found.reveal() == {"token": SECRET}
    assert (hit.method, hit.headers["X-Service-Key"]) == ("GET", KEY)


async def test_an_envelope_is_opened(site: Site) -> None:
    site.reply(HOST, PATH, as_json({"success": True, "data": {"token": "inside"}, "error": None}))
    async with open_client(site) as client:
        assert (await client.get_credential("w1", "linkedin")).reveal() == {"token": "inside"}


async def test_those_who_ask_together_are_answered_by_one_call(site: Site) -> None:
    site.reply(HOST, PATH, Reply(200, b'{"token": "x"}', delay=0.05))
    async with open_client(site) as client:
        found = await asyncio.gather(*(client.get_credential("w1", "linkedin") for _ in range(50)))

    assert len(site.hits_of(HOST)) == 1
    assert len({id(each) for each in found}) == 1


async def test_one_who_gives_up_does_not_spoil_it_for_the_others(site: Site) -> None:
    site.reply(HOST, PATH, Reply(200, b'{"token": "x"}', delay=0.1))
    async with open_client(site) as client:
        first = asyncio.create_task(client.get_credential("w1", "linkedin"))
        second = asyncio.create_task(client.get_credential("w1", "linkedin"))
        await eventually(lambda: bool(site.hits_of(HOST)))
        first.cancel()

        assert (await second).reveal() == {"token": "x"}
    assert len(site.hits_of(HOST)) == 1


async def test_workspaces_and_providers_are_kept_apart(site: Site) -> None:
    for workspace in ("w1", "w2"):
        for provider in ("linkedin", "indeed"):
            site.reply(HOST, path_of(workspace, provider), as_json({"token": workspace + provider}))
    async with open_client(site) as client:
        for _ in range(2):
            for workspace in ("w1", "w2"):
                for provider in ("linkedin", "indeed"):
                    found = await client.get_credential(workspace, provider)
                    assert found.reveal() == {"token": workspace + provider}

    assert len(site.hits_of(HOST)) == 4


async def test_what_is_invalidated_is_asked_for_again(site: Site) -> None:
    site.reply(HOST, PATH, as_json({"token": "old"}), as_json({"token": "new"}))
    async with open_client(site) as client:
        await client.get_credential("w1", "linkedin")
        client.invalidate("w1", "linkedin")

        assert (await client.get_credential("w1", "linkedin")).reveal() == {"token": "new"}


async def test_an_answer_that_was_invalidated_on_its_way_is_not_kept(site: Site) -> None:
    old = Reply(200, b'{"token": "old"}', delay=0.1)
    site.reply(HOST, PATH, old, as_json({"token": "new"}))
    async with open_client(site) as client:
        early = asyncio.create_task(client.get_credential("w1", "linkedin"))
        await eventually(lambda: bool(site.hits_of(HOST)))
        client.invalidate("w1", "linkedin")

        assert (await early).reveal() == {"token": "old"}
        assert (await client.get_credential("w1", "linkedin")).reveal() == {"token": "new"}


@pytest.mark.parametrize("trouble", [Reply(503), Reply(500), Reply(429), Reset()])
async def test_trouble_is_tried_again_after_one_two_and_four_seconds(
    site: Site, trouble: Reply | Reset
) -> None:
    site.reply(HOST, PATH, trouble, trouble, trouble, as_json({"token": "at last"}))
    clock = HandClock()
    async with open_client(site, clock) as client:
        assert (await client.get_credential("w1", "linkedin")).reveal() == {"token": "at last"}

    assert clock.slept == [1.0, 2.0, 4.0]


async def test_trouble_that_stays_is_given_up_and_not_kept(site: Site) -> None:
    site.reply(HOST, PATH, *[Reply(502)] * 4, as_json({"token": "back"}))
    async with open_client(site) as client:
        with pytest.raises(CredentialsUnavailable):
            await client.get_credential("w1", "linkedin")

        assert (await client.get_credential("w1", "linkedin")).reveal() == {"token": "back"}


async def test_a_missing_credential_is_told_at_once(site: Site) -> None:
    clock = HandClock()
    async with open_client(site, clock) as client:
        with pytest.raises(CredentialNotFound, match="'unheard-of'"):
            await client.get_credential("w1", "unheard-of")

    assert (len(site.hits_of(HOST)), clock.slept) == (1, [])


@pytest.mark.parametrize(
    "answer",
    [
        Reply(401),
        Reply(403),
        Reply(200, b"<html>"),
        Reply(200, b"[1]"),
        Reply(307, headers={"Location": "http://elsewhere.test/"}),
    ],
)
async def test_an_answer_that_is_no_credential_is_not_asked_for_again(
    site: Site, answer: Reply
) -> None:
    site.reply(HOST, PATH, answer)
    async with open_client(site) as client:
        with pytest.raises(CredentialsUnavailable):
            await client.get_credential("w1", "linkedin")

    assert len(site.hits_of(HOST)) == 1
    assert site.hits_of("elsewhere.test") == [], "the key goes nowhere else"


@pytest.mark.parametrize("name", ["", ".", ".."])
async def test_a_name_that_means_another_path_is_not_found(site: Site, name: str) -> None:
    async with open_client(site) as client:
        with pytest.raises(CredentialNotFound):
            await client.get_credential(name, "linkedin")
        with pytest.raises(CredentialNotFound):
            await client.get_credential("w1", name)

    assert site.hits_of(HOST) == []


async def test_names_cannot_leave_their_place_in_the_path(site: Site) -> None:
    async with open_client(site) as client:
        with pytest.raises(CredentialNotFound):
            await client.get_credential("../../admin", "x?y#z")

    (hit,) = site.hits_of(HOST)
    assert hit.path == "/api/v1/workspaces/..%2F..%2Fadmin/credentials/x%3Fy%23z"


async def test_plain_http_is_refused_before_the_key_is_sent(site: Site) -> None:
    with pytest.raises(SettingsError, match="https only"):
        async with open_client(site, url="http://backend.example/api/v1"):
            pass


async def test_https_is_spoken_and_the_certificate_is_checked(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.reply("shop01.test", PATH, as_json({"token": SECRET}))
    trust(monkeypatch)
    async with tls_front(site) as port:
        admission = admission_of({"*.test": f"127.0.0.1:{port}"})
        clock = HandClock()
        async with HttpFetcher(HttpSettings(), admission, clock) as fetcher:

            def client_of(host: str) -> CredentialClient:
                backend = Backend(f"https://{host}/api/v1", SecretStr(KEY))
                return CredentialClient(backend, fetcher, admission, clock)

            async with client_of("shop01.test") as client:
                found = await client.get_credential("w1", "linkedin")
            async with client_of("shop02.test") as stranger:
                with pytest.raises(CredentialsUnavailable):
                    await stranger.get_credential("w1", "linkedin")

    assert found.reveal() == {"token": SECRET}


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "169.254.169.254"])
async def test_no_credential_url_reaches_a_private_address(site: Site, host: str) -> None:
    url = f"https://{host}:{site.canary.port}/api/v1"
    async with open_client(site, url=url) as client:
        with pytest.raises(CredentialsUnavailable):
            await client.get_credential("w1", "linkedin")

    assert site.canary.connections == 0


async def test_a_credential_is_neither_printed_nor_logged_nor_written_down(site: Site) -> None:
    async with open_client(site) as client:
        found = await client.get_credential("w1", "linkedin")
        log = io.StringIO()
        configure("DEBUG", log)
        get_logger().warning("look", found=found, login=as_login(found, parse("https://a.test/")))
        configure()

        assert SECRET not in repr(found) + str(found) + f"{found}" + log.getvalue()
        assert SECRET not in repr(vars(client))
        for write_down in (pickle.dumps, copy.deepcopy, json.dumps):
            with pytest.raises(TypeError):
                write_down(found)


async def test_errors_quote_nothing_of_the_answer(site: Site) -> None:
    site.reply(HOST, PATH, Reply(200, f'{{"token": "{SECRET}"'.encode()))
    async with open_client(site) as client:
        with pytest.raises(CredentialsUnavailable) as caught:
            await client.get_credential("w1", "linkedin")

    assert caught.value.__cause__ is None
    assert SECRET not in str(caught.value)


def adapter(login: str = "linkedin", domain: str = "members.test") -> Adapter:
    return Adapter(
        "members",
        "1.0.0",
        "linkedin_profile",
        lambda _: Findings().found("linkedin_profile"),
        domain=domain,
        login=login,
    )


async def test_a_login_goes_to_the_adapters_own_site_only(site: Site) -> None:
    async with open_client(site) as client:
        logins = Logins(client, admission_of(site.known_hosts))

        async def headers(url: str, who: Adapter | None) -> object:
            return (await logins.login_for(who, parse(url), "w1")).headers

        bearer = {"Authorization": f"Bearer {SECRET}"}
        assert await headers("https://members.test/in/x", adapter()) == bearer
        assert await headers("https://www.members.test/in/x", adapter()) == bearer
        for url in (
            "https://evil.example/in/x",
            "https://members.test.evil.example/",
            "https://notmembers.test/",
        ):
            assert await logins.login_for(adapter(), parse(url), "w1") is NO_LOGIN
        assert await headers("https://members.test/in/x", adapter(login="")) == {}
        assert await headers("https://members.test/in/x", None) == {}


async def test_a_login_is_not_sent_in_the_clear(site: Site) -> None:
    async with open_client(site) as client:
        logins = Logins(client, admission_of(site.known_hosts))

        url = parse("http://members.example/")
        assert await logins.login_for(adapter(domain="members.example"), url, "w1") is NO_LOGIN
    assert site.hits_of(HOST) == []


def login(**values: object) -> tuple[object, object]:
    found = as_login(Credential(values), parse("https://www.members.test/in/x"))
    return found.headers, found.cookies


def test_a_credential_becomes_headers_or_cookies() -> None:
    assert login(token="t") == ({"Authorization": "Bearer t"}, {})
    assert login(access_token="t") == ({"Authorization": "Bearer t"}, {})
    assert login(username="u", password="p") == ({"Authorization": "Basic dTpw"}, {})
    assert login(headers={"X-Api-Key": "k"}) == ({"X-Api-Key": "k"}, {})
    assert login(cookies={"li_at": "c"}) == ({}, {"li_at": "c"})
    exported = [
        {"name": "a", "value": "1", "domain": ".members.test"},
        {"name": "b", "value": "2", "domain": "other.test"},
    ]
    assert login(cookies=exported) == ({}, {"a": "1"})


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"token": "a\r\nX-Evil: 1"},
        {"headers": {"X-A": "b\nc"}},
        {"headers": {"Host": "evil.example"}},
        {"headers": ["a"]},
        {"cookies": {"a": "b; c=d"}},
        {"cookies": [{"name": "a"}]},
        {"cookies": "a=b"},
        {"username": "u"},
    ],
)
def test_what_cannot_be_sent_safely_is_no_login(values: dict[str, object]) -> None:
    with pytest.raises(CredentialsUnavailable) as caught:
        login(**values)

    assert caught.value.__context__ is None
