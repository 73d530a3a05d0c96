"""URLs, whatever their spelling: one identity per page, and what is fetched stays as it is."""

import ipaddress
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.core.errors import UrlError
from penstock.core.urls import (
    TRACKING_PARAMETERS,
    canonical,
    identity,
    ip_literal,
    parse,
    registrable_domain,
)

UNRESERVED = string.ascii_letters + string.digits + "-_~"
IN_A_URL = string.ascii_letters + string.digits + "-._~!$&'()*+,;=:@%éπ \"<>[]^`{|}"
LOOKS_LIKE_A_URL = "htps:/\\@[]%.?#&=0123456789xaé\u3002\uff11\u00ad\ud800 \t"
FULL_WIDTH = {ord(letter): ord(letter) + 0xFEE0 for letter in "0123456789."}

words = st.text(UNRESERVED, min_size=1, max_size=8)
hosts = st.lists(st.text(string.ascii_lowercase, min_size=1, max_size=8), max_size=2).map(
    lambda labels: ".".join(["www", *labels, "example.com"])
)
paths = st.lists(words, max_size=3).map(lambda parts: "/" + "/".join(parts))
tracking = st.sampled_from([*sorted(TRACKING_PARAMETERS), "utm_source", "utm_x", "UTM_ID"])
parameters = st.dictionaries(
    words.filter(lambda name: name.lower() not in TRACKING_PARAMETERS), words, max_size=4
).map(lambda found: {name: value for name, value in found.items() if name[:4].lower() != "utm_"})
any_text = st.text(st.characters()) | st.text(LOOKS_LIKE_A_URL, max_size=60)
odd_urls = st.builds(
    "{}://{}{}/{}?{}#{}".format,
    st.sampled_from(["http", "https", "HTTP"]),
    st.sampled_from(["Example.com", "bücher.example", "a.test.", "192.0.2.1", "[::1]"]),
    st.sampled_from(["", ":80", ":443", ":8080"]),
    st.text(IN_A_URL + "//..", max_size=20),
    st.text(IN_A_URL + "&&==??//", max_size=30),
    st.text(IN_A_URL, max_size=5),
)


@st.composite
def disguises(draw: st.DrawFn, host: str, path: str, query: dict[str, str]) -> str:
    """Another spelling of a page: nothing that is changed makes it another page."""
    scheme, port = draw(st.sampled_from([("http", ":80"), ("https", ":443")]))
    letters = [draw(st.sampled_from([letter, letter.upper()])) for letter in host]
    dot = draw(st.sampled_from(["", "."]))
    pairs = [f"{name}={value}" for name, value in query.items()]
    pairs += [f"{name}={draw(words)}" for name in draw(st.lists(tracking, max_size=3))]
    pairs += draw(st.lists(st.sampled_from(["empty=", "bare", ""]), max_size=2))
    slash = "/" if path != "/" and draw(st.booleans()) else ""
    fragment = draw(st.sampled_from(["", "#", "#part", "#?a=b"]))
    authority = "".join(letters) + dot + draw(st.sampled_from(["", port]))
    asked = "&".join(draw(st.permutations(pairs)))
    return f"{scheme}://{authority}{path}{slash}?{asked}{fragment}"


@settings(max_examples=300, deadline=None)
@given(odd_urls | any_text)
def test_canonical_form_of_a_canonical_form_is_itself(text: str) -> None:
    try:
        once = canonical(parse(text))
    except UrlError:
        return

    assert canonical(parse(once)) == once
    assert once.startswith("https://")
    assert "#" not in once


@settings(max_examples=300, deadline=None)
@given(st.data(), hosts, paths, parameters)
def test_disguised_url_has_the_identity_of_the_plain_one(
    data: st.DataObject, host: str, path: str, query: dict[str, str]
) -> None:
    asked = "&".join(f"{name}={value}" for name, value in query.items())
    plain = parse(f"https://{host}{path}?{asked}")

    disguised = parse(data.draw(disguises(host, path, query)))

    assert canonical(disguised) == canonical(plain)
    assert identity(disguised) == identity(plain)


@settings(max_examples=100, deadline=None)
@given(st.text("äöüéñπж", min_size=1, max_size=10))
def test_international_name_and_its_punycode_are_one(label: str) -> None:
    written = parse(f"http://{label}.example/")

    assert written.host.isascii()
    assert identity(written) == identity(parse(f"https://{written.host}/"))
    assert identity(written) == identity(parse(f"https://{label.upper()}.EXAMPLE/"))


@settings(max_examples=500, deadline=None)
@given(any_text, st.sampled_from([None, "https://example.com/dir/?q=1", "http://[::1]:8080/"]))
def test_parsing_any_text_gives_a_url_or_a_url_error(text: str, base: str | None) -> None:
    try:
        url = parse(text, base=parse(base) if base else None)
    except UrlError:
        return

    assert url.scheme in ("http", "https")
    assert url.host
    assert url.target.startswith("/")
    assert parse(url.href) == url


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(["http", "https"]),
    hosts,
    paths,
    st.lists(st.tuples(words | tracking, st.just("") | words), min_size=1, max_size=5),
    st.booleans(),
)
def test_what_is_fetched_is_never_canonicalised(
    scheme: str, host: str, path: str, query: list[tuple[str, str]], slash: bool
) -> None:
    asked = "&".join(f"{name}={value}" for name, value in query)
    target = f"{path.rstrip('/')}{'/' * slash or '/end'}?{asked}"

    url = parse(f"{scheme}://{host}{target}")
    canonical(url)

    assert url.href == f"{scheme}://{host}{target}"
    assert url.target == target


def spellings(address: ipaddress.IPv4Address) -> list[str]:
    number, (a, b, c, d) = int(address), address.packed
    return [
        str(number),
        hex(number),
        f"0{number:o}",
        f"{a}.{number & 0xFFFFFF}",
        f"{a}.{b}.{number & 0xFFFF}",
        f"0x{a:X}.0{b:o}.{c}.0x{d:x}",
        str(address).translate(FULL_WIDTH),
        str(address).replace(".", "\u3002"),
        "".join(f"%{ord(letter):02x}" for letter in str(address)),
        f"{address}.",
    ]


@settings(max_examples=150, deadline=None)
@given(st.ip_addresses(v=4))
def test_odd_spellings_of_an_address_come_out_plain(address: ipaddress.IPv4Address) -> None:
    for spelling in spellings(address):
        url = parse(f"http://{spelling}/")

        assert url.host == str(address)
        assert ip_literal(url.host) == address
        assert registrable_domain(url.host) == str(address)


@settings(max_examples=150, deadline=None)
@given(st.ip_addresses(v=6))
def test_long_and_short_spellings_of_an_ipv6_address_are_one(
    address: ipaddress.IPv6Address,
) -> None:
    short, long = (parse(f"http://[{text}]/") for text in (address, address.exploded.upper()))

    assert ip_literal(short.host) == address
    assert identity(short) == identity(long)


@pytest.mark.parametrize("host", ["example.com", "1.example", "x.0a", "fe80"])
def test_name_is_not_taken_for_an_address(host: str) -> None:
    assert ip_literal(host) is None
