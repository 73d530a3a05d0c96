"""What a browser does with a page: it waits, scrolls, looks, and leaves images out."""

import gzip
from collections.abc import Mapping
from typing import Any

import pytest

from penstock.app import Platform
from tests.browsers import browse
from tests.platforms import page_of
from tests.site import Raw, Reply, Site
from tests.site.pages import page
from tests.site.scripted import LIST_LENGTH, LIST_STEP

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_an_element_is_waited_for(site: Site, platform: Platform) -> None:
    site.reply(
        "scripted.test",
        "/late",
        page(
            "Late",
            "<script>setTimeout(() => document.body.append(Object.assign("
            "document.createElement('b'), {id: 'late'})), 300)</script>",
        ),
    )

    outcome = await platform.pipeline.run(browse("http://scripted.test/late", wait_for="#late"))

    assert '<b id="late">' in page_of(outcome).text
    assert page_of(outcome).notes == ()


async def test_an_element_in_an_open_shadow_is_waited_for(site: Site, platform: Platform) -> None:
    fill = (
        "<div id=host></div><script>setTimeout(() => {"
        "document.getElementById('host').attachShadow({mode: 'open'}).innerHTML = '<b id=deep>';"
        "document.title = 'Filled';}, 300)</script>"
    )
    site.reply("scripted.test", "/shadow", page("Empty", fill))

    outcome = await platform.pipeline.run(browse("http://scripted.test/shadow", wait_for="#deep"))

    assert "<title>Filled</title>" in page_of(outcome).text
    assert page_of(outcome).notes == ()


async def test_a_lazy_list_is_scrolled_step_by_step(platform: Platform) -> None:
    still = await platform.pipeline.run(browse("http://scripted.test/list"))
    scrolled = await platform.pipeline.run(browse("http://scripted.test/list", scroll=True))

    assert page_of(still).text.count("<li") == LIST_STEP
    assert LIST_STEP < page_of(scrolled).text.count("<li") <= LIST_LENGTH


async def test_a_screenshot_shows_the_whole_page(site: Site, platform: Platform) -> None:
    outcome = await platform.pipeline.run(browse("http://scripted.test/list", screenshot=True))

    shot = page_of(outcome).screenshot
    assert shot is not None
    assert shot.startswith(b"\x89PNG")
    height = int.from_bytes(shot[20:24], "big")
    assert height > 200 * LIST_STEP


@pytest.mark.parametrize(
    ("host", "wishes", "images"),
    [
        ("shop01.test", {"extract": ""}, 0),
        ("shop01.test", {}, 1),
        ("shop01.test", {"extract": "", "screenshot": True}, 1),
        ("blocking.shop01.test", {}, 0),
        ("showing.shop01.test", {"extract": ""}, 1),
    ],
)
async def test_images_are_asked_for_only_where_they_are_needed(
    site: Site, platform: Platform, host: str, wishes: Mapping[str, Any], images: int
) -> None:
    outcome = await platform.pipeline.run(browse(f"http://{host}/product/1", **wishes))

    assert outcome.ok
    assert len(site.hits_of(host, "/image/1.png")) == images


async def test_a_page_without_its_images_is_the_same_page(site: Site, platform: Platform) -> None:
    told = "<p>Caf\xe9</p><img src='/part.png' onerror=\"document.title = 'gone'\"><p id=seen></p>"
    script = "<script>document.getElementById('seen').textContent = document.cookie</script>"
    headers = {
        "Content-Type": "text/html; charset=iso-8859-1",
        "Content-Encoding": "gzip",
        "Set-Cookie": "kept=yes",
    }
    body = gzip.compress(
        f"<!doctype html><title>Page</title>{told}{script}</html>".encode("latin-1")
    )
    site.reply("blocking.shop01.test", "/encoded", Reply(200, body, headers))

    outcome = await platform.pipeline.run(browse("http://blocking.shop01.test/encoded"))

    text = page_of(outcome).text
    assert "<p>Caf\xe9</p>" in text
    assert '<p id="seen">kept=yes</p>' in text
    assert "<title>gone</title>" in text
    assert "Content-Security-Policy" not in page_of(outcome).headers
    assert site.hits_of("blocking.shop01.test", "/part.png") == []


async def test_where_images_are_blocked_the_page_does_not_even_ask_for_them(
    site: Site, platform: Platform
) -> None:
    told = "addEventListener('securitypolicyviolation', e => document.title = e.effectiveDirective)"
    padding = "<p>padding</p>" * 60_000  # more than one piece
    body = f"<!doctype html><title>?</title><script>{told}</script><img src='/a.png'>{padding}"
    site.reply("blocking.shop01.test", "/asks", Reply(200, body, {"Content-Type": "text/html"}))

    outcome = await platform.pipeline.run(browse("http://blocking.shop01.test/asks"))

    assert "<title>img-src</title>" in page_of(outcome).text
    assert page_of(outcome).text.count("padding") == 60_000


HEAD_OF_HALF = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
HALF = b"<!doctype html><title>Half</title><p>12"


@pytest.mark.parametrize(
    "cut",
    [
        HEAD_OF_HALF + b"Content-Length: 4000\r\n\r\n" + HALF,
        HEAD_OF_HALF + b"Transfer-Encoding: chunked\r\n\r\n27\r\n" + HALF + b"\r\n",
        b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{"a": 1',
    ],
    ids=["length", "chunked", "no page"],
)
async def test_half_a_page_is_none_where_images_are_blocked_too(
    site: Site, platform: Platform, cut: bytes
) -> None:
    site.reply("open.shop01.test", "/half", Raw.of(cut))

    outcome = await platform.pipeline.run(browse("http://open.shop01.test/half"))

    assert outcome.failure is not None
    assert outcome.failure.reason == "truncated"


@pytest.mark.parametrize("status", [520, 999])
async def test_an_odd_status_is_told_where_images_are_blocked_too(
    site: Site, platform: Platform, status: int
) -> None:
    site.reply("blocking.shop01.test", "/odd", Reply(status, "<html>no</html>"))

    outcome = await platform.pipeline.run(browse("http://blocking.shop01.test/odd"))

    assert outcome.failure is not None
    assert outcome.failure.status == status
