"""The displayed stock is that of this product: its stock line, else its buy button."""

import pytest

from penstock.extract.product.place import Place
from penstock.extract.product.shown_stock import ShownStock
from penstock.kernel.records import Availability
from tests.unit.extract.adapters.markup import page
from tests.unit.extract.product.markup import document


def shown(body: str) -> ShownStock:
    read = document(page(f"<main><h1>Desk Lamp</h1>{body}</main>"))
    return ShownStock(Place(read, "Desk Lamp"))


def stock(body: str) -> Availability:
    return shown(body).availability[0]


def test_stock_line_says_it() -> None:
    assert shown('<p class="stock">Only 2 left</p>').availability == (
        Availability.IN_STOCK,
        "Only 2 left",
    )
    assert stock('<p class="stock">Sold out</p><button>Add to cart</button>') == "OUT_OF_STOCK"


def test_stock_lines_that_contradict_each_other_say_nothing() -> None:
    assert stock('<p class="stock">In stock</p><p class="stock">Sold out</p>') == "UNKNOWN"


def test_nearest_stock_line_goes_first() -> None:
    assert stock('<p class="stock">In stock</p></main><p class="stock">Sold out</p>') == "IN_STOCK"


@pytest.mark.parametrize(
    "line",
    [
        '<li class="size"><i class="stock">Sold out</i></li>',
        '<div class="swatch"><i class="stock">Sold out</i></div>',
        '<div class="store-pickup"><i class="stock">Sold out</i></div>',
        '<button><i class="stock">Sold out</i>Add to cart</button>',
        '<div class="related"><i class="stock">Sold out</i></div>',
    ],
)
def test_stock_of_sizes_shops_and_other_products_is_not_that_of_the_product(line: str) -> None:
    assert stock(f"{line}<button>Add to cart</button>") == "IN_STOCK"


@pytest.mark.parametrize(
    "button",
    [
        "<button>Add to cart</button>",
        '<input type="submit" value="Buy now">',
        '<a class="btn" href="/cart/add/7">In den Warenkorb</a>',
        '<button class="add-to-cart"></button>',
        "<button><i>Add to cart</i><i>Adding</i><i>Sold out</i></button>",
        "<button>Chat with seller</button>",
    ],
)
def test_button_that_buys_is_evidence_of_stock(button: str) -> None:
    assert stock(button) == "IN_STOCK"
    assert shown(button).buy_label


@pytest.mark.parametrize(
    "button",
    [
        "<button disabled>Add to cart</button>",
        '<button class="is-disabled">Add to cart</button>',
        '<button aria-disabled="true">Add to cart</button>',
        "<button>Notify me</button>",
        '<div class="related"><button>Add to cart</button></div>',
        '<div><h3><a href="/stool">Stool</a></h3><button>Add to cart</button></div>',
        '<div><p class=t><a href="/a">A</a><button>Buy now</button></p>'
        '<p class=t><a href="/b">B</a><button>Buy now</button></p></div>',
        f"<button>{'Add to cart ' * 40}</button>",
    ],
)
def test_button_that_cannot_be_pressed_or_buys_something_else_is_none(button: str) -> None:
    assert stock(button) == "UNKNOWN"
    assert shown(button).buy_label == ""
    assert shown(button).buy_button is None


def test_button_to_order_ahead_is_a_back_order() -> None:
    assert stock("<button>Pre-order now</button>") == "BACKORDER"


@pytest.mark.parametrize(
    "words",
    [
        "<p>Sorry, this item is currently out of stock</p>",
        "<button disabled>Sold out</button>",
    ],
)
def test_plain_words_say_that_it_is_gone_if_nothing_else_speaks(words: str) -> None:
    assert stock(words) == "OUT_OF_STOCK"
    assert stock(f"{words}<button>Add to cart</button>") == "IN_STOCK"


@pytest.mark.parametrize(
    "words",
    [
        '<div class="related"><p>Sold out</p></div>',
        "<p>In stock</p>",
        f"<p>Sold out</p><p>{'The lamp shines. ' * 300}</p>",
    ],
)
def test_plain_words_far_away_or_of_other_things_say_nothing(words: str) -> None:
    assert stock(words) == "UNKNOWN"
