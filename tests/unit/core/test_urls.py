"""URLs: how they are parsed, which domain they belong to, and what makes two of them one page."""

# ruff: noqa: S603 - the program run here is our own
import subprocess
import sys

import pytest

from penstock.core.errors import UrlError
from penstock.core.urls import (
    MAX_URL_LENGTH,
    bare_host,
    canonical,
    identity,
    parse,
    registrable_domain,
)

#: Refuses every look-up and connection, then asks for a domain.
WITHOUT_NETWORK = """
import sys

def refuse(event, _):
    if event.startswith("socket."):
        raise RuntimeError(event)

from penstock.core.urls import registrable_domain
sys.addaudithook(refuse)
print(registrable_domain("www.example.co.uk"))
"""


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("example.com", "example.com"),
        ("a.b.example.com", "example.com"),
        ("www.example.co.uk", "example.co.uk"),
        ("co.uk", "co.uk"),
        ("jo.github.io", "jo.github.io"),
        ("www.jo.github.io", "jo.github.io"),
        ("github.io", "github.io"),
        ("www.ck", "www.ck"),
        ("shop.example.ck", "shop.example.ck"),
        ("www.xn--e1afmkfd.xn--p1ai", "xn--e1afmkfd.xn--p1ai"),
        ("www.shop01.test", "shop01.test"),
        ("test", "test"),
        ("localhost", "localhost"),
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8::1", "2001:db8::1"),
    ],
)
def test_registrable_domain_follows_the_public_suffix_list(host: str, domain: str) -> None:
    assert registrable_domain(host) == domain


def test_registrable_domain_never_touches_the_network() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_NETWORK], capture_output=True, text=True, check=False
    )

    assert done.stdout == "example.co.uk\n", done.stderr


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "syntax"),
        ("/relative", "syntax"),
        ("http://", "syntax"),
        ("http://exa mple.com/", "syntax"),
        ("http://1.2.3.4.5/", "syntax"),
        ("http://h:65536/", "syntax"),
        ("http://[::1/", "syntax"),
        ("ftp://example.com/", "scheme"),
        ("file:///etc/passwd", "scheme"),
        ("javascript:alert(1)", "scheme"),
        ("http://user@example.com/", "user-info"),
        ("http://user:password@example.com/", "user-info"),
        ("http://example.com/a\nb", "characters"),
        ("http://example.com\\@other.com/", "characters"),
        ("http://a..b/", "host"),
        ("http://./", "host"),
        (f"http://{'a' * 64}.com/", "host"),
        ("http://*.example.com/", "host"),
        ("http://!/", "host"),
        ("http://a;b.com/", "host"),
        (f"http://{'abc.' * 64}com/", "host"),
        ("http://example.com/" + "a" * MAX_URL_LENGTH, "length"),
        ("http://example.com/" + "é" * (MAX_URL_LENGTH // 2), "length"),
    ],
)
def test_what_is_not_taken_is_refused_with_the_rule(text: str, rule: str) -> None:
    with pytest.raises(UrlError) as refused:
        parse(text)

    assert refused.value.rule == rule


def test_a_bare_host_is_a_name_or_an_address_and_nothing_else() -> None:
    written = (" Example.COM. ", "a_b.com", "192.0.2.7", "[2001:DB8::7]", "2001:db8:0::7")
    assert [bare_host(text) for text in written] == [
        *("example.com", "a_b.com", "192.0.2.7", "2001:db8::7", "2001:db8::7")
    ]
    for text in ("a#b", "a/b", "a?b", "a:8080", "*.com"):
        with pytest.raises(UrlError):
            bare_host(text)


def test_error_does_not_repeat_the_url() -> None:
    with pytest.raises(UrlError) as refused:
        parse("http://user:hunter2@example.com/")

    assert "hunter2" not in str(refused.value)


def test_parts_of_a_url_are_those_of_its_parsed_form() -> None:
    url = parse(" HTTP://WWW.Example.COM.:8080/a/../b?q=1#part ")

    assert url.href == "http://www.example.com.:8080/b?q=1"
    assert (url.scheme, url.host, url.port) == ("http", "www.example.com", 8080)
    assert url.target == "/b?q=1"
    assert url.domain == "example.com"


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("http://example.com:80/a", "http://example.com"),
        ("https://example.com:80/", "https://example.com:80"),
        ("https://example.com./", "https://example.com"),
        ("http://[2001:DB8::1]:8080/", "http://[2001:db8::1]:8080"),
    ],
)
def test_origin_is_scheme_host_and_unusual_port(text: str, origin: str) -> None:
    assert parse(text).origin == origin


@pytest.mark.parametrize(
    ("location", "href"),
    [
        ("../up", "https://example.com/up"),
        ("?page=2", "https://example.com/dir/page?page=2"),
        ("//other.test/x", "https://other.test/x"),
        ("http://other.test", "http://other.test/"),
        ("#part", "https://example.com/dir/page"),
    ],
)
def test_relative_url_is_resolved_against_its_base(location: str, href: str) -> None:
    assert parse(location, base=parse("https://example.com/dir/page")).href == href


@pytest.mark.parametrize(
    "spelling",
    [
        "http://example.com/a/?b=2&a=1#part",
        "https://EXAMPLE.com./a?a=1&b=2",
        "https://example.com:443/a?a=1&b=2&utm_source=mail&UTM_Campaign=x&gclid=7&fbclid=8",
        "http://example.com:80/a?ref=r&source=s&campaign=c&a=1&empty=&b=2&bare",
        "https://example.com/a/?a=1&b=2&%75tm_id=3",
    ],
)
def test_spellings_of_one_page_have_one_canonical_form(spelling: str) -> None:
    assert canonical(parse(spelling)) == "https://example.com/a?a=1&b=2"


@pytest.mark.parametrize(
    "other",
    [
        "https://example.com/A",
        "https://example.com/a/b",
        "https://example.com:8443/a",
        "https://www.example.com/a",
        "https://example.com/a?a=1",
        "https://example.com/a?reference=1",
    ],
)
def test_different_pages_keep_different_identities(other: str) -> None:
    assert identity(parse(other)) != identity(parse("https://example.com/a"))


def test_order_of_a_repeated_parameter_is_kept() -> None:
    assert canonical(parse("http://h.test/?b=2&a=2&a=1")) == "https://h.test/?a=2&a=1&b=2"


def test_root_keeps_its_slash() -> None:
    assert canonical(parse("http://example.com")) == "https://example.com/"


def test_identity_is_the_sha256_of_the_canonical_form() -> None:
    assert identity(parse("http://example.com")) == (
        "0f115db062b7c0dd030b16878c99dea5c354b49dc37b38eb8846179c7783e9d7"
    )
