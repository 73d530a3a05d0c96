"""What a visit takes along: the caller's own goes to the caller's origin and nowhere else."""

import random
from typing import Any

import pytest

from penstock.core.urls import parse
from penstock.kernel.belongings import browsing_for, headers_for
from penstock.kernel.identity import Identities
from penstock.kernel.model import Proxy, Visit
from penstock.kernel.settings import IdentitySettings
from tests.unit.kernel.steps import HOME, on_errand, visit_to

US = Identities(IdentitySettings(), random.Random(7))
OWN: dict[str, Any] = {"headers": {"X-Token": "mine"}, "cookies": {"session": "mine"}}


def hop_to(visit: Visit, url: str) -> Visit:
    visit.hops += (visit.url.href,)
    visit.url = parse(url)
    return visit


def test_nothing_is_added_to_who_we_are() -> None:
    assert headers_for(visit_to(), None, US) == US.honest()


@pytest.mark.parametrize(
    ("way", "goes_along"),
    [
        ((), True),
        (("https://shop.test/other",), True),
        (("https://elsewhere.test/",), False),
        (("http://shop.test/lamp",), False),
        (("https://elsewhere.test/", HOME), True),
    ],
)
def test_callers_own_goes_to_the_callers_origin_only(
    way: tuple[str, ...], goes_along: bool
) -> None:
    visit = visit_to(**OWN)
    for url in way:
        hop_to(visit, url)

    headers, browsing = headers_for(visit, None, US), browsing_for(visit, None)

    assert ("X-Token" in headers, "Cookie" in headers) == (goes_along, goes_along)
    assert ("X-Token" in browsing.own_headers, bool(browsing.cookies)) == (goes_along, goes_along)


def test_robots_are_asked_as_penstock_and_with_nothing_of_the_callers() -> None:
    visit = visit_to(policy={"identity": "browser", "headers": (("X-Policy", "1"),)}, **OWN)
    on_errand(visit)

    assert headers_for(visit, None, US) == US.honest()


def test_browser_like_identity_speaks_the_language_of_its_proxy() -> None:
    visit = visit_to(policy={"identity": "browser"})

    headers = headers_for(visit, Proxy("http", "p.test", 1, region="de"), US)

    assert headers["Accept-Language"].startswith("de-DE")


def test_caller_outranks_the_policy() -> None:
    visit = visit_to(policy={"headers": (("X-Token", "theirs"), ("X-Policy", "1"))}, **OWN)

    headers = headers_for(visit, None, US)

    assert (headers["X-Token"], headers["X-Policy"]) == ("mine", "1")


def test_page_is_asked_for_if_changed_on_the_first_hop_only() -> None:
    visit = visit_to(etag='"1"')

    first = headers_for(visit, None, US)
    second = headers_for(hop_to(visit, "https://shop.test/other"), None, US)

    assert first["If-None-Match"] == '"1"'
    assert "If-None-Match" not in second


def test_cookies_of_the_site_outrank_the_callers_and_stay_with_their_origin() -> None:
    visit = visit_to(cookies={"session": "mine", "theme": "dark"})
    visit.keep_cookies({"session": "given"})

    at_home = headers_for(visit, None, US)
    elsewhere = headers_for(hop_to(visit, "https://elsewhere.test/"), None, US)

    assert at_home["Cookie"] == "session=given; theme=dark"
    assert "Cookie" not in elsewhere


@pytest.mark.parametrize(
    ("extract", "screenshot", "policy", "blocks"),
    [
        (None, False, None, False),
        ("product", False, None, True),
        ("product", True, None, False),
        ("product", False, False, False),
        (None, True, True, True),
    ],
)
def test_browser_leaves_out_what_a_record_does_not_need(
    extract: str | None, screenshot: bool, policy: bool | None, blocks: bool
) -> None:
    visit = visit_to(policy={"block_resources": policy}, extract=extract, screenshot=screenshot)

    assert browsing_for(visit, None).block_resources is blocks


@pytest.mark.parametrize(("policy", "blocks"), [(None, True), (False, False)])
def test_kept_page_has_a_name_and_no_pictures_unless_its_policy_wants_them(
    policy: bool | None, blocks: bool
) -> None:
    visit = visit_to(policy={"block_resources": policy}, keep="match 1")

    browsing = browsing_for(visit, None)

    assert (browsing.keep, browsing.block_resources) == ("match 1", blocks)
