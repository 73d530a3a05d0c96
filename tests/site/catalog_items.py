"""goods01 … goods20.test: what the catalogue's shops sell, made up of the shop and a number.

Texts are English everywhere, so that search has something to find; prices and stock are written
as the shop's own country does.
"""

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from typing import Literal

from tests.site import catalog_words as words
from tests.site.pictures import FORMATS, Colour, bomb, png
from tests.site.shops import SHOPS as OTHER_SHOPS
from tests.site.shops import Shop, gtin13

Markup = Literal["json-ld", "graph", "microdata", "rdfa", "open-graph", "plain", "bare"]
#: What can be wrong with a picture; the last two are good ones with a wrong label.
Trouble = Literal[
    "", "missing", "page", "half", "stub", "bomb", "large", "other-type", "unknown-type"
]
HARMLESS: frozenset[Trouble] = frozenset(["", "other-type", "unknown-type"])
#: Above the ten mebibytes that are read of any body.
LARGE_PICTURE = 11 * 1024 * 1024

SOLD_OUT, BACK_ORDER, IN_STOCK = "OutOfStock", "BackOrder", "InStock"
#: The fewest words of a description; one sentence more is the most.
FEWEST_WORDS, MOST_WORDS = 30, 66
LOGO_SIZE = (120, 40)
LOGO_POSITION = 3
#: One picture in so many is troubled, and this is how.
TROUBLED = 40
TROUBLES: dict[int, Trouble] = dict(
    enumerate(("missing", "page", "half", "stub", "bomb", "other-type", "unknown-type"))
)


@dataclass(frozen=True, slots=True)
class CatalogShop:
    """A shop: it writes prices as one of shop01 … shop10.test does, and has a markup of its own."""

    index: int
    like: int
    markup: Markup
    charset: str = "utf-8"
    content_type: str = "text/html; charset=utf-8"
    pictures_at: str = ""
    robots: tuple[str, ...] = ()
    denied: frozenset[int] = frozenset()

    @property
    def host(self) -> str:
        return f"goods{self.index:02}.test"

    @property
    def manner(self) -> Shop:
        return _manner(self.like, self.host)


@cache
def _manner(like: int, host: str) -> Shop:
    return replace(OTHER_SHOPS[f"shop{like:02}.test"], host=host)


