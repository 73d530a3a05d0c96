"""The pages of the catalogue's shops: the same goods, told to machines in seven ways or not."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import quote

from tests.site.catalog_items import (
    SHOPS,
    SOLD_OUT,
    CatalogItem,
    CatalogShop,
    Markup,
    Picture,
    catalog_item,
)
from tests.site.catalog_words import SENTENCES
from tests.site.shops import PAGE_SIZE

SCHEMA = "https://schema.org"
#: How far apart on the shelf the goods are that are shown beside one.
NEIGHBOURS = (1, 4, 6, 9)
#: What shops say at length below everything else, so that pages are as large as real ones.
ABOUT_THE_SHOP = " ".join(SENTENCES * 12)


@dataclass(frozen=True, slots=True)
class Marks:
    """Attributes by which visible elements tell what they are; a page without data has none."""

    property: str = ""
    scope: str = ""

    def of(self, name: str) -> str:
        return f' {self.property}="{name}"' if self.property else ""

    def item(self, kind: str, name: str = "") -> str:
        return (self.of(name) if name else "") + self.scope.format(kind)

    def hidden(self, **values: str) -> str:
        """Values that stand nowhere on the page."""
        if not self.property:
            return ""
        return "".join(f'<meta{self.of(name)} content="{value}">' for name, value in values.items())


NO_MARKS = Marks()
MARKS: dict[Markup, Marks] = {
    "microdata": Marks("itemprop", f' itemscope itemtype="{SCHEMA}/{{}}"'),
    "rdfa": Marks("property", f' vocab="{SCHEMA}/" typeof="{{}}"'),
}


def item_page(item: CatalogItem, pages: int) -> bytes:
    """The page of a product, in the markup and charset of its shop."""
    shop = SHOPS[item.host]
    marks = MARKS.get(shop.markup, NO_MARKS)
    before = f"""\
<!doctype html>
<html lang="{shop.manner.language}">
<head>
<meta charset="{shop.charset}">
<title>{escape(item.title)} | {item.host}</title>
{_head(shop, item)}
</head>
<body>
<header><a href="/">{item.host}</a> <a href="/cart">Cart</a></header>
<nav class="trail"><a href="/">Home</a> » <a href="/?in={quote(item.category)}">\
{escape(item.category)}</a></nav>
{_product(shop, item, marks)}
{_neighbours(item, pages)}
<footer><p>Delivery takes two to five days. © {item.host}</p>
<p>"""
    after = "</p></footer>\n</body>\n</html>\n"
    room = PAGE_SIZE - len(before) - len(after)
    return f"{before}{ABOUT_THE_SHOP[: max(room, 0)]}{after}".encode(shop.charset)


def redesigned_page(item: CatalogItem) -> bytes:
    """After a redesign the page tells neither a price nor whether there is anything to buy."""
    shop = SHOPS[item.host]
    page = f"""\
<!doctype html>
<html lang="{shop.manner.language}">
<head><meta charset="{shop.charset}"><title>{escape(item.title)} | {item.host}</title></head>
<body><h1>{escape(item.title)}</h1>
<p>{escape(item.description)}</p>
<p>Members of our club see what it costs once they have signed in.</p></body>
</html>
"""
    return page.encode(shop.charset)


def _head(shop: CatalogShop, item: CatalogItem) -> str:
    match shop.markup:
        case "json-ld":
            return _script({"@context": SCHEMA, **_as_data(shop, item)})
        case "graph":
            graph = [_organisation(item), _trail(item), _without_category(_as_data(shop, item))]
            return _script({"@context": SCHEMA, "@graph": graph})
        case "open-graph":
            return _metas(_shared(item) | _sharing_of_offer(shop, item))
        case "plain":
            return _metas(_shared(item))
        case _:
            return ""


def _script(data: dict[str, Any]) -> str:
    written = json.dumps(data).replace("<", "\\u003c")
    return f'<script type="application/ld+json">{written}</script>'


def _as_data(shop: CatalogShop, item: CatalogItem) -> dict[str, Any]:
    offer = {
        "@type": "Offer",
        "url": item.url,
        "priceCurrency": item.currency,
        "availability": f"{SCHEMA}/{item.availability}",
    }
    if price := machine_price(shop, item):
        offer["price"] = price
    return {
        "@type": "Product",
        "name": item.title,
        "description": item.description,
        "category": item.category,
        "sku": item.sku,
        "gtin13": item.gtin,
        "mpn": item.mpn,
        "brand": {"@type": "Brand", "name": item.brand},
        "image": [picture.url for picture in item.pictures],
        "aggregateRating": {
            "@type": "AggregateRating",
            "ratingValue": str(item.rating),
            "reviewCount": item.reviews,
        },
        "offers": offer,
    }


def _without_category(data: dict[str, Any]) -> dict[str, Any]:
    """The trail tells the category; pictures are objects with a caption."""
    pictures = [{"@type": "ImageObject", "url": url} for url in data["image"]]
    return {**{key: data[key] for key in data if key != "category"}, "image": pictures}


def _organisation(item: CatalogItem) -> dict[str, Any]:
    return {"@type": "Organization", "name": item.host, "url": f"http://{item.host}/"}


def _trail(item: CatalogItem) -> dict[str, Any]:
    names = ("Home", item.category, item.title)
    steps = [
        {"@type": "ListItem", "position": position, "name": name}
        for position, name in enumerate(names, start=1)
    ]
    return {"@type": "BreadcrumbList", "itemListElement": steps}


def machine_price(shop: CatalogShop, item: CatalogItem) -> str:
    if item.price_minor is None:
        return ""
    whole, cents = divmod(item.price_minor, 10**shop.manner.minor_digits)
    digits = shop.manner.minor_digits
    return f"{whole}.{cents:0{digits}}" if digits else str(whole)


def _shared(item: CatalogItem) -> dict[str, list[str]]:
    """What even plain pages say, so that they look well when people share them."""
    return {
        "og:title": [item.title],
        "og:description": [item.description],
        "og:image": [picture.url for picture in item.pictures],
    }


def _sharing_of_offer(shop: CatalogShop, item: CatalogItem) -> dict[str, list[str]]:
    words = {"InStock": "in stock", "OutOfStock": "out of stock"}
    price = machine_price(shop, item)
    amount = {"product:price:amount": [price], "product:price:currency": [item.currency]}
    return {
        "og:type": ["product"],
        "product:brand": [item.brand],
        "product:category": [item.category],
        "product:retailer_item_id": [item.sku],
        "product:availability": [words.get(item.availability, "backorder")],
        **(amount if price else {}),
    }


def _metas(values: dict[str, list[str]]) -> str:
    return "\n".join(
        f'<meta property="{name}" content="{escape(value)}">'
        for name, several in values.items()
        for value in several
    )


def _product(shop: CatalogShop, item: CatalogItem, marks: Marks) -> str:
    brand = f"<span{marks.of('name')}>{escape(item.brand)}</span>"
    disabled = " disabled" if item.availability == SOLD_OUT else ""
    return f"""\
