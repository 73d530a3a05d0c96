"""The product's place is around its title; what belongs to other products is told apart."""

import pytest

from penstock.extract.page.document import Node, text_of
from penstock.extract.product.place import Place, names_of
from tests.unit.extract.adapters.markup import page
from tests.unit.extract.product.markup import document


def place(body: str, name: str = "Desk Lamp") -> Place:
    return Place(document(page(body)), name)


def title(body: str, name: str = "Desk Lamp") -> str | None:
    found = place(body, name).title
    return text_of(found) if found else None


def target(read: Place) -> Node:
    found = read.document.first("#x")
    assert found is not None
    return found


def whole(read: Place) -> Node:
    assert read.document.tree.body is not None
    return read.document.tree.body


def is_of_another(body: str) -> bool:
    read = place(f"<h1>Desk Lamp</h1>{body}")
    return read.is_of_another(target(read), whole(read))


def is_elsewhere(body: str) -> bool:
    read = place(body)
    return read.is_elsewhere(target(read))


def test_heading_that_names_the_product_is_the_title() -> None:
    assert title("<h1>Shop</h1><h1>The Desk Lamp</h1>") == "The Desk Lamp"


def test_a_lone_heading_is_the_title_whatever_it_says() -> None:
    assert title("<h1>Lampada</h1>") == "Lampada"


def test_without_a_heading_another_element_that_repeats_the_name_is() -> None:
    body = '<div class="related"><h2>Desk</h2></div><p class="product-name">Desk Lamp</p>'

    assert title(body) == "Desk Lamp"
    assert title('<p class="product-name">Stool</p>') is None


def test_zones_widen_only_where_there_is_more_to_read() -> None:
    body = "<main><div id=b><div id=a><h1>Desk Lamp</h1></div></div><p>20</p></main><p>end</p>"

    assert [zone.tag for zone in place(body).zones] == ["div", "main", "body"]


def test_zones_can_be_walked_twice() -> None:
    read = place("<main><h1>Desk Lamp</h1></main><p>end</p>")

    assert [zone.mem_id for zone in read.zones] == [zone.mem_id for zone in read.zones]


def test_rings_have_only_what_the_zone_within_has_not() -> None:
    read = place("<p>one</p><div><div><h1>Desk Lamp</h1>two</div><p>three</p></div> four")

    assert [ring.text for ring in read.rings] == ["Desk Lamp two", "three", "one four"]
    assert [ring.text for ring in read.rings] == ["Desk Lamp two", "three", "one four"]


@pytest.mark.parametrize(
    "body",
    [
        '<div class="related-items"><b id=x>1</b></div>',
        "<nav><b id=x>1</b></nav>",
        "<header><b id=x>1</b></header>",
        '<div class="other-sellers"><b id=x>1</b></div>',
        '<div data-hook="more-from-shop"><b id=x>1</b></div>',
        "<label id=x>1</label>",
    ],
)
def test_parts_about_something_else_are_known_by_name_or_tag(body: str) -> None:
    assert is_elsewhere(body)


@pytest.mark.parametrize(
    "body",
    ['<div class="product-info"><b id=x>1</b></div>', "<main><header id=x>1</header></main>"],
)
def test_parts_of_the_product_are_not_elsewhere(body: str) -> None:
    assert not is_elsewhere(body)


@pytest.mark.parametrize(
    "body",
    [
        '<a href="/stool"><b id=x>1</b></a>',
        '<div><h3><a href="/stool">Stool</a></h3><b id=x>1</b></div>',
        '<div><a href="/stool"><h3>Stool</h3></a><b id=x>1</b></div>',
        '<li class=t><a href="/a">A</a><b id=x>1</b></li><li class=t><a href="/b">B</a></li>',
        '<li class=t><a href="/a">A</a></li> <li class=t><a href="/b">B</a><b id=x>1</b></li>',
        "<div><h2>You may also like</h2><p>Stool <b id=x>1</b></p></div>",
        "<div><h2>Ähnliche Artikel</h2><p>Hocker <b id=x>1</b></p></div>",
    ],
)
def test_links_cards_and_lists_are_of_other_products(body: str) -> None:
    assert is_of_another(body)


@pytest.mark.parametrize(
    "body",
    [
        '<a href="#buy"><b id=x>1</b></a>',
        '<a href="/lamps/7"><b id=x>1</b></a>',
        '<div><h3><a href="/brands/desk">Desk</a></h3><b id=x>1</b></div>',
        '<div><b id=x>1</b><h3><a href="/delivery">Delivery</a></h3></div>',
        '<div><p class=t><b id=x>1</b></p><p class=t><a href="/delivery">Delivery</a></p></div>',
        '<li class=a><a href="/x">X</a><b id=x>1</b></li><li class=b><a href="/y">Y</a></li>',
        "<div><h2>Cookware details</h2><b id=x>1</b></div>",
    ],
)
def test_links_beside_the_products_own_parts_do_not_matter(body: str) -> None:
    assert not is_of_another(body)


def test_a_card_around_the_zone_does_not_matter() -> None:
    read = place(
        '<div><h3><a href="/s">Stool</a></h3><main><h1>Desk Lamp</h1><b id=x>1</b></main></div>'
    )
    zone = next(iter(read.zones))

    assert not read.is_of_another(target(read), zone)
    assert read.is_of_another(target(read), whole(read))


@pytest.mark.parametrize(
    ("element", "names"),
    [
        ('<b id=x class="Old Price" itemprop=price>1</b>', "x old price price"),
        ('<b id=x style="text-decoration: line-through">1</b>', "x strike"),
        ('<b id=x style="display:none">1</b>', "x hidden"),
        ("<b id=x hidden>1</b>", "x hidden"),
        ('<b id=x style="color:red" title="old">1</b>', "x"),
    ],
)
def test_names_of_an_element_say_what_its_style_does(element: str, names: str) -> None:
    assert sorted(names_of(target(place(element))).split()) == sorted(names.split())
