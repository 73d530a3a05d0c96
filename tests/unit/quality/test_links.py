"""Addresses come out clean, and can still be fetched."""

import pytest

from penstock.core.urls import MAX_URL_LENGTH
from penstock.quality.links import clean_url


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("https://shop.test/p/1", "https://shop.test/p/1"),
        (" https://shop.test/p/1 ", "https://shop.test/p/1"),
        ("http://Shop.test", "https://shop.test/"),
        ("http://shop.test:80/p", "https://shop.test/p"),
        ("http://shop.test:443/p", "https://shop.test/p"),
        ("https://shop.test:443/p", "https://shop.test/p"),
        ("http://shop.test:8080/p", "https://shop.test:8080/p"),
        ("https://shop.test:80/p", "https://shop.test:80/p"),
        ("https://shop.test/p/?b=2&a=1&empty=#top", "https://shop.test/p/?b=2&a=1&empty="),
        ("https://shop.test/p?utm_source=x&a=1&UTM_Id=2&gclid=3", "https://shop.test/p?a=1"),
        ("https://shop.test/p?utm%5Fsource=x&fbclid", "https://shop.test/p"),
        ("https://shop.test/p?refer=1&utmost=2", "https://shop.test/p?refer=1&utmost=2"),
        ("https://shop.test/p?a=1&amp;utm_source=x&amp;amp;b=2", "https://shop.test/p?a=1&b=2"),
        ("https://shop.test/a/../b c", "https://shop.test/b%20c"),
        ("https://shop.test/a/../b", "https://shop.test/b"),
        ("//cdn.test/i.jpg", "https://cdn.test/i.jpg"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("/p/1", None),
        ("shop.test/p", None),
        ("javascript:alert(1)", None),
        ("mailto:a@b.test", None),
        ("data:image/gif;base64,R0lGOD", None),
        ("https://user:secret@shop.test/", None),
        ("https://shop.test/\x00", None),
        ("https://shop.test/\ud800", None),
        ("https://", None),
        ("", None),
        ("http://shop.test/" + "p" * (MAX_URL_LENGTH - len("http://shop.test/")), None),
    ],
)
def test_url_is_https_without_tracking_and_otherwise_as_it_was(raw: str, clean: str | None) -> None:
    assert clean_url(raw) == clean


@pytest.mark.parametrize(
    ("link", "clean"),
    [
        ("/i.jpg", "https://shop.test/i.jpg"),
        ("i.jpg?utm_id=1", "https://shop.test/p/i.jpg"),
        ("?page=2", "https://shop.test/p/1?page=2"),
        ("//cdn.test/i.jpg", "https://cdn.test/i.jpg"),
        ("http://cdn.test/i.jpg", "https://cdn.test/i.jpg"),
    ],
)
def test_relative_url_is_resolved_against_the_page(link: str, clean: str) -> None:
    assert clean_url(link, base="http://shop.test/p/1") == clean


@pytest.mark.parametrize("link", ["", " ", "#", "#top"])
def test_link_to_nowhere_is_not_the_page_itself(link: str) -> None:
    assert clean_url(link, base="https://shop.test/p/1") is None