<main class="product"{marks.item("Product")}>
<h1{marks.of("name")}>{escape(item.title)}</h1>
{marks.hidden(category=escape(item.category), gtin13=item.gtin, mpn=item.mpn)}
<div class="gallery">{"".join(_photos(shop, item, marks))}</div>
<p class="brand"{marks.item("Brand", "brand")}>{brand}</p>
{_stars(item, marks)}
{_offer(shop, item, marks)}
<form action="/cart" method="post"><button class="buy"{disabled}>{shop.manner.buy}</button></form>
<p class="code">SKU: <span{marks.of("sku")}>{item.sku}</span></p>
<section class="description"{marks.of("description")}>{escape(item.description)}</section>
</main>"""


def _photos(shop: CatalogShop, item: CatalogItem, marks: Marks) -> Iterator[str]:
    for position, picture in enumerate(item.pictures):
        where = _address(shop, picture, is_late=position > 0)
        yield f'<img{marks.of("image")} {where} alt="{escape(picture.alt)}">'


def _address(shop: CatalogShop, picture: Picture, *, is_late: bool) -> str:
    """Whole or relative; in some shops the later ones are loaded by a script."""
    path = picture.url.partition(shop.host)[2]
    if shop.markup in {"microdata", "plain"}:
        return f'src="{path}"'
    if shop.markup == "open-graph" and is_late:
        return f'data-src="{picture.url}"'
    if shop.markup == "graph":
        return f'src="{picture.url}" srcset="{picture.url} 1x"'
    return f'src="{picture.url}"'


def _stars(item: CatalogItem, marks: Marks) -> str:
    return (
        f'<p class="stars"{marks.item("AggregateRating", "aggregateRating")}>'
        f"<span{marks.of('ratingValue')}>{item.rating}</span> of 5 stars from "
        f"<span{marks.of('reviewCount')}>{item.reviews}</span> people</p>"
    )


def _offer(shop: CatalogShop, item: CatalogItem, marks: Marks) -> str:
    price = ""
    if item.price_minor is not None:
        stated = marks.hidden(price=machine_price(shop, item))
        price = f'<p class="price">{stated}{shop.manner.price_text(item.price_minor)}</p>'
    stated = marks.hidden(priceCurrency=item.currency, availability=f"{SCHEMA}/{item.availability}")
    stock = f'<p class="stock">{shop.manner.stock_text(item.availability)}</p>'
    return f'<div class="offer"{marks.item("Offer", "offers")}>{stated}{price}{stock}</div>'


def _neighbours(item: CatalogItem, pages: int) -> str:
    """Other goods with their prices, which are not this one's."""
    manner = SHOPS[item.host].manner
    numbers = {(item.number + step - 1) % pages + 1 for step in NEIGHBOURS} - {item.number}
    others = (catalog_item(item.host, number) for number in sorted(numbers))
    cards = "\n".join(
        f'<li><a href="/product/{other.number}">{escape(other.title)}</a> '
        f'<span class="price">{manner.price_text(other.price_minor)}</span></li>'
        for other in others
        if other.price_minor is not None
    )
    return f'<aside class="carousel"><h2>Others also saw</h2>\n<ul>\n{cards}\n</ul></aside>'
