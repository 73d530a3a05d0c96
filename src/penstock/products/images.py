"""Images of the catalogue's products: which ones there are, and what became of getting them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import bindparam, delete, select, update

from penstock.extract.product.images import FoundImage
from penstock.products.tables import images
from penstock.store.schema import storable
from penstock.store.store import Store
from penstock.store.unit import Unit

Row = dict[str, Any]
PENDING, KEPT, FAILED = "pending", "kept", "failed"
ID_DIGITS = 32
#: What a page says of an image; the rest is known once it is there.
SAID = ("alt_text", "image_type", "position")


class ImageToGet(NamedTuple):
    """An image that is not there yet."""

    id: str
    url: str


@dataclass(frozen=True, slots=True)
class KeptImage:
    """An image that was got: where it is kept, and what it is."""

    id: str
    path: str
    width: int
    height: int
    size: int
    content_type: str


@dataclass(frozen=True, slots=True)
class FailedImage:
    """An image that could not be got; says why."""

    id: str
    error: str


def image_id(product_id: str, url: str) -> str:
    """The id of an image of a product."""
    return sha256(f"{product_id}\n{storable(url)}".encode()).hexdigest()[:ID_DIGITS]


def write_images(unit: Unit, found: Mapping[str, Sequence[FoundImage]]) -> None:
    """Let products have these images and no others; those that are kept stay as they are."""
    query = select(images).where(unit.among(images.c.product_id, sorted(found)))
    known = {row["id"]: row for row in unit.rows(query)}
    wanted = {
        row["id"]: row for product in sorted(found) for row in _rows(unit, product, found[product])
    }
    if gone := sorted(known.keys() - wanted.keys()):
        unit.run(delete(images).where(unit.among(images.c.id, gone)))
    new = [row for each, row in wanted.items() if _says_more(row, known.get(each))]
    unit.insert_all(images, new, _say_anew)


def _rows(unit: Unit, product_id: str, found: Sequence[FoundImage]) -> list[Row]:
    return [
        {
            "id": image_id(product_id, image.url),
            "product_id": product_id,
            "image_url": image.url,
            "alt_text": image.alt and storable(image.alt),
            "image_type": image.kind,
            "position": position,
            "status": PENDING,
            "created_at": unit.now,
            "updated_at": unit.now,
        }
        for position, image in enumerate(found)
    ]


def _says_more(row: Row, known: Row | None) -> bool:
    return known is None or any(row[name] != known[name] for name in SAID)


def _say_anew(insert: Any) -> Any:
    new = {name: insert.excluded[name] for name in (*SAID, "updated_at")}
    return insert.on_conflict_do_update(index_elements=["id"], set_=new)


def distinct(found: Sequence[FoundImage], most: int) -> list[FoundImage]:
    """Each image once, so many at most."""
    by_url = {storable(image.url): image for image in reversed(found)}
    ordered = dict.fromkeys(storable(image.url) for image in found)
    return [by_url[url] for url in islice(ordered, most)]


def images_to_get(unit: Unit, product_ids: Sequence[str]) -> dict[str, list[ImageToGet]]:
    """The images of products that are not there yet, also those that could not be got before."""
    column = images.c
    query = (
        select(column.product_id, column.id, column.image_url)
        .where(unit.among(column.product_id, product_ids), column.status != KEPT)
        .order_by(column.product_id, column.position)
    )
    found: defaultdict[str, list[ImageToGet]] = defaultdict(list)
    for product_id, *image in unit.run(query):
        found[product_id].append(ImageToGet(*image))
    return found


def forgotten_images(unit: Unit, before: int, limit: int) -> list[ImageToGet]:
    """Images that nobody has got since a time, the oldest first."""
    column = images.c
    query = (
        select(column.id, column.image_url)
        .where(column.status == PENDING, column.updated_at < before)
        .order_by(column.updated_at)
        .limit(limit)
    )
    return [ImageToGet(*row) for row in unit.run(query)]


def note_images(unit: Unit, results: Sequence[KeptImage | FailedImage]) -> None:
    """Write what came of getting images; one that its product no longer has is passed over.

    An image that is kept stays so, whatever happens when it is got again.
    """
    kept = [result for result in results if isinstance(result, KeptImage)]
    failed = [result for result in results if isinstance(result, FailedImage)]
    column = images.c
    which = column.id == bindparam("which")
    if kept:
        names = ("image_path", "width", "height", "file_size", "content_type")
        values = {name: bindparam(f"new_{name}", type_=column[name].type) for name in names}
        statement = update(images).where(which).values(values)
        noted = statement.values(status=KEPT, error=None, updated_at=unit.now)
        unit.run(noted, [_kept_values(result) for result in sorted(kept, key=lambda it: it.id)])
    if failed:
        statement = update(images).where(which, column.status != KEPT)
        why = bindparam("why", type_=column.error.type)
        noted = statement.values(status=FAILED, error=why, updated_at=unit.now)
        rows = [{"which": result.id, "why": result.error} for result in failed]
        unit.run(noted, sorted(rows, key=lambda row: row["which"]))


def _kept_values(result: KeptImage) -> Row:
    return {
        "which": result.id,
        "new_image_path": result.path,
        "new_width": result.width,
        "new_height": result.height,
        "new_file_size": result.size,
        "new_content_type": result.content_type,
    }


def list_images(unit: Unit, product_ids: Sequence[str]) -> dict[str, list[Row]]:
    """The images of products, each in its place."""
    column = images.c
    query = select(images).where(unit.among(column.product_id, product_ids))
    found: defaultdict[str, list[Row]] = defaultdict(list)
    for row in unit.rows(query.order_by(column.product_id, column.position)):
        found[row["product_id"]].append(row)
    return found


async def images_in_use(store: Store, addresses: Sequence[str]) -> set[str]:
    """Which of some blobs an image is kept in."""
    path = images.c.image_path
    return await store.read(
        lambda unit: set(unit.run(select(path).where(unit.among(path, addresses))).scalars())
    )
