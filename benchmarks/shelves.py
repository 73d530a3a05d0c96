"""Pages of products with pictures, beside the plain ones: what a catalogue crawls."""

import json
from pathlib import Path

from benchmarks import site
from benchmarks.pages import Product, offer, render
from tests.site.pictures import Colour, png

PICTURES = 2
WIDTH, HEIGHT = 160, 120


def pictures_of(shops: site.Site, product: Product) -> list[str]:
    """The addresses of a product's pictures."""
    origin = shops.origin(product.shop)
    return [f"{origin}/media/{product.number}-{place}.png" for place in range(PICTURES)]


def write_with_pictures(folder: Path, shops: site.Site) -> None:
    """The same pages as always, each with pictures that no other has."""
    site.write_pages(folder, shops)
    for shop in site.shops():
        (folder / "shops" / site.address(shop) / "media").mkdir()
    for number, product in enumerate(shops.products()):
        root = folder / "shops" / site.address(product.shop)
        said = offer(product)
        shown = said | {"image": pictures_of(shops, product)}
        page = render(product).replace(json.dumps(said), json.dumps(shown))
        (root / "product" / f"{product.number}.html").write_text(page)
        for place in range(PICTURES):
            note = f"{number}-{place}".encode()
            picture = png(WIDTH, HEIGHT, Colour(number % 256, place, 7), note=note)
            (root / "media" / f"{product.number}-{place}.png").write_bytes(picture)
