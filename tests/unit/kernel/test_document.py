"""What a document says of itself: its encoding, and what robots may do with it."""

import time
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis.strategies import binary, text
from webencodings.labels import LABELS

from penstock.kernel.document import decode, detect, robots_tags

SOON = 0.1


@pytest.mark.parametrize(
    ("body", "content_type", "encoding"),
    [
        (b"\xef\xbb\xbfabc", "text/html; charset=iso-8859-1", "utf-8"),
        (b"\xfe\xff\x00a", "", "utf-16-be"),
        (b"\xff\xfea\x00", "", "utf-16-le"),
        (b"abc", "text/html; charset=windows-1251", "cp1251"),
        (b"abc", "text/html;charset='KOI8-R'", "koi8-r"),
        (b"abc", 'text/html; Charset="utf-8"; x=y', "utf-8"),
        (b"<meta charset=shift_jis>", "text/html; charset=koi8-r", "koi8-r"),
        (b"<meta charset=shift_jis>", "text/html", "cp932"),
        (b"<meta charset=shift_jis>", "text/html; charset=no-such", "cp932"),
        (b"<META http-equiv=x content='text/html; CHARSET=koi8-r'>", "", "koi8-r"),
        (b"<?xml version='1.0' encoding='koi8-r'?>", "", "koi8-r"),
        (b"<meta charset=utf-16>", "", "utf-8"),
        (b" " * 1024 + b"<meta charset=koi8-r>", "", "utf-8"),
        ("größe".encode(), "", "utf-8"),
        ("größe".encode()[:3], "", "utf-8"),
        ("größe\n".encode("latin-1"), "", "cp1252"),
        (b"", "", "utf-8"),
    ],
)
def test_the_encoding_is_found_by_the_rules_of_browsers(
    body: bytes, content_type: str, encoding: str
) -> None:
    assert detect(body, content_type) == encoding


def test_latin_1_means_what_browsers_take_it_for() -> None:
    assert decode(b"\x80 5 \xe9\n", "text/html; charset=iso-8859-1") == "€ 5 é\n"


def test_a_byte_order_mark_is_no_text() -> None:
    assert decode(b"\xef\xbb\xbfabc", "") == "abc"
    assert decode("\ufeffabc".encode("utf-16-le"), "") == "abc"


@pytest.mark.parametrize("label", sorted(LABELS))
def test_every_label_of_the_standard_can_be_decoded(label: str) -> None:
    assert decode(b"abc\xff\xfe\x80", f"text/html; charset={label}")


@given(binary(), text())
def test_no_body_and_no_type_is_an_error(body: bytes, content_type: str) -> None:
    assert isinstance(decode(body, content_type), str)


@given(text())
def test_utf_8_comes_back_as_it_was(content: str) -> None:
    body = content.encode("utf-8", "replace")

    assert decode(body, "text/html; charset=utf-8") == body.decode().removeprefix("\ufeff")


@pytest.mark.parametrize(
    ("body", "headers", "tags"),
    [
        (b"", {}, ()),
        (b"", {"X-Robots-Tag": "NoIndex, nofollow"}, ("noindex", "nofollow")),
        (b"", {"x-robots-tag": "noindex,,noindex"}, ("noindex",)),
        (b"<meta name=robots content=noindex>", {}, ("noindex",)),
        (b'<META CONTENT="none" NAME="ROBOTS"/>', {}, ("none",)),
        (b'<meta name="penstock" content="noindex, nofollow">', {}, ("noindex", "nofollow")),
        (b'<meta name="robots-like" content="noindex">', {}, ("noindex",)),
        (b'<meta name="googlebot" content="noindex">', {}, ()),
        (b'<meta name="robots">', {}, ()),
        (b"<meta name=robots content=noindex", {}, ()),
        (b'<meta name="robots" content="all">', {"X-Robots-Tag": "noindex"}, ("noindex", "all")),
        (b'<meta name="robots" content="\xff">', {}, ("\ufffd",)),
        (b" " * 40_000 + b"<meta name=robots content=noindex>", {}, ()),
    ],
)
def test_robots_tags_are_read_from_headers_and_document(
    body: bytes, headers: Mapping[str, str], tags: tuple[str, ...]
) -> None:
    assert robots_tags(body, headers) == tags


@pytest.mark.parametrize(
    "hostile",
    [
        b"<meta " * 6000,
        b"<meta name " * 3000,
        b"<meta name" + b" " * 40_000,
        b"<meta " + b"name=" * 8000,
        b"<meta name=robots " + b"content=" * 4000,
    ],
    ids=["metas", "names", "spaces", "equals", "contents"],
)
def test_no_document_keeps_the_search_for_tags_busy(hostile: bytes) -> None:
    began = time.perf_counter()
    robots_tags(hostile, {})
    detect(hostile, "")

    assert time.perf_counter() - began < SOON
