"""Headers, cookies and forms: what a caller gave goes where it belongs, and nowhere else."""

import json

import pytest

from penstock.app import Platform
from penstock.kernel.model import Refused, Request
from tests.browsers import browse
from tests.platforms import page_of
from tests.site import Reply, Site
from tests.site.pages import page

pytestmark = pytest.mark.asyncio(loop_scope="module")


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
