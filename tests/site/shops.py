"""shop01 … shop10.test: the same twenty products, each shop in its own currency and language."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tests.site.answers import Answer, Hit, Plan, Reply
from tests.site.pages import by_path, html, links, not_found, page
from tests.site.pictures import Colour, png

PRODUCT_NUMBERS = range(1, 21)
PAGE_SIZE = 18_000
LAST_MODIFIED = "Wed, 01 Oct 2025 08:00:00 GMT"

BRANDS = ("Aldermoor", "Brightwell", "Corvane", "Dunholm", "Eastmere")
THINGS = ("Kettle", "Lamp", "Rucksack", "Headphones", "Bicycle Pump", "Tent", "Blender")
SENTENCES = (
    "It has been tested by people who use it every day and who say what they think.",
    "The finish is matt, so that fingerprints do not show, and it wipes clean.",
    "All parts can be replaced, and drawings of each of them come with it.",
    "Small enough for a shelf, large enough for a family that likes to share.",
    "We keep spare parts for as long as anybody asks for them, and then some.",
)


@dataclass(frozen=True, slots=True)
class Shop:
    host: str
    language: str
    currency: str
    minor_digits: int
    price_form: str
    thousands: str
    decimal: str
    price_percent: int
    buy: str
    in_stock: str
    sold_out: str
    back_order: str

    def price_text(self, minor: int) -> str:
        whole, cents = divmod(minor, 10**self.minor_digits)
        amount = f"{whole:,}".replace(",", self.thousands)
        if self.minor_digits:
            amount += f"{self.decimal}{cents:0{self.minor_digits}}"
        return self.price_form.format(amount)

    def stock_text(self, availability: str) -> str:
        texts = {"InStock": self.in_stock, "OutOfStock": self.sold_out}
        return texts.get(availability, self.back_order)


_ENGLISH = ("Add to basket", "In stock", "Out of stock", "Available on back order")
_GERMAN = ("In den Warenkorb", "Auf Lager", "Ausverkauft", "Auf Bestellung")
_FRENCH = ("Ajouter au panier", "En stock", "Rupture de stock", "Disponible sur commande")
_JAPANESE = ("カートに入れる", "在庫あり", "在庫切れ", "取り寄せ")
_SWEDISH = ("Lägg i varukorgen", "I lager", "Slutsåld", "Beställningsvara")
_POLISH = ("Do koszyka", "W magazynie", "Wyprzedane", "Na zamówienie")
_PORTUGUESE = ("Adicionar ao carrinho", "Em estoque", "Esgotado", "Sob encomenda")

_SHOPS = (
    Shop("shop01.test", "en-US", "USD", 2, "${}", ",", ".", 100, *_ENGLISH),
    Shop("shop02.test", "de-DE", "EUR", 2, "{} €", ".", ",", 92, *_GERMAN),
    Shop("shop03.test", "en-GB", "GBP", 2, "£{}", ",", ".", 79, *_ENGLISH),
    Shop("shop04.test", "ja-JP", "JPY", 0, "¥{}", ",", ".", 150, *_JAPANESE),
    Shop("shop05.test", "sv-SE", "SEK", 2, "{} kr", " ", ",", 1050, *_SWEDISH),
    Shop("shop06.test", "pl-PL", "PLN", 2, "{} zł", " ", ",", 395, *_POLISH),
    Shop("shop07.test", "de-CH", "CHF", 2, "CHF {}", "’", ".", 88, *_GERMAN),  # noqa: RUF001
    Shop("shop08.test", "en-IN", "INR", 2, "₹{}", ",", ".", 8300, *_ENGLISH),
    Shop("shop09.test", "pt-BR", "BRL", 2, "R$ {}", ".", ",", 540, *_PORTUGUESE),
    Shop("shop10.test", "fr-FR", "EUR", 2, "{} €", " ", ",", 97, *_FRENCH),
)
SHOPS = {shop.host: shop for shop in _SHOPS}


@dataclass(frozen=True, slots=True)
class Product:
    """The truth about one product page, for tests to compare with."""

    host: str
    number: int
    title: str
    brand: str
    sku: str
    gtin: str
    price_minor: int
    price_text: str
    currency: str
    availability: str
    rating: str
    reviews: int

    @property
    def url(self) -> str:
        return f"http://{self.host}/product/{self.number}"

    @property
    def image_url(self) -> str:
        return f"http://{self.host}/image/{self.number}.png"


def product(host: str, number: int) -> Product:
    """A product has the same title, brand and GTIN in every shop; price and SKU differ."""
    shop = SHOPS[host]
    brand = BRANDS[number % len(BRANDS)]
    price_minor = (495 + 7350 * number + 13 * number**2) * shop.price_percent // 100
    return Product(
        host=host,
        number=number,
        title=f"{brand} {THINGS[number % len(THINGS)]} Model {number}",
        brand=brand,
        sku=f"{host[4:6]}-{number:05}",
        gtin=gtin13(f"95200000{number:04}"),
        price_minor=price_minor,
        price_text=shop.price_text(price_minor),
        currency=shop.currency,
        availability=_availability(number),
        rating=f"{3 + number % 20 / 10:.1f}",
        reviews=number * 7,
    )


def _availability(number: int) -> str:
    if number % 7 == 0:
        return "OutOfStock"
    return "BackOrder" if number % 11 == 0 else "InStock"


def gtin13(twelve_digits: str) -> str:
    weighted = sum(int(digit) * (3 if odd % 2 else 1) for odd, digit in enumerate(twelve_digits))
    return f"{twelve_digits}{-weighted % 10}"


@cache
def product_page(host: str, number: int) -> str:
    shop, item = SHOPS[host], product(host, number)
    stock = shop.stock_text(item.availability)
    disabled = " disabled" if item.availability == "OutOfStock" else ""
    before = f"""\
