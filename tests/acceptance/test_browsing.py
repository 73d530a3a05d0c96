"""The path of a URL through a real Chromium: same gates, same failures, same records."""

import asyncio
import gzip
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from penstock.app import Platform
from penstock.kernel.model import Outcome, Page, Refused, Request, Visit, Wait
from tests.browsers import Place
from tests.platforms import platform_for
from tests.site import Hit, Raw, Reply, Site
from tests.site.answers import encode_head
from tests.site.pages import page
from tests.site.scripted import LIST_LENGTH, LIST_STEP
from tests.site.shops import product

pytestmark = pytest.mark.asyncio(loop_scope="module")

#: Any host below one of the site is served like it, so each policy can have a host of its own.
POLICIES = {
    "auto.scripted.test": {"fetcher": "auto"},
    "browser.shop01.test": {"fetcher": "browser"},
    "http.shop01.test": {"fetcher": "http"},
    "blocking.shop01.test": {"block_resources": True},
    "open.shop01.test": {"block_resources": True},
    "showing.shop01.test": {"block_resources": False},
    "default": {"min_delay_ms": 1, "max_delay_ms": 2},
}
STRICT = {
    "page_seconds": 2,
    "wait_seconds": 0.2,
    "settle_seconds": 0.5,
    "max_bytes": 1_000_000,
    "max_requests": 10,
    "pool_size": 2,
    "pool_max": 2,
    "acquire_seconds": 0.2,
}
#: Reads like the adapter of every shop, but only after scripts have run.
ADAPTER = """
from dataclasses import replace
from penstock.extract.adapters.product import ADAPTER as GENERIC

ADAPTER = replace(GENERIC, id="scripted", urls=("needy.scripted.test/*",), requires_javascript=True)
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def whole_site() -> AsyncIterator[Site]:
    async with Site() as site:
        yield site


@pytest.fixture
def site(whole_site: Site) -> Site:
    """The site, without what others asked of it."""
    whole_site.hits.clear()
    return whole_site


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def platform(
    whole_site: Site, place: Place, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Platform]:
    folder = tmp_path_factory.mktemp("settings")
    file, adapter = folder / "policies.yaml", folder / "scripted.py"
    file.write_text(json.dumps({"domains": POLICIES}), encoding="utf-8")
    adapter.write_text(ADAPTER, encoding="utf-8")
    async with platform_for(
        whole_site,
        browser=place.settings(),
        policies={"files": (file,)},
        extract={"adapters": (str(adapter),)},
        retry={"max_attempts": 1},
        shared={"lock_file": folder / "lock"},
    ) as one:
        yield one


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def strict(
    whole_site: Site, place: Place, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Platform]:
    """A platform that gives a page little of everything."""
    async with platform_for(
        whole_site,
        browser=place.settings(**STRICT),
        http={"max_bytes": 50_000},
        retry={"max_attempts": 1},
        shared={"lock_file": tmp_path_factory.mktemp("lock") / "lock"},
    ) as one:
        yield one


def browse(url: str, **wishes: Any) -> Request:
    return Request(url, fetcher="browser", **wishes)


def page_of(outcome: Outcome) -> Page:
    assert outcome.ok, outcome.failure
    assert outcome.page
    return outcome.page


def said(outcome: Outcome, gate: str) -> list[str]:
    return [each.answer for each in outcome.trace if each.gate == gate]


def asked(site: Site, host: str) -> list[str]:
    return [hit.path for hit in site.hits_of(host) if hit.path != "/robots.txt"]


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
    assert asked(site, "private.test") == []


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
    assert asked(site, "private.test") == []


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
    assert asked(site, "scripted.test").count("/again") == 1


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


async def test_what_is_no_document_is_read_no_further_than_the_limit(
    site: Site, strict: Platform
) -> None:
    async def much_and_no_end() -> AsyncGenerator[bytes, None]:
        yield encode_head(200, {"Content-Type": "application/json", "Connection": "close"})
        yield bytes(400_000)
        await asyncio.Event().wait()

    site.reply("shop01.test", "/much", Raw(much_and_no_end))
    outcome = await strict.pipeline.run(browse("http://shop01.test/much"))

    assert outcome.failure
    assert outcome.failure.reason == "too_large"


# Choosing the fetcher


async def test_an_empty_shell_is_filled_by_a_browser_where_the_policy_allows(
    site: Site, platform: Platform
) -> None:
    shell = await platform.pipeline.run(Request("http://auto.scripted.test/product/4"))
    plain = await platform.pipeline.run(Request("http://auto.scripted.test/never"))
    refused = await platform.pipeline.run(Request("http://scripted.test/product/4"))

    assert page_of(shell).fetcher == "browser"
    assert page_of(plain).fetcher == "http"
    assert asked(site, "auto.scripted.test").count("/product/4") == 2
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


# What is done with a page


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


@pytest.mark.parametrize(
    ("selector", "note"),
    [("#never", "'#never' did not appear within 0 s"), ("a[", "'a[' is no CSS selector")],
)
async def test_an_element_that_does_not_come_is_noted(
    strict: Platform, selector: str, note: str
) -> None:
    outcome = await strict.pipeline.run(browse("http://shop01.test/product/1", wait_for=selector))

    assert page_of(outcome).notes == (note,)
    assert said(outcome, "browser") == [note]


async def test_a_lazy_list_is_scrolled_step_by_step(platform: Platform) -> None:
    still = await platform.pipeline.run(browse("http://scripted.test/list"))
    scrolled = await platform.pipeline.run(browse("http://scripted.test/list", scroll=True))

    assert page_of(still).text.count("<li") == LIST_STEP
    assert LIST_STEP < page_of(scrolled).text.count("<li") <= LIST_LENGTH


async def test_a_page_that_never_settles_is_taken_as_it_is(strict: Platform) -> None:
    outcome = await strict.pipeline.run(browse("http://scripted.test/unsettled"))

    assert "This much is there at once." in page_of(outcome).text
    assert said(outcome, "browser") == ["it was still loading"]


async def test_a_page_that_hangs_is_ended_in_time(strict: Platform) -> None:
    async with asyncio.timeout(10):
        hung = await strict.pipeline.run(browse("http://scripted.test/hangs"))
        well = await strict.pipeline.run(browse("http://shop01.test/product/1"))

    assert hung.failure
    assert (hung.failure.kind, hung.failure.reason) == ("broken", "page_hung")
    assert well.ok


async def test_the_caller_s_time_is_over_for_all_attempts(site: Site, platform: Platform) -> None:
    site.reply("slow.test", "/never", Reply(200, "late", delay=30))
    async with asyncio.timeout(10):
        by_browser, by_http = [
            await platform.pipeline.run(
                Request("http://slow.test/never", fetcher=name, timeout=0.5)
            )
            for name in ("browser", "http")
        ]

    for outcome in (by_browser, by_http):
        assert isinstance(outcome.failure, Refused)
        assert outcome.failure.reason == "task_timeout"
        assert outcome.attempts == 1


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


async def test_a_page_that_does_not_show_its_end_is_left_to_the_browser_next_time(
    site: Site, platform: Platform
) -> None:
    body = gzip.compress(b"<!doctype html><title>Open</title><p>No end tag")
    headers = {"Content-Type": "text/html", "Content-Encoding": "gzip"}
    site.reply("open.shop01.test", "/open", Reply(200, body, headers))

    first = await platform.pipeline.run(browse("http://open.shop01.test/open"))
    second = await platform.pipeline.run(browse("http://open.shop01.test/open"))

    assert first.failure is not None
    assert first.failure.reason == "truncated"
    assert first.failure.retriable
    assert "<title>Open</title>" in page_of(second).text


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


async def test_the_caller_s_headers_and_cookies_stay_at_their_origin(
    site: Site, platform: Platform
) -> None:
    site.reply(
        "scripted.test",
        "/parts",
        page(
            "Parts",
            "<script src='/tick'></script><script src='http://shop01.test/x'></script>"
            "<script src='/hop'></script>",
        ),
    )
    site.reply(
        "scripted.test", "/hop", Reply(302, headers={"Location": "http://shop01.test/hopped"})
    )

    outcome = await platform.pipeline.run(
        browse(
            "http://scripted.test/parts",
            headers={"Authorization": "Bearer sesame", "X-Own": "mine"},
            cookies={"session": "mine"},
        )
    )

    assert outcome.ok
    for path in ("/parts", "/tick"):
        headers = site.hits_of("scripted.test", path)[0].headers
        assert (headers["Authorization"], headers["Cookie"]) == ("Bearer sesame", "session=mine")
    for path in ("/x", "/hopped"):
        abroad = site.hits_of("shop01.test", path)[0].headers
        assert "Authorization" not in abroad
        assert "X-Own" not in abroad
        assert "Cookie" not in abroad


async def test_cookies_of_the_caller_go_out_over_http_too(site: Site, platform: Platform) -> None:
    there = await platform.pipeline.run(
        Request("http://shop01.test/_echo", cookies={"session": "mine"})
    )
    elsewhere = await platform.pipeline.run(
        Request("http://moved.test/redirect?to=http://shop01.test/_echo", cookies={"a": "b"})
    )

    assert json.loads(page_of(there).text)["headers"]["Cookie"] == "session=mine"
    assert "Cookie" not in json.loads(page_of(elsewhere).text)["headers"]


async def test_nothing_of_one_task_is_left_for_the_next(site: Site, platform: Platform) -> None:
    remember = page("Remember", "<p>Remembered.</p><script>document.cookie='a=b';</script>")
    site.reply("scripted.test", "/remember", remember)

    await platform.pipeline.run(browse("http://scripted.test/remember"))
    outcome = await platform.pipeline.run(browse("http://scripted.test/_echo"))

    assert "Cookie" not in json.loads(page_of(outcome).text)["headers"]


# Bounds


async def test_bytes_of_a_page_and_its_parts_are_bounded(strict: Platform) -> None:
    outcome = await strict.pipeline.run(browse("http://scripted.test/heavy"))

    assert outcome.failure
    assert (outcome.failure.kind, outcome.failure.reason) == ("broken", "too_large")


async def test_requests_of_a_page_are_bounded(site: Site, strict: Platform) -> None:
    outcome = await strict.pipeline.run(browse("http://scripted.test/many"))

    assert outcome.ok, outcome.failure
    assert said(outcome, "browser") == ["cut off after 10 requests"]
    assert len(asked(site, "scripted.test")) <= 10


async def test_a_page_larger_than_the_limit_is_broken(site: Site, strict: Platform) -> None:
    site.reply("scripted.test", "/large", page("Large", "<p>much</p>" * 10_000))

    outcome = await strict.pipeline.run(browse("http://scripted.test/large"))

    assert outcome.failure
    assert outcome.failure.reason == "too_large"


async def test_more_pages_than_seats_all_come_to_their_end(strict: Platform) -> None:
    before = strict.browsers.stats()
    requests = [browse(f"http://shop01.test/product/{number}") for number in range(1, 13)]

    outcomes = await asyncio.gather(*map(strict.pipeline.run, requests))

    stats = strict.browsers.stats()
    assert [outcome.ok for outcome in outcomes] == [True] * 12
    assert (stats.total, stats.available, stats.in_use) == (2, 2, 0)
    assert stats.pages_processed == before.pages_processed + 12


async def test_a_caller_who_will_not_wait_for_a_browser_is_told(strict: Platform) -> None:
    seats = [await strict.browsers.acquire(5) for _ in range(2)]
    try:
        visit = strict.pipeline.admit(browse("http://shop01.test/product/1"))
        assert isinstance(visit, Visit)
        wait = await strict.pipeline.advance(visit)
        while isinstance(wait, Wait) and wait.gate != "browser":
            wait = await strict.pipeline.advance(visit)
        assert isinstance(wait, Wait)
        outcome = await strict.pipeline.give_up(visit, wait)
    finally:
        for seat in seats:
            await strict.browsers.release(seat)

    assert visit.attempt == 1
    assert isinstance(outcome.failure, Refused)
    assert (outcome.failure.gate, outcome.failure.reason) == ("browser", "pool_exhausted")


@pytest.mark.parametrize(
    "cookies", [{"a": "b; c=d"}, {"a": "b\r\nX: y"}, {"a b": "c"}, {"a;b": "c"}, {"": "c"}]
)
@pytest.mark.parametrize("fetcher", ["http", "browser"])
async def test_a_cookie_that_breaks_out_of_its_place_is_refused(
    site: Site, platform: Platform, cookies: dict[str, str], fetcher: str
) -> None:
    outcome = await platform.pipeline.run(
        Request("http://shop01.test/", cookies=cookies, fetcher=fetcher)
    )

    assert isinstance(outcome.failure, Refused)
    assert outcome.failure.reason == "bad_header"
    assert site.hits == []


async def test_a_form_that_a_page_sends_by_itself_is_not_sent(
    site: Site, platform: Platform
) -> None:
    form = "<p>A form.</p><form method=post action=/sent></form><script>document.forms[0].submit()"
    site.reply("scripted.test", "/form", page("A form", f"{form}</script>"))

    outcome = await platform.pipeline.run(browse("http://scripted.test/form"))

    assert "A form." in page_of(outcome).text
    assert site.hits_of("scripted.test", "/sent") == []
