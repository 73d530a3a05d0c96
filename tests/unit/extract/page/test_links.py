"""Links of a page: which of them may be followed, and where they lead."""

import pytest

from penstock.extract.page.links import links_to_follow

HERE = "https://shop.test/a/b"


def found(markup: str, head: str = "") -> list[str]:
    page = f"<html><head><title>A</title>{head}</head><body>{markup}</body></html>"
    return [link.href for link in links_to_follow(page.encode(), HERE)]


def test_links_are_absolute_in_order_and_once() -> None:
    markup = """<a href=c>C</a><a href="/d">D</a><a href="https://other.test/#top">O</a>
    <map><area href="//x.test/e"></map><a href="c#again">C</a>"""

    assert found(markup) == [
        "https://shop.test/a/c",
        "https://shop.test/d",
        "https://other.test/",
        "https://x.test/e",
    ]


def test_base_of_the_page_is_honoured() -> None:
    assert found("<a href=c>C</a>", head='<base href="/base/">') == ["https://shop.test/base/c"]


@pytest.mark.parametrize(
    "markup",
    [
        "<a rel=nofollow href=/c>C</a>",
        '<a rel="ugc NoFollow" href=/c>C</a>',
        "<a href=mailto:a@shop.test>C</a>",
        "<a href=javascript:void(0)>C</a>",
        "<a href=ftp://shop.test/c>C</a>",
        "<a href=https://user:password@shop.test/c>C</a>",
        "<a href=https://>C</a>",
        "<a href=#top>C</a><a href=''>C</a><a name=c>C</a>",
        "<!-- <a href=/c>C</a> -->",
    ],
)
def test_link_is_not_followed(markup: str) -> None:
    assert found(markup) == []


@pytest.mark.parametrize("content", ["nofollow", "noindex, NOFOLLOW", "none"])
def test_page_may_forbid_to_follow_its_links(content: str) -> None:
    assert found("<a href=/c>C</a>", head=f'<meta name="robots" content="{content}">') == []


def test_header_may_forbid_it_too() -> None:
    body = b"<a href=/c>C</a>"

    assert links_to_follow(body, HERE, headers={"X-Robots-Tag": "nofollow"}) == ()
    assert len(links_to_follow(body, HERE, headers={"X-Robots-Tag": "noindex"})) == 1


def test_page_in_another_charset_is_read() -> None:
    body = "<a href='/zürich'>Zürich</a>".encode("latin-1")

    (link,) = links_to_follow(body, HERE, "text/html; charset=iso-8859-1")

    assert link.href == "https://shop.test/z%C3%BCrich"
