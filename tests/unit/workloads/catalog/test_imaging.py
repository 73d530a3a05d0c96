"""Pictures are what is in them; whatever else comes is said to be no picture."""

from pathlib import Path
from typing import Any

import pytest

from penstock.blobs.addresses import address_of
from penstock.blobs.local import LocalBlobs
from penstock.kernel.model import (
    Broken,
    Failure,
    RateLimited,
    Refused,
    SiteWide,
    UrlSpecific,
)
from penstock.products.images import FailedImage, KeptImage
from penstock.queue.lanes import Result
from penstock.queue.ports import Bury, Claim, Done, Retry
from penstock.workloads.catalog.imaging import ImageLane, Looks, look_at
from penstock.workloads.catalog.settings import CatalogSettings
from tests.crawlers import failing, page_at
from tests.site.catalog_items import SHOPS, Picture, catalog_item, picture_bytes
from tests.site.pictures import FORMATS, Colour, bomb, png
from tests.stores import result_of

RED = Colour(200, 10, 20)
MOST = 50_000_000


def claim(attempts: int = 1, **payload: Any) -> Claim:
    wanted = payload or {"image": "i", "url": "http://shop.test/i.png"}
    return Claim("item", "catalog_images", wanted, "shop.test", 9, "", "", 0, 0, 1, attempts)


def lane_in(folder: Path, **settings: Any) -> ImageLane:
    return ImageLane(CatalogSettings(**settings), LocalBlobs(folder))


async def got(lane: ImageLane, body: bytes) -> Result:
    return await result_of(lane, claim(), page_at(claim(), body))


@pytest.mark.parametrize("name", FORMATS)
def test_type_and_size_are_read_from_the_content(name: str) -> None:
    assert look_at(FORMATS[name](31, 17, RED), MOST) == Looks(f"image/{name}", 31, 17)


def troubled_pictures() -> list[Picture]:
    """One picture of every trouble that the shops have."""
    found: dict[str, Picture] = {}
    for host in SHOPS:
        for number in range(1, 41):
            for picture in catalog_item(host, number).pictures:
                found.setdefault(picture.trouble, picture)
    return list(found.values())


@pytest.mark.parametrize("picture", troubled_pictures(), ids=lambda each: each.trouble or "none")
async def test_every_trouble_of_a_shops_pictures_is_told_from_a_good_one(
    picture: Picture, tmp_path: Path
) -> None:
    result = await got(lane_in(tmp_path), picture_bytes(picture))

    assert isinstance(result.ending, Done)
    # One that is missing is answered by 404; what would have come is all right.
    if picture.is_good or picture.trouble == "missing":
        assert isinstance(result.content, KeptImage)
        assert (result.content.width, result.content.height) == (picture.width, picture.height)
        assert result.content.content_type == f"image/{picture.format}"
    else:
        assert isinstance(result.content, FailedImage)
        assert result.content.error


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"<html>", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"RIFF\0\0\0\0WEBP", b"BM", b"\xff\xd8"),
        *(draw(40, 30, RED)[:cut] for draw in FORMATS.values() for cut in (12, 25)),
        *(b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"%!PS-Adobe-3.0 EPSF-3.0\n"),
    ],
)
def test_what_is_no_picture_is_said_to_be_none(body: bytes) -> None:
    assert isinstance(look_at(body, MOST), str)


def test_a_picture_of_too_many_pixels_is_not_decoded() -> None:
    assert look_at(png(30, 20, RED), 599) == "it has 30 x 20 pixels, 599 are kept"
    assert isinstance(look_at(bomb(), 10**12), str)


async def test_a_picture_of_too_many_bytes_is_not_kept(tmp_path: Path) -> None:
    body = png(3, 3, RED)
    result = await got(lane_in(tmp_path, max_image_bytes=len(body) - 1), body)
    assert isinstance(result.content, FailedImage)
    assert f"it has {len(body)} bytes" in result.content.error
    assert not await LocalBlobs(tmp_path).has(address_of(body))


@pytest.mark.parametrize(
    ("failure", "attempts", "ending"),
    [
        (SiteWide("timeout"), 1, Retry),
        (SiteWide("timeout"), 2, Retry),
        (SiteWide("timeout"), 3, Done),
        (UrlSpecific("http_404", "", 404), 1, Done),
        (Refused("robots_denied", gate="robots"), 1, Done),
        (Refused("circuit_open", gate="breaker"), 9, Retry),
        (Refused("outside_hours", gate="hours"), 9, Retry),
        (Broken("too_large"), 1, Done),
    ],
)
async def test_a_picture_is_tried_again_while_that_makes_sense(
    tmp_path: Path, failure: Failure, attempts: int, ending: type
) -> None:
    its = claim(attempts)
    result = await result_of(lane_in(tmp_path), its, failing(failure)(its))
    assert isinstance(result.ending, ending)
    assert isinstance(result.content, FailedImage) == (ending is Done)


async def test_later_is_later_each_time_or_when_the_site_says(tmp_path: Path) -> None:
    lane = lane_in(tmp_path)

    def pause(attempts: int, failure: Failure) -> float:
        ending = lane.conclude(claim(attempts), failing(failure)(claim(attempts)))
        assert isinstance(ending, Retry)
        return ending.delay

    assert [pause(tries, SiteWide("timeout")) for tries in (1, 2)] == [120, 240]
    assert pause(1, RateLimited("rate_limited", retry_after=7)) == 7


async def test_an_item_that_cannot_be_read_is_buried(tmp_path: Path) -> None:
    lane, bad = lane_in(tmp_path), claim(url="http://shop.test/")
    with pytest.raises(ValueError, match="image and url"):
        lane.request(bad)
    result = await result_of(lane, bad, failing(Broken("bad_payload"))(bad))
    assert (isinstance(result.ending, Bury), result.content) == (True, None)
