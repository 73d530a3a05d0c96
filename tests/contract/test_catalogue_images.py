"""Images of products on both engines: what is on the page is there, what was got stays."""

from typing import Any

import pytest

from penstock.extract.product.images import FoundImage
from penstock.products.catalogue import Entry, Kept, write_entries
from penstock.products.images import (
    FailedImage,
    KeptImage,
    forgotten_images,
    image_id,
    images_in_use,
    note_images,
)
from penstock.products.tables import images
from penstock.store.store import Store
from tests.stores import Stores, rows_of
from tests.unit.products.entries import Site, open_site
from tests.unit.products.offers import HOUR, NOON

FRONT = FoundImage("https://cdn.example/front.jpg", "Front", "primary")
BACK = FoundImage("https://cdn.example/back.jpg", None, "gallery")
SMALL = FoundImage("https://cdn.example/small.jpg", None, "thumbnail")


@pytest.fixture
async def site(store: Store) -> Site:
    return await store.write(open_site)


async def write_one(store: Store, entry: Entry, most: int = 20) -> Kept:
    (kept,) = await store.write(lambda unit: write_entries(unit, [entry], most))
    return kept


async def note(store: Store, *results: KeptImage | FailedImage) -> None:
    await store.write(lambda unit: note_images(unit, results))


async def images_by_url(store: Store) -> dict[str, dict[str, Any]]:
    return {row["image_url"]: row for row in await rows_of(store, images)}


def got(image: str, path: str = "blob-1") -> KeptImage:
    return KeptImage(image, path, width=640, height=480, size=1234, content_type="image/png")


async def test_images_of_a_page_are_there_in_their_places_and_are_to_be_got(
    store: Store, site: Site
) -> None:
    kept = await write_one(store, site.entry(images=[FRONT, BACK, FRONT, SMALL]))

    found = await images_by_url(store)
    assert [(row["image_type"], row["position"]) for row in found.values()] == [
        ("primary", 0),
        ("gallery", 1),
        ("thumbnail", 2),
    ]
    assert found[FRONT.url]["alt_text"] == "Front"
    assert {row["status"] for row in found.values()} == {"pending"}
    assert [image.url for image in kept.pending_images] == [FRONT.url, BACK.url, SMALL.url]
    assert kept.pending_images[0].id == image_id(kept.source_product_id, FRONT.url)


async def test_what_was_got_is_noted_and_not_got_again(store: Store, site: Site) -> None:
    first = await write_one(store, site.entry(images=[FRONT, BACK]))
    front, back = first.pending_images

    await note(store, got(front.id), FailedImage(back.id, "HTTP 404"))

    found = await images_by_url(store)
    row = found[FRONT.url]
    assert (row["image_path"], row["width"], row["height"]) == ("blob-1", 640, 480)
    assert (row["file_size"], row["content_type"]) == (1234, "image/png")
    assert (row["status"], row["error"]) == ("kept", None)
    assert (found[BACK.url]["status"], found[BACK.url]["error"]) == ("failed", "HTTP 404")

    same = await write_one(store, site.entry(images=[FRONT, BACK], run="run-2", at=NOON + HOUR))
    assert not same.changed
    assert list(same.pending_images) == [back], "one that could not be got is tried again"
    await note(store, got(back.id, "blob-2"))
    assert (await images_by_url(store))[BACK.url]["error"] is None


async def test_page_with_other_images_keeps_those_that_stayed(store: Store, site: Site) -> None:
    first = await write_one(store, site.entry(images=[FRONT, BACK]))
    await note(store, *(got(image.id, image.url) for image in first.pending_images))
    new = FoundImage("https://cdn.example/new.jpg", "New", "primary")
    again = FoundImage(BACK.url, "From behind", "gallery")

    kept = await write_one(store, site.entry(images=[new, again], run="r2", at=NOON + HOUR))

    found = await images_by_url(store)
    assert set(found) == {new.url, BACK.url}
    assert (found[BACK.url]["status"], found[BACK.url]["alt_text"]) == ("kept", "From behind")
    assert found[BACK.url]["position"] == 1
    assert [image.url for image in kept.pending_images] == [new.url]
    assert kept.changed
    used = await images_in_use(store, [FRONT.url, BACK.url, "other"])
    assert used == {BACK.url}


async def test_what_came_of_an_image_that_is_gone_is_passed_over(store: Store, site: Site) -> None:
    first = await write_one(store, site.entry(images=[FRONT]))
    await write_one(store, site.entry(run="run-2", at=NOON + HOUR))

    await note(store, got(first.pending_images[0].id), FailedImage("unknown", "HTTP 500"))

    assert await rows_of(store, images) == []


async def test_failure_does_not_take_away_what_is_kept(store: Store, site: Site) -> None:
    first = await write_one(store, site.entry(images=[FRONT]))
    front = first.pending_images[0].id

    await note(store, got(front))
    await note(store, FailedImage(front, "timeout"))

    row = (await images_by_url(store))[FRONT.url]
    assert (row["status"], row["image_path"], row["error"]) == ("kept", "blob-1", None)


async def test_product_has_no_more_images_than_allowed(store: Store, site: Site) -> None:
    many = [FoundImage(f"https://cdn.example/{n}.jpg") for n in range(30)]

    kept = await write_one(store, site.entry(images=many), most=20)

    assert [image.url for image in kept.pending_images] == [image.url for image in many[:20]]


async def test_image_that_nobody_got_is_found_after_a_time(
    stores: Stores, store: Store, site: Site
) -> None:
    kept = await write_one(store, site.entry(images=[FRONT, BACK]))
    await note(store, got(kept.pending_images[1].id))
    now = await store.read(lambda unit: unit.now)

    early = await store.read(lambda unit: forgotten_images(unit, now - HOUR, 10))
    late = await store.read(lambda unit: forgotten_images(unit, now + HOUR, 10))

    assert early == []
    assert late == [kept.pending_images[0]]
