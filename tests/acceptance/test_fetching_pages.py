"""What came back: its text and bytes, whether it is a block, and what it says to robots."""

import json

import pytest

from penstock.app import Platform
from penstock.kernel.model import Blocked, Broken, Request
from tests.platforms import fetch, page_of, pages_asked
from tests.site import Reply, Site
from tests.site.encodings import CHARSET_TEXTS, CODINGS, encoded_page
from tests.site.pages import page


@pytest.mark.parametrize(("path", "text"), CHARSET_TEXTS.items())
async def test_a_page_is_read_in_its_charset(
    site: Site, platform: Platform, path: str, text: str
) -> None:
    outcome = await platform.pipeline.run(Request(f"http://charset.test{path}"))

    assert text in page_of(outcome).text


@pytest.mark.parametrize("path", sorted(CODINGS.keys() - {"/unknown"}))
async def test_every_content_coding_gives_the_same_bytes(
    site: Site, platform: Platform, path: str
) -> None:
    outcome = await platform.pipeline.run(Request(f"http://encodings.test{path}"))

    assert page_of(outcome).body == encoded_page()


async def test_an_unknown_content_coding_is_no_page(site: Site, platform: Platform) -> None:
    outcome = await platform.pipeline.run(Request("http://encodings.test/unknown"))

    assert isinstance(outcome.failure, Broken)
    assert outcome.failure.reason == "bad_encoding"


async def test_headers_in_no_encoding_can_be_written_down(site: Site, platform: Platform) -> None:
    headers = {"ETag": '"caf\xe9"', "X-DataDome": "\xff"}
    site.reply("shop01.test", "/stray", Reply(200, page("Stray").content, headers))

    outcome = await platform.pipeline.run(Request("http://shop01.test/stray"))

    assert page_of(outcome).headers["ETag"] == '"café"'
    assert json.dumps(outcome.as_json(), ensure_ascii=False).encode()


# Blocks


@pytest.mark.parametrize(
    ("path", "status", "reason", "signal"),
    [
        ("/captcha", 200, "captcha", "text:captcha-text"),
        ("/cloudflare", 403, "captcha", "header:cloudflare"),
        ("/denied", 200, "access_denied", "title:access-denied"),
        ("/denied?status=403", 403, "access_denied", "title:access-denied"),
        ("/shell", 200, "empty_shell", "text:empty-shell"),
    ],
)
async def test_a_blocked_page_is_a_failure_that_keeps_the_evidence(
    site: Site, path: str, status: int, reason: str, signal: str
) -> None:
    outcome = await fetch(site, f"http://blocked.test{path}")

    failure = outcome.failure
    assert isinstance(failure, Blocked)
    assert (failure.status, failure.reason, failure.signal) == (status, reason, signal)
    assert outcome.as_json()["failure"]["signal"] == signal
    assert outcome.page
    assert outcome.page.body
    assert not outcome.ok
    assert len(pages_asked(site, "blocked.test")) == 1


async def test_a_page_with_a_captcha_in_a_form_is_a_page(site: Site, platform: Platform) -> None:
    outcome = await platform.pipeline.run(Request("http://blocked.test/legit-recaptcha"))

    assert b"g-recaptcha" in page_of(outcome).body


# What a page says to robots


@pytest.mark.parametrize(
    ("path", "tags"),
    [
        ("/header", ["noindex", "nofollow"]),
        ("/agent", ["otherbot: none", "penstock: noindex"]),
        ("/meta", ["noindex", "nofollow", "noarchive"]),
        ("/untagged", []),
    ],
)
async def test_the_robots_tags_of_a_page_are_recorded(
    site: Site, platform: Platform, path: str, tags: list[str]
) -> None:
    outcome = await platform.pipeline.run(Request(f"http://tagged.test{path}"))

    assert outcome.as_json()["page"]["robots_tags"] == tags
