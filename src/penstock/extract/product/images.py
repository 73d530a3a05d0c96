"""Images of a product: which ones a page has, in what part, and what it says they show."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from penstock.extract.page.document import Document, Node
from penstock.extract.page.structured import as_list, fold, within
from penstock.extract.product.glance import Glance
from penstock.extract.product.offers import RELATED, main_listing, text

ImageKind = Literal["primary", "gallery", "thumbnail"]

MOST_IMAGES = 20
MAX_ELEMENTS = 1_000
MAX_CANDIDATES = 30
MAX_ALT = 512
SOURCES = ("src", "data-src", "data-original", "data-lazy-src", "data-zoom-image")
SOURCE_SETS = ("srcset", "data-srcset")
THUMBNAILS = ("thumbnailUrl", "thumbnail")


@dataclass(frozen=True, slots=True)
class FoundImage:
    """An image of a product, absolute; `alt` is what the page says it shows."""

    url: str
    alt: str | None = None
    kind: ImageKind = "gallery"


def find_images(
    document: Document, named: Iterable[str], most: int = MOST_IMAGES
) -> list[FoundImage]:
    """The images that an adapter named, the first of them the primary one; then thumbnails.

    As the page spells them: that is what can be fetched.
    """
    kinds: dict[str, ImageKind] = {}
    for url in _absolute(document, named):
        kinds.setdefault(url, "gallery" if kinds else "primary")
    for url in _absolute(document, _thumbnails(document)):
        kinds.setdefault(url, "thumbnail")
    chosen = dict(islice(kinds.items(), most))
    alts = _alts(document, chosen) if chosen else {}
    return [FoundImage(url, alts.get(url), kind) for url, kind in chosen.items()]


def _absolute(document: Document, references: Iterable[str]) -> Iterator[str]:
    for reference in references:
        if url := document.absolute(reference):
            yield url.partition("#")[0]


def _thumbnails(document: Document) -> Iterator[str]:
    """What structured data calls thumbnails of the product that the page is about."""
    if not any(name in document.text for name in THUMBNAILS):
        return
    listing = main_listing(document, Glance(document))
    for item in within([dict(listing.item)], RELATED) if listing else ():
        for name in THUMBNAILS:
            yield from _addresses(item.get(name))


def _addresses(value: Any) -> Iterator[str]:
    for one in as_list(value)[:MOST_IMAGES]:
        address = one.get("url") or one.get("contentUrl") if isinstance(one, dict) else one
        if written := text(address):
            yield written


def _alts(document: Document, wanted: Iterable[str]) -> dict[str, str]:
    """What the elements of images say that these show, as far as they do."""
    if "<img" not in document.text and "<IMG" not in document.text:
        return {}
    left, alts = set(wanted), {}
    for image in document.css("img[alt]")[:MAX_ELEMENTS]:
        alt = fold((image.attributes.get("alt") or "")[:MAX_ALT])
        found = left.intersection(_absolute(document, _references(image))) if alt else ()
        alts.update(dict.fromkeys(found, alt))
        left.difference_update(found)
        if not left:
            break
    return alts


def _references(image: Node) -> Iterator[str]:
    """Where an image can be had: in several sizes, and where it leads to when it is clicked."""
    yield from _own_references(image)
    parent = image.parent
    if parent is not None and parent.tag == "picture":
        for source in parent.css("source")[:MAX_CANDIDATES]:
            yield from _own_references(source)
        parent = parent.parent
    if parent is not None and parent.tag == "a":
        yield parent.attributes.get("href") or ""


def _own_references(node: Node) -> Iterator[str]:
    attributes = node.attributes
    for name in SOURCES:
        if address := attributes.get(name):
            yield address
    for name in SOURCE_SETS:
        # A comma ends a candidate only before a space: addresses have commas, too.
        candidates = (attributes.get(name) or "").replace(",\n", ", ").split(", ")
        for candidate in candidates[:MAX_CANDIDATES]:
            yield candidate.strip().partition(" ")[0]