DENIED = (3, 17, 58)
_SHOPS = (
    CatalogShop(1, 1, "json-ld"),
    CatalogShop(2, 2, "microdata"),
    CatalogShop(3, 3, "open-graph", robots=("Crawl-delay: 1",)),
    CatalogShop(4, 4, "graph"),
    CatalogShop(5, 1, "plain"),
    CatalogShop(6, 2, "json-ld", "windows-1252", "text/html; charset=windows-1252"),
    CatalogShop(
        7,
        1,
        "microdata",
        robots=tuple(f"Disallow: /product/{number}$" for number in DENIED),
        denied=frozenset(DENIED),
    ),
    CatalogShop(8, 3, "rdfa"),
    CatalogShop(9, 10, "open-graph", "windows-1252", "text/html"),
    CatalogShop(10, 2, "plain"),
    CatalogShop(11, 1, "graph", pictures_at="img."),
    CatalogShop(12, 5, "microdata"),
    CatalogShop(13, 10, "json-ld"),
    CatalogShop(14, 1, "bare"),
    CatalogShop(15, 7, "json-ld"),
    CatalogShop(16, 6, "microdata"),
    CatalogShop(17, 3, "open-graph"),
    CatalogShop(18, 8, "json-ld"),
    CatalogShop(19, 3, "plain"),
    CatalogShop(20, 9, "graph"),
)
SHOPS = {shop.host: shop for shop in _SHOPS}


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of a product, at its own address; others may be the same, byte by byte."""

    url: str
    alt: str
    format: str
    width: int
    height: int
    colour: Colour
    trouble: Trouble = ""

    @property
    def is_good(self) -> bool:
        return self.trouble in HARMLESS


@dataclass(frozen=True, slots=True)
class CatalogItem:
    """The truth about one product page; without a price it is sold out."""

    host: str
    number: int
    title: str
    brand: str
    category: str
    description: str
    price_minor: int | None
    currency: str
    availability: str
    rating: Decimal
    reviews: int
    sku: str
    gtin: str
    mpn: str
    pictures: tuple[Picture, ...]

    @property
    def url(self) -> str:
        return f"http://{self.host}/product/{self.number}"


@cache
def catalog_item(host: str, number: int) -> CatalogItem:
    shop = SHOPS[host]
    chance = random.Random(f"{host}/{number}")
    brand, category = chance.choice(words.BRANDS), chance.choice(words.CATEGORIES)
    noun = chance.choice(words.NOUNS[category])
    adjective, material = chance.choice(words.ADJECTIVES), chance.choice(words.MATERIALS)
    model = f"{brand[:2].upper()}-{shop.index:02}{number:03}"
    title = f"{adjective} {material} {noun} {model}"
    availability = _availability(number)
    cents = chance.randrange(499, 90_000) * shop.manner.price_percent // 100
    return CatalogItem(
        host=host,
        number=number,
        title=title,
        brand=brand,
        category=category,
        description=_description(chance, adjective, material, noun),
        price_minor=None if availability == SOLD_OUT and number % 2 else cents,
        currency=shop.manner.currency,
        availability=availability,
        rating=Decimal(chance.randrange(20, 51)) / 10,
        reviews=chance.randrange(1, 2_000),
        sku=f"G{shop.index:02}-{number:05}",
        gtin=gtin13(f"9520{shop.index:02}{number:06}"),
        mpn=f"{brand[:1].upper()}{shop.index:02}{number:04}X",
        pictures=tuple(_pictures(shop, number, chance, title, brand)),
    )


def _availability(number: int) -> str:
    if number % 7 == 0:
        return SOLD_OUT
    return BACK_ORDER if number % 11 == 0 else IN_STOCK


def _description(chance: random.Random, adjective: str, material: str, noun: str) -> str:
    text = f"A {adjective.lower()} {noun.lower()} made of {material.lower()}."
    enough = chance.randint(FEWEST_WORDS, MOST_WORDS)
    for sentence in chance.sample(words.SENTENCES, len(words.SENTENCES)):
        if len(text.split()) >= enough:
            break
        text += f" {sentence}"
    return text


def _pictures(
    shop: CatalogShop, number: int, chance: random.Random, title: str, brand: str
) -> Iterator[Picture]:
    """One to four; the last of some products is in trouble, the fourth is the brand's logo."""
    count = chance.randint(1, 4)
    for position in range(count):
        trouble = _trouble(shop, number) if position == count - 1 else ""
        if position == LOGO_POSITION:
            file, (width, height), alt = "png", LOGO_SIZE, f"{brand} logo"
            colour = _colour(brand)
        else:
            file, alt = chance.choice(list(FORMATS)), f"{title}, picture {position + 1}"
            width, height = chance.randrange(40, 160), chance.randrange(40, 160)
            colour = _colour(f"{shop.host}/{number}/{position}")
        url = f"http://{shop.pictures_at}{shop.host}/image/{number}-{position}.{_ending(file)}"
        yield Picture(url, alt, file, width, height, colour, trouble)


def _trouble(shop: CatalogShop, number: int) -> Trouble:
    if (shop.index, number) == (4, 4):
        return "large"
    return TROUBLES.get((7 * shop.index + number) % TROUBLED, "")


def _ending(file: str) -> str:
    return "jpg" if file == "jpeg" else file


def _colour(name: str) -> Colour:
    return Colour(*hashlib.sha256(name.encode()).digest()[:3])


@cache
def picture_bytes(picture: Picture) -> bytes:
    """What is served for a picture that is there."""
    match picture.trouble:
        case "page":
            return b"<!doctype html><title>Gone</title><p>This picture has moved.</p>"
        case "bomb":
            return bomb()
        case "large":
            note = b"." * LARGE_PICTURE
            return png(picture.width, picture.height, picture.colour, note=note)
    whole = FORMATS[picture.format](picture.width, picture.height, picture.colour)
    match picture.trouble:
        case "half":
            return whole[: len(whole) // 2]
        case "stub":
            return whole[:12]
        case _:
            return whole
