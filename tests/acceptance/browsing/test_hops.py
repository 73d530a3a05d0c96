"""The path of a URL through a real Chromium: same gates, same failures, same records."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from penstock.app import Platform
from penstock.kernel.model import Refused, Request
from tests.browsers import browse
from tests.platforms import page_of, pages_asked, platform_for, said
from tests.site import Hit, Reply, Site
from tests.site.pages import page
from tests.site.shops import product

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_page_is_what_its_scripts_make_of_it(platform: Platform) -> None:
    outcome = await platform.pipeline.run(browse("http://scripted.test/product/3", extract=""))

    found = page_of(outcome)
    assert found.fetcher == "browser"
    assert found.content_type == "text/html"
    assert found.is_utf8
    assert outcome.reading
    record = outcome.reading.as_json()
    assert record["name"] == product("shop01.test", 3).title
    assert record["verdict"] == "accept"


async def test_robots_are_asked_before_a_browser_goes(site: Site, platform: Platform) -> None:
    before = platform.browsers.stats()

    outcome = await platform.pipeline.run(browse("http://private.test/secret"))

    assert platform.browsers.stats() == before
    assert isinstance(outcome.failure, Refused)
    assert outcome.failure.reason == "robots_denied"
    assert pages_asked(site, "private.test") == []


async def test_a_status_means_the_same_in_a_browser(platform: Platform) -> None:
    missing = await platform.pipeline.run(browse("http://shop01.test/missing"))
    blocked = await platform.pipeline.run(browse("http://blocked.test/captcha"))

    assert missing.failure
    assert (missing.failure.kind, missing.failure.reason) == ("url_specific", "http_404")
    assert blocked.failure
    assert (blocked.failure.kind, blocked.failure.reason) == ("blocked", "captcha")


@pytest.mark.parametrize(
    "path", ["/redirect/302?to=http://shop01.test/product/1", "/redirect/308?to=/to-shop"]
)
async def test_each_hop_of_a_redirect_passes_the_gates(
    site: Site, platform: Platform, path: str
) -> None:
    outcome = await platform.pipeline.run(browse(f"http://moved.test{path}"))

    assert page_of(outcome).url == "http://shop01.test/product/1"
    assert outcome.hops[0] == f"http://moved.test{path}"
    robots = [hit for hit in site.hits if hit.path == "/robots.txt"]
    assert said(outcome, "pacing").count("turn") == len(outcome.hops) + 1 + len(robots)
    assert said(outcome, "robots").count("allowed") == len(outcome.hops) + 1


async def test_a_redirect_to_what_robots_deny_is_not_followed(
    site: Site, platform: Platform
) -> None:
    url = "http://moved.test/redirect?to=http://private.test/secret"

    outcome = await platform.pipeline.run(browse(url))

    assert isinstance(outcome.failure, Refused)
    assert outcome.failure.reason == "robots_denied"
    assert pages_asked(site, "private.test") == []


@pytest.mark.parametrize("path", ["/meta", "/by-script?to=/product/2"])
async def test_a_page_that_goes_elsewhere_by_itself_takes_a_new_turn(
    site: Site, platform: Platform, path: str
) -> None:
    outcome = await platform.pipeline.run(browse(f"http://scripted.test{path}"))

    assert page_of(outcome).url == "http://scripted.test/product/2"
    assert outcome.hops == (f"http://scripted.test{path}",)
    assert product("shop01.test", 2).title in page_of(outcome).text
    assert said(outcome, "redirect") == ["200"]


async def test_cookies_of_a_hop_go_back_to_their_origin_only(
    site: Site, platform: Platform
) -> None:
    home = await platform.pipeline.run(browse("http://scripted.test/by-script?to=/_echo"))
    away = await platform.pipeline.run(browse("http://cookies.test/away"))

    assert json.loads(page_of(home).text)["headers"]["Cookie"] == "seen=yes"
    assert "Cookie" not in json.loads(page_of(away).text)["headers"]


async def test_a_site_that_asks_as_a_proxy_would_is_the_one_to_blame(
    site: Site, platform: Platform
) -> None:
    site.reply("shop01.test", "/forged", Reply(407, "no", {"Proxy-Authenticate": "Basic"}))
    outcome = await platform.pipeline.run(browse("http://shop01.test/forged"))

    assert outcome.failure
    assert (outcome.failure.kind, outcome.failure.reason) == ("url_specific", "http_407")


async def test_a_redirect_without_end_is_broken(platform: Platform) -> None:
    outcome = await platform.pipeline.run(browse("http://moved.test/loop"))

    assert outcome.failure
    assert outcome.failure.reason == "too_many_redirects"


async def test_a_page_that_loads_itself_again_and_again_is_taken_as_it_is(
    site: Site, platform: Platform
) -> None:
    again = "<p>Always new.</p><script>location.reload()</script>"
    site.reply("scripted.test", "/again", page("Again", again))
    refresh = '<p>Always new.</p><meta http-equiv="refresh" content="0">'
    site.reply("scripted.test", "/refresh", page("Again", refresh))
    by_script = await platform.pipeline.run(browse("http://scripted.test/again"))
    by_tag = await platform.pipeline.run(browse("http://scripted.test/refresh#top"))

    assert "Always new." in page_of(by_script).text
    assert "Always new." in page_of(by_tag).text
    assert said(by_tag, "browser") == ["it wanted to be loaded again"]
    assert pages_asked(site, "scripted.test").count("/again") == 1


async def test_a_page_that_loads_itself_again_with_a_cookie_is_asked_for_again(
    site: Site, platform: Platform
) -> None:
    def answer(hit: Hit) -> Reply:
        if "passed=yes" in hit.headers.get("Cookie", ""):
            return page("In", "<p>Welcome.</p>")
        return page("Wait", "<script>document.cookie='passed=yes';location.reload()</script>")

    site.reply("scripted.test", "/gate", answer)
    outcome = await platform.pipeline.run(browse("http://scripted.test/gate"))

    assert "Welcome." in page_of(outcome).text
    assert said(outcome, "pacing").count("turn") >= 2


async def test_what_is_no_document_comes_as_it_is(site: Site, platform: Platform) -> None:
    image = await platform.pipeline.run(browse("http://shop01.test/image/1.png"))
    attached = {"Content-Type": "text/html", "Content-Disposition": "attachment; filename=a"}
    site.reply("shop01.test", "/file", Reply(200, "<p>a file</p>", attached))
    file = await platform.pipeline.run(browse("http://shop01.test/file"))

    assert page_of(image).body.startswith(b"\x89PNG")
    assert page_of(image).content_type == "image/png"
    assert page_of(file).body == b"<p>a file</p>"


# Choosing the fetcher


async def test_an_empty_shell_is_filled_by_a_browser_where_the_policy_allows(
    site: Site, platform: Platform
) -> None:
    shell = await platform.pipeline.run(Request("http://auto.scripted.test/product/4"))
    plain = await platform.pipeline.run(Request("http://auto.scripted.test/never"))
    refused = await platform.pipeline.run(Request("http://scripted.test/product/4"))

    assert page_of(shell).fetcher == "browser"
    assert page_of(plain).fetcher == "http"
    assert pages_asked(site, "auto.scripted.test").count("/product/4") == 2
    assert said(shell, "pacing").count("turn") == 3
    assert said(shell, "blocks") == ["empty_shell", "none"]
    assert refused.failure
    assert refused.failure.reason == "empty_shell"


@pytest.mark.parametrize(
    ("host", "wishes", "fetcher"),
    [
        ("shop01.test", {}, "http"),
        ("browser.shop01.test", {}, "browser"),
        ("browser.shop01.test", {"fetcher": "http"}, "http"),
        ("http.shop01.test", {"fetcher": "browser"}, "browser"),
        ("shop01.test", {"wait_for": "main"}, "browser"),
        ("http.shop01.test", {"wait_for": "main"}, "http"),
        ("needy.scripted.test", {"extract": ""}, "browser"),
        ("shop01.test", {"extract": ""}, "http"),
    ],
)
async def test_caller_policy_and_adapter_choose_the_fetcher(
    platform: Platform, host: str, wishes: Mapping[str, Any], fetcher: str
) -> None:
    outcome = await platform.pipeline.run(Request(f"http://{host}/product/1", **wishes))

    assert page_of(outcome).fetcher == fetcher


async def test_without_chromium_the_reason_is_told(site: Site, tmp_path: Path) -> None:
    section = {"executable": str(tmp_path / "none"), "folder": tmp_path / "browsers"}
    lock = {"lock_file": tmp_path / "lock"}
    async with platform_for(site, browser=section, shared=lock) as platform:
        outcome = await platform.pipeline.run(browse("http://shop01.test/product/1"))

    assert isinstance(outcome.failure, Refused)
    assert outcome.failure.reason == "no_browser"
    assert "PENSTOCK_BROWSER__EXECUTABLE" in outcome.failure.detail
