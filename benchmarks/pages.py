"""Deterministic product pages of about 18 KB, and the facts a contestant must read from them."""

import json
from dataclasses import dataclass
from html import escape
from random import Random

MATERIALS = ("Oak", "Walnut", "Steel", "Linen", "Copper", "Ceramic", "Bamboo", "Marble")
FINISHES = ("Brass", "Iron", "Glass", "Leather", "Cork", "Wool", "Slate", "Cotton")
THINGS = ("Desk Lamp", "Side Table", "Bookshelf", "Armchair", "Kettle", "Planter", "Mirror")
PRAISE = (
    "solid hand finished frame with a warm natural grain that ages well every piece is sanded "
    "oiled and checked before it leaves the workshop the base keeps it steady on wooden floors "
    "and carpets replacement parts are available for ten years and assembly takes about twenty "
    "minutes delivery within three working days returns are free for a month"
)
WORDS = PRAISE.split()


@dataclass(frozen=True, slots=True)
class Product:
    """What the page of one product says."""

    shop: int
    number: int

    @property
    def random(self) -> Random:
        """A fresh generator, so that a page is the same whatever was rendered before it."""
        return Random(self.shop * 1_000_003 + self.number)

    @property
    def name(self) -> str:
        """Holds an ampersand, which a reader must unescape."""
        return describe_item(self.random, self.number)

    @property
    def title(self) -> str:
        return f"{self.name} | Shop {self.shop}"

    @property
    def price(self) -> str:
        return f"{5 + (self.shop * 7919 + self.number * 104_729) % 99_500 / 100:.2f}"


def describe_item(random: Random, number: int) -> str:
    material, finish, thing = map(random.choice, (MATERIALS, FINISHES, THINGS))
    return f"{material} & {finish} {thing} No. {number}"


def render(product: Product) -> str:
    """The whole page."""
    random = product.random
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n{render_head(product)}</head>\n<body>\n'
        f"{render_navigation()}<main>\n{render_offer(product, random)}"
        f"{render_specification(random)}{render_reviews(random)}{render_carousel(random)}"
        f"</main>\n{render_footer(product)}</body>\n</html>\n"
    )


def render_head(product: Product) -> str:
    title = escape(product.title)
    return (
        f'<meta charset="utf-8">\n<title>{title}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta property="og:title" content="{title}">\n'
        '<meta property="og:type" content="product">\n'
        f'<link rel="canonical" href="/product/{product.number}.html">\n'
        f"<style>{render_styles()}</style>\n"
        f"{render_json_ld(breadcrumbs(product))}{render_json_ld(offer(product))}"
    )


def render_json_ld(data: dict[str, object]) -> str:
    return f'<script type="application/ld+json">{json.dumps(data)}</script>\n'


def breadcrumbs(product: Product) -> dict[str, object]:
    names = ("Home", "Living", product.name)
    items = [{"@type": "ListItem", "position": n, "name": name} for n, name in enumerate(names, 1)]
    return {
        "@context": "https://schema.org",
        "@type": "BreadcrumbList",
        "itemListElement": items,
    }


def offer(product: Product) -> dict[str, object]:
    return {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": product.name,
        "sku": f"S{product.shop:02d}-{product.number:06d}",
        "brand": {"@type": "Brand", "name": f"Shop {product.shop}"},
        "aggregateRating": {"@type": "AggregateRating", "ratingValue": "4.4", "reviewCount": "89"},
        "offers": {
            "@type": "Offer",
            "price": product.price,
            "priceCurrency": "EUR",
            "availability": "https://schema.org/InStock",
        },
    }


def render_styles() -> str:
    return "".join(
        f".block-{n}{{display:flex;margin:{n}px auto;padding:{n % 7}rem;color:#{n:02x}4455}}"
        for n in range(24)
    )


def render_navigation() -> str:
    links = "\n".join(
        f'<li class="nav-item"><a class="nav-link" href="/category/{n}.html">Category {n}</a></li>'
        for n in range(24)
    )
    return f'<nav class="block-1"><ul>\n{links}\n</ul></nav>\n'


def render_offer(product: Product, random: Random) -> str:
    images = "".join(
        f'<img class="gallery" src="/media/{product.number}-{n}.webp" alt="View {n}">\n'
        for n in range(6)
    )
    paragraphs = "".join(f"<p>{prose(random, 45)}</p>\n" for _ in range(6))
    return (
        f'<article class="block-2">\n<h1>{escape(product.name)}</h1>\n{images}'
        f'<p class="price"><span class="amount">€ {product.price}</span></p>\n'
        f'<button class="buy" data-number="{product.number}">Add to basket</button>\n'
        f"{paragraphs}</article>\n"
    )


def render_specification(random: Random) -> str:
    rows = "".join(
        f"<tr><th>Property {n}</th><td>{prose(random, 3)}</td></tr>\n" for n in range(16)
    )
    return f'<table class="block-3">\n{rows}</table>\n'


def render_reviews(random: Random) -> str:
    reviews = "".join(
        f'<li class="review" data-rating="{random.randint(3, 5)}"><h3>{prose(random, 4)}</h3>'
        f"<p>{prose(random, 30)}</p></li>\n"
        for _ in range(13)
    )
    return f'<section class="block-4"><h2>Reviews</h2><ul>\n{reviews}</ul></section>\n'


def render_carousel(random: Random) -> str:
    cards = "".join(render_card(random, random.randint(1, 9999)) for _ in range(27))
    return f'<section class="carousel"><h2>You may also like</h2><ul>\n{cards}</ul></section>\n'


def render_card(random: Random, number: int) -> str:
    return (
        f'<li class="card"><a href="/product/{number}.html">'
        f'<img loading="lazy" src="/media/{number}-0.webp" alt="">'
        f'<span class="card-title">{escape(describe_item(random, number))}</span>'
        f'<span class="card-price">€ {random.randint(500, 99999) / 100:.2f}</span></a></li>\n'
    )


def render_footer(product: Product) -> str:
    links = "".join(f'<a href="/help/{n}.html">Help topic {n}</a>\n' for n in range(12))
    return f'<footer class="block-5">\n{links}<p>© Shop {product.shop}</p>\n</footer>\n'


def prose(random: Random, words: int) -> str:
    return " ".join(random.choices(WORDS, k=words)).capitalize() + "."
