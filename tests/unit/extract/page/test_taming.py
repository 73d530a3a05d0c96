"""Ordinary pages are read whole; of those made to stall a parser only a harmless beginning."""

from collections.abc import Callable

import pytest
from selectolax.lexbor import LexborHTMLParser

from penstock.extract.page.document import Document
from penstock.extract.page.taming import FEW_CHARACTERS, MAX_ATTRIBUTES, tame
from tests.site.shops import PRODUCT_NUMBERS, SHOPS, product_page

MANY = 200_000
SOME = 3_000


def _open_formatting() -> str:
    opened = "".join(f"<b id={number}>" for number in range(SOME))
    return f"<p>{opened}</p>{'<p>x</p>' * SOME}"


#: Each is small enough to be fetched and costs a parser minutes or gigabytes.
BOMBS: dict[str, Callable[[], str]] = {
    "nested": lambda: "<div>" * MANY,
    "nested and closed": lambda: "<div>" * MANY + "</div>" * MANY,
    "nested lists": lambda: "<ul><li>" * MANY,
    "formatting": _open_formatting,
    "formatting in capitals": lambda: _open_formatting().upper(),
    "formatting closed at the end": lambda: _open_formatting() + "</b>" * SOME,
    "formatting in formatting": lambda: "<b>" * MANY,
    "formatting in a drawing": lambda: f"<svg>{_open_formatting()}</svg>",
    "formatting closed in a comment": lambda: "<p><i id=1><!--</i>--></p>" * SOME,
    "attributes": lambda: f"<p {' '.join(f'a{number}=1' for number in range(MANY))}>",
    "attributes with tag ends": lambda: (
        "<p " + " ".join(f'a{number}=">"' for number in range(MANY)) + ">"
    ),
    "attributes of a link": lambda: f"<a {' '.join(f'a{number}=1' for number in range(MANY))}>",
    "attributes never closed": lambda: "<p " + " ".join(f"a{number}" for number in range(MANY)),
    "options": lambda: "<select>" + "<option>" * MANY,
    "options closed": lambda: f"<select>{'<option>' * MANY}</select>",
    "options of no select": lambda: "<option>" * MANY,
}


@pytest.mark.parametrize("host", list(SHOPS))
def test_page_of_a_shop_is_read_whole(host: str) -> None:
    for number in PRODUCT_NUMBERS:
        text = product_page(host, number)
        assert tame(text) is text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Lamp",
        "a < b",
        "<p>5 <b>lamps</b>",
        "<p><B>Red</b> <i class='x'>lamp</i></p>" * 500,
        "<p><b>Red <i>lamp</i></b></p>" * 500,
        "<p>" + "<b>x" * 20,
        "<div>" * 500 + "Lamp" + "</div>" * 500,
        "<table>" + "<tr><td>1<td>2" * 2_000 + "</table>",
        "<ul>" + "<li>x" * 5_000 + "</ul>",
        "<select>" + "<option value=1>x</option>" * 500 + "</select>",
        "<a href=/x class=y>x</a>" * 2_000,
        f"<p {' '.join(f'data-{number}=1' for number in range(100))}>x</p>",
        "<script>" + "if (a < b) '<div>';" * 5_000 + "</script><p>Lamp</p>",
        "<style>" + "p > b {}" * 5_000 + "</style>",
        "<svg><title>x</title><path d='M0 0'/></svg>" * 500,
        "<!-- <div> -->" * 500,
        "<p>Lamp</p" + " " * 500,
    ],
)
def test_page_that_is_not_well_formed_is_read_whole(text: str) -> None:
    assert tame(text) is text


@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", list(BOMBS))
def test_bomb_is_cut_short(name: str) -> None:
    bomb = BOMBS[name]()
    cut = tame(bomb)
    # A select that is odd is made an element like any other.
    assert bomb.startswith(cut.replace("<x-", "<"))
    assert len(cut) <= len(bomb) // 2 + len("x-")


@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", list(BOMBS))
def test_what_is_left_of_a_bomb_is_harmless(name: str) -> None:
    cut = tame(BOMBS[name]())
    assert tame(cut) is cut
    assert LexborHTMLParser(cut).html is not None


@pytest.mark.parametrize("name", list(BOMBS))
def test_beginning_of_a_page_survives_the_bomb_behind_it(name: str) -> None:
    page = "<html><body><h1>Lamp</h1>"
    bomb = BOMBS[name]()
    behind = page + "<p>x</p>" * 500 + bomb
    cut = tame(behind)
    assert len(cut) < len(behind) - len(bomb) // 2
    assert cut.startswith(page)


def test_page_that_is_too_large_is_cut() -> None:
    text = "<p>x</p>" * (FEW_CHARACTERS // 4)
    assert len(tame(text)) <= FEW_CHARACTERS


def test_tag_may_have_so_many_attributes_and_no_more() -> None:
    attributes = [f"a{number}=1" for number in range(MAX_ATTRIBUTES + 1)]
    few = f"<p {' '.join(attributes[:-1])}>"
    many = f"<p {' '.join(attributes)}>"
    assert tame(few) is few
    assert tame(many) != many


@pytest.mark.parametrize(
    "odd",
    [
        "<select><option>never closed",
        "<select><option><span>x</span></option></select>",
        "<select><option><b>x</b></option></select>",
        f"<select>{'<option>x' * 9_000}</select>",
        "<math><mi>x</mi></math>",
        "<svg><g>",
        "<SVG><path d='M'><p>x",
    ],
)
def test_odd_select_or_drawing_costs_nothing_around_it(odd: str) -> None:
    page = product_page("shop01.test", 1).replace("</h1>", f"</h1>{odd}", 1)
    document = Document(page, "https://shop01.test/product/1")
    assert len(tame(page)) >= len(page)
    assert document.first_text("h1") == "Brightwell Lamp Model 1"
    assert document.first_text("p.price") == "$78.58"