<!doctype html>
<html lang="{shop.language}">
<head>
<meta charset="utf-8">
<title>{item.title} | {host}</title>
<meta name="description" content="{item.title} by {item.brand}">
<link rel="canonical" href="{item.url}">
<script type="application/ld+json">{_structured_data(shop, item)}</script>
</head>
<body>
<nav><a href="/">{host}</a> <a href="/cart">Cart</a></nav>
<main id="product" data-sku="{item.sku}">
<h1 class="title">{item.title}</h1>
<img class="photo" src="/image/{number}.png" alt="{item.title}">
<p class="brand">{item.brand}</p>
<p class="price" data-currency="{shop.currency}">{item.price_text}</p>
<p class="stock">{stock}</p>
<form action="/cart" method="post"><button class="buy"{disabled}>{shop.buy}</button></form>
"""
    after = f"</main>\n{_carousel(host, number)}\n</body>\n</html>\n"
    room = PAGE_SIZE - len(before.encode()) - len(after.encode())
    return before + _description(number, room) + after


def _structured_data(shop: Shop, item: Product) -> str:
    whole, cents = divmod(item.price_minor, 10**shop.minor_digits)
    price = f"{whole}.{cents:0{shop.minor_digits}}" if shop.minor_digits else str(whole)
    data = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": item.title,
        "sku": item.sku,
        "gtin13": item.gtin,
        "brand": {"@type": "Brand", "name": item.brand},
        "image": [item.image_url],
        "category": item.title.split()[1],
        "aggregateRating": {
            "@type": "AggregateRating",
            "ratingValue": item.rating,
            "reviewCount": item.reviews,
        },
        "offers": {
            "@type": "Offer",
            "url": item.url,
            "price": price,
            "priceCurrency": item.currency,
            "availability": f"https://schema.org/{item.availability}",
        },
    }
    return json.dumps(data)


def _carousel(host: str, number: int) -> str:
    others = [(number + step - 1) % len(PRODUCT_NUMBERS) + 1 for step in (1, 4, 6, 9, 13, 15)]
    cards = "\n".join(
        f'<li><a href="/product/{other.number}">{other.title}</a> '
        f'<span class="price">{other.price_text}</span></li>'
        for other in (product(host, other) for other in others)
    )
    return f'<aside class="carousel"><h2>Others also saw</h2>\n<ul>\n{cards}\n</ul></aside>'


def _description(number: int, size: int) -> str:
    paragraphs: list[str] = []
    while size > 0:
        start = number + len(paragraphs)
        chosen = (SENTENCES[(start * step) % len(SENTENCES)] for step in (1, 2, 3))
        paragraphs.append(f"<p>{' '.join(chosen)}</p>\n")
        size -= len(paragraphs[-1])
    return f'<section class="description">\n{"".join(paragraphs)}</section>\n'


def _product(hit: Hit) -> Answer:
    if not _is_number(hit.last_segment):
        return not_found(hit)
    reply, etag = _tagged_page(_shop_host(hit), int(hit.last_segment))
    return Reply(304, headers=reply.headers) if _is_fresh(hit, etag) else reply


@cache
def _tagged_page(host: str, number: int) -> tuple[Reply, str]:
    content = product_page(host, number).encode()
    etag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    return Reply(200, content, {"ETag": etag, "Last-Modified": LAST_MODIFIED}), etag


def _is_fresh(hit: Hit, etag: str) -> bool:
    if "If-None-Match" in hit.headers:
        return hit.knows(etag)
    return hit.headers.get("If-Modified-Since") == LAST_MODIFIED


def _listing(hit: Hit) -> Reply:
    return page(_shop_host(hit), links(_product_paths()))


def _sitemap(hit: Hit) -> Reply:
    entries = "".join(f"<url><loc>http://{hit.host}{path}</loc></url>" for path in _product_paths())
    body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'
    return Reply(200, body, {"Content-Type": "application/xml"})


def _image(hit: Hit) -> Answer:
    number = hit.last_segment.removesuffix(".png")
    if not _is_number(number):
        return not_found(hit)
    return Reply(200, _png(int(number)), {"Content-Type": "image/png"})


def _png(number: int, side: int = 64) -> bytes:
    """A square whose colour tells the product."""
    return png(side, side, Colour(number * 12 % 256, number * 40 % 256, 128))


def _product_paths() -> Iterator[str]:
    return (f"/product/{number}" for number in PRODUCT_NUMBERS)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and int(text) in PRODUCT_NUMBERS


def _shop_host(hit: Hit) -> str:
    # www.shop01.test is served by the same shop.
    return ".".join(hit.host.split(".")[-2:])


PAGES: dict[str, Plan] = {
    "/": _listing,
    "/product/*": _product,
    "/image/*": _image,
    "/sitemap.xml": _sitemap,
    "/cart": Reply(200, html("Cart", "<p>Your cart is empty.</p>")),
}

shop_pages = by_path(PAGES)
