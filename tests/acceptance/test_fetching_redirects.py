"""Where a redirect leads, how far it is followed, and who is asked on the way."""

import pytest

from penstock.app import Platform
from penstock.kernel.model import Broken, Refused, Request
from tests.platforms import fetch, page_of, pages_asked
from tests.site import Site
from tests.site.pages import page


@pytest.mark.parametrize(
    ("path", "final"),
    [
        ("/old", "http://moved.test/new"),
        ("/relative", "http://moved.test/new?from=relative"),
        ("/to-shop", "http://shop01.test/product/1"),
        ("/redirect?to=//shop02.test/", "http://shop02.test/"),
        ("/redirect?to=%20/new%20", "http://moved.test/new"),
        ("/redirect?to=/new%23part", "http://moved.test/new"),
        ("/redirect/303?to=new", "http://moved.test/redirect/new"),
        ("/redirect/307?to=../new", "http://moved.test/new"),
        ("/redirect/308?to=?to=/new", "http://moved.test/new"),
    ],
)
async def test_a_redirect_is_followed(site: Site, path: str, final: str) -> None:
    site.reply("moved.test", "/redirect/new", page("Beside the redirect"))

    outcome = await fetch(site, f"http://moved.test{path}")

    assert page_of(outcome).url == final
    assert outcome.hops[0] == f"http://moved.test{path}"


async def test_a_location_in_no_encoding_leads_to_the_bytes_it_says(
    site: Site, platform: Platform
) -> None:
    site.reply("moved.test", "/gr%F6%DFe", page("Größe"))

    outcome = await platform.pipeline.run(
        Request("http://moved.test/redirect?to=/gr%F6%DFe"),
    )

    assert page_of(outcome).url == "http://moved.test/gr%F6%DFe"


async def test_five_redirects_are_followed_and_not_six(site: Site, platform: Platform) -> None:
    five = await platform.pipeline.run(Request("http://moved.test/chain/5"))
    asked = len(pages_asked(site, "moved.test"))
    six = await platform.pipeline.run(Request("http://moved.test/chain/6"))

    assert page_of(five).url == "http://moved.test/chain/0"
    assert len(five.hops) == 5
    assert asked == 6
    assert isinstance(six.failure, Broken)
    assert six.failure.reason == "too_many_redirects"
    assert "/chain/0" not in pages_asked(site, "moved.test")[asked:]


async def test_a_redirect_loop_ends(site: Site, platform: Platform) -> None:
    outcome = await platform.pipeline.run(Request("http://moved.test/loop"))

    assert isinstance(outcome.failure, Broken)
    assert outcome.failure.reason == "too_many_redirects"
    assert len(pages_asked(site, "moved.test")) == 6


async def test_the_robots_of_where_a_redirect_leads_are_asked(
    site: Site, platform: Platform
) -> None:
    outcome = await platform.pipeline.run(
        Request("http://moved.test/redirect?to=http://private.test/")
    )

    assert isinstance(outcome.failure, Refused)
    assert outcome.failure.reason == "robots_denied"
    assert pages_asked(site, "private.test") == []
