"""The shops of the browser benchmark: empty shells that a script fills, styled, with pictures."""

import json
import struct
import zlib
from pathlib import Path
from random import Random

from benchmarks.pages import WORDS, Product, describe_item, offer, prose
from benchmarks.site import ROBOTS, Site, address, shops

#: Together about 0.9 MB, which is what shops show on such a page.
PICTURES = 12
PICTURE_SIDE = 160
CARDS = 24
REVIEWS = 12
PHRASES = 600

#: What the script does, as shops do it: ask for the data, then build the page from it.
SCRIPT = """
const shop = {
  make(kind, classes, text) {
    const made = document.createElement(kind);
    made.className = classes;
    if (text !== undefined) made.textContent = text;
    return made;
  },
  picture(number) {
    const made = shop.make("img", "picture");
    made.src = `/assets/${number % %(pictures)d}.png`;
    return made;
  },
  describe(data) {
    const block = document.createElement("script");
    block.type = "application/ld+json";
    block.textContent = JSON.stringify(data.offer);
    document.head.append(block);
    document.title = data.title;
  },
  fill(data) {
    const main = document.getElementById("app");
    main.append(shop.make("h1", "name", data.offer.name), shop.picture(data.number));
    main.append(shop.make("p", "about", data.about));
    const reviews = shop.make("ul", "reviews");
    for (const said of data.reviews) reviews.append(shop.make("li", "review", said));
    const cards = shop.make("ul", "cards");
    data.cards.forEach((name, place) => {
      const card = shop.make("li", "card", name);
      card.append(shop.picture(place));
      cards.append(card);
    });
    main.append(reviews, cards);
    main.append(shop.make("p", "price", `${data.offer.offers.price} EUR`));
  },
};
const number = location.pathname.match(/(\\d+)\\.html$/)[1];
fetch(`/data/${number}.json`).then(reply => reply.json()).then(data => {
  shop.describe(data);
  shop.fill(data);
});
"""

SHELL = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Shop</title>
<link rel="stylesheet" href="/assets/style.css">
<script src="/assets/phrases.js" defer></script><script src="/assets/shop.js" defer></script>
</head><body><header><img src="/assets/0.png" alt=""></header><main id="app"></main></body></html>
"""


def write_pages(folder: Path, site: Site) -> None:
    """All shops: one shell and one file of data for each product, and parts that all share."""
    # nginx drops root for its worker, which must still reach the pages.
    folder.chmod(0o755)
    write_parts(folder / "assets")
    for shop in shops():
        root = folder / "shops" / address(shop)
        for part in ("product", "private", "data"):
            (root / part).mkdir(parents=True)
        (root / "assets").symlink_to(folder / "assets")
        (root / "robots.txt").write_text(ROBOTS)
        (root / "private" / "1.html").write_text(SHELL)
    for product in site.products():
        root = folder / "shops" / address(product.shop)
        (root / "product" / f"{product.number}.html").write_text(SHELL)
        (root / "data" / f"{product.number}.json").write_text(json.dumps(data_of(product)))


def write_parts(folder: Path) -> None:
    folder.mkdir()
    random = Random(1)
    script = SCRIPT.replace("%(pictures)d", str(PICTURES))
    (folder / "shop.js").write_text(script)
    phrases = {f"phrase{number}": prose(random, 8) for number in range(PHRASES)}
    (folder / "phrases.js").write_text(f"const phrases = {json.dumps(phrases, indent=1)};\n")
    (folder / "style.css").write_text(render_style(random))
    for number in range(PICTURES):
        (folder / f"{number}.png").write_bytes(draw(random))


def data_of(product: Product) -> dict[str, object]:
    random = product.random
    return {
        "number": product.number,
        "title": product.title,
        "offer": offer(product),
        "about": prose(random, 120),
        "reviews": [prose(random, 30) for _ in range(REVIEWS)],
        "cards": [describe_item(random, number) for number in range(CARDS)],
    }


def render_style(random: Random) -> str:
    rules = [
        f".{word}-{number} {{ margin: {number}px; color: #{random.randrange(1 << 24):06x}; }}"
        for number in range(10)
        for word in sorted(set(WORDS))
    ]
    grid = ".cards { display: grid; grid-template-columns: repeat(4, 1fr); }"
    return "\n".join([grid, ".picture { width: 128px; height: 128px; }", *rules])


def draw(random: Random) -> bytes:
    """A PNG of noise."""
    row = PICTURE_SIDE * 3
    pixels = b"".join(b"\0" + random.randbytes(row) for _ in range(PICTURE_SIDE))
    head = struct.pack(">IIBBBBB", PICTURE_SIDE, PICTURE_SIDE, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(pixels)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
