"""Nobody is led to a private address by a spelling, a redirect, a scheme, a port or a header.

Every test ends at a listener that stands for a private service and must not be contacted.
"""

from urllib.parse import quote

import pytest

from penstock.kernel.model import Refused, Request
from tests.chaos.attacks import HOSTS, SCHEMES, WHOLE_URLS, assert_refused, fetch, fetch_by_redirect
from tests.platforms import platform_for
from tests.site import Reply, Site


@pytest.mark.parametrize(("host", "rule"), HOSTS.items(), ids=ascii)
async def test_no_spelling_of_a_private_host_is_contacted(site: Site, host: str, rule: str) -> None:
    outcome = await fetch(site, f"http://{host}:{{port}}/")

    assert_refused(outcome, rule, site)
    assert outcome.failure
    assert "127." not in outcome.failure.detail


@pytest.mark.parametrize(("host", "rule"), HOSTS.items(), ids=ascii)
async def test_no_redirect_to_a_private_host_is_followed(site: Site, host: str, rule: str) -> None:
    outcome = await fetch_by_redirect(site, f"http://{host}:{{port}}/")

    assert len(site.hits_of("moved.test", "/redirect")) == 1
    assert_refused(outcome, rule, site)
    assert outcome.failure
    assert "127." not in outcome.failure.detail


@pytest.mark.parametrize(("url", "rule"), WHOLE_URLS.items(), ids=ascii)
async def test_no_odd_url_leads_to_a_private_address(site: Site, url: str, rule: str) -> None:
    asked_for = await fetch(site, url)
    redirected = await fetch_by_redirect(site, url)

    assert_refused(asked_for, rule, site)
    assert_refused(redirected, rule, site)


@pytest.mark.parametrize("url", ["\nhttp://127.0.0.1:{port}/", "http://127.0.0\r\n.1:{port}/"])
async def test_line_breaks_hide_no_private_address(site: Site, url: str) -> None:
    asked_for = await fetch(site, url)
    redirected = await fetch_by_redirect(site, url)

    assert_refused(asked_for, "characters", site)
    assert not redirected.ok
    assert site.canary.connections == 0


@pytest.mark.parametrize("location", ["//127.0.0.1:{port}/", "///127.0.0.1:{port}/"])
async def test_a_redirect_without_a_scheme_is_no_way_round(site: Site, location: str) -> None:
    assert_refused(await fetch_by_redirect(site, location), "loopback", site)


@pytest.mark.parametrize("url", SCHEMES)
async def test_other_schemes_are_refused(site: Site, url: str) -> None:
    asked_for = await fetch(site, url)
    redirected = await fetch_by_redirect(site, url)

    assert_refused(asked_for, "scheme", site)
    assert_refused(redirected, "scheme", site)


@pytest.mark.parametrize("path", ["/to-private", "/to-metadata", "/to-file", "/to-javascript"])
async def test_the_hostile_redirects_of_the_site_are_refused(site: Site, path: str) -> None:
    outcome = await fetch(site, f"http://moved.test{path}")

    assert isinstance(outcome.failure, Refused)
    assert outcome.failure.gate == "admission"
    assert site.canary.connections == 0


async def test_a_private_address_at_the_end_of_a_chain_is_refused(site: Site) -> None:
    site.reply("moved.test", "/chain/0", Reply(302, headers={"Location": "/to-private"}))

    outcome = await fetch(site, "http://moved.test/chain/3")

    assert len(outcome.hops) == 4
    assert_refused(outcome, "loopback", site)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_every_kind_of_redirect_is_checked(site: Site, status: int) -> None:
    location = quote(f"http://127.0.0.1:{site.canary.port}/")

    outcome = await fetch(site, f"http://moved.test/redirect/{status}?to={location}")

    assert_refused(outcome, "loopback", site)


@pytest.mark.parametrize("port", [0, 22, 25, 53, 587, 6000, 6667, 10080])
async def test_ports_of_other_protocols_are_refused(site: Site, port: int) -> None:
    asked_for = await fetch(site, f"http://shop01.test:{port}/")
    redirected = await fetch_by_redirect(site, f"http://shop01.test:{port}/")

    assert_refused(asked_for, "port", site)
    assert_refused(redirected, "port", site)


async def test_a_redirect_to_a_denied_domain_is_refused(site: Site) -> None:
    lists = {"known_hosts": site.known_hosts, "deny": ("shop01.test",), "opt_out": ("shop02.test",)}
    async with platform_for(site, admission=lists) as platform:
        denied = await platform.pipeline.run(Request("http://moved.test/to-shop"))
        opted_out = await platform.pipeline.run(
            Request("http://moved.test/redirect?to=http://www.shop02.test/")
        )

    assert_refused(denied, "deny_list", site)
    assert_refused(opted_out, "opt_out", site)
    assert site.hits_of("shop01.test") == site.hits_of("www.shop02.test") == []


@pytest.mark.parametrize(
    "headers",
    [
        {"X-One": "a\r\nX-Two: b"},
        {"X-One": "a\nGET /secret HTTP/1.1"},
        {"X-One": "a\x00b"},
        {"X-One\r\nX-Two": "b"},
        {"X One": "b"},
        {"X-One": "\ud800"},
        {"": "b"},
    ],
    ids=ascii,
)
async def test_a_header_that_breaks_out_of_its_line_is_refused(
    site: Site, headers: dict[str, str]
) -> None:
    async with platform_for(site) as platform:
        outcome = await platform.pipeline.run(Request("http://shop01.test/", headers=headers))

    assert isinstance(outcome.failure, Refused)
    assert outcome.failure.reason == "bad_header"
    assert site.hits == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Host", "private.test"),
        ("hOST", "private.test"),
        ("Content-Length", "5"),
        ("Transfer-Encoding", "chunked"),
        ("Connection", "upgrade"),
        ("Upgrade", "websocket"),
        ("Expect", "100-continue"),
        ("Proxy-Authorization", "Basic x"),
        ("Proxy-Connection", "keep-alive"),
    ],
)
async def test_a_caller_cannot_say_where_a_request_goes_or_ends(
    site: Site, name: str, value: str
) -> None:
    """The page of another host could be had without its robots, its pace and its opt-out."""
    async with platform_for(site) as platform:
        outcome = await platform.pipeline.run(Request("http://shop01.test/", headers={name: value}))

    assert isinstance(outcome.failure, Refused)
    assert outcome.failure.reason == "bad_header"
    assert site.hits == []
