"""The `catalog_images` lane: pictures of products are downloaded through the same gates.

A picture counts for what it is, not for what its URL or its site says: type, width and height are
read from what is in it, within bounds. One that is broken does not fail its product.
"""

import asyncio
import io
import warnings
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NamedTuple

from PIL import Image

from penstock.blobs.ports import Blobs
from penstock.core.ids import new_id
from penstock.core.trace import new_trace
from penstock.kernel.model import Failure, Outcome, RateLimited, Refused, Request
from penstock.products.catalogue import Kept
from penstock.products.images import FailedImage, ImageToGet, KeptImage, note_images
from penstock.queue.lanes import Result
from penstock.queue.ports import Bury, Claim, Done, Ending, Item, Retry
from penstock.store.unit import Unit
from penstock.workloads.catalog.model import IMAGES, WORKLOAD
from penstock.workloads.catalog.settings import CatalogSettings

FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")
#: Pictures are got after pages.
PRIORITY = 9
#: Seconds until a picture is tried again that its site could not give.
LATER = 60.0
LineOf = Callable[[Request], tuple[str, int]]


class Looks(NamedTuple):
    """What a picture is."""

    content_type: str
    width: int
    height: int


def image_items(kept: Sequence[Kept], line_of: LineOf) -> list[Item]:
    """The pictures that products are missing, as items."""
    return items_for([each for product in kept for each in product.pending_images], line_of)


def items_for(wanted: Sequence[ImageToGet], line_of: LineOf) -> list[Item]:
    """Pictures as items."""
    return [
        Item(
            id=new_id(),
            lane=IMAGES,
            payload={"image": each.id, "url": each.url},
            group=line_of(Request(each.url, workload=WORKLOAD))[0],
            priority=PRIORITY,
            traceparent=new_trace(),
        )
        for each in wanted
    ]


class ImageLane:
    """Downloads pictures and keeps them."""

    name = IMAGES

    def __init__(self, settings: CatalogSettings, blobs: Blobs) -> None:
        self._settings = settings
        self._blobs = blobs

    def request(self, claim: Claim) -> Request:
        if not _is_readable(claim):
            raise ValueError("an item of a picture needs image and url")
        url = claim.payload["url"]
        return Request(url, id=claim.id, workload=WORKLOAD, traceparent=claim.traceparent)

    def conclude(self, claim: Claim, outcome: Outcome) -> Ending:
        failure = outcome.failure
        if failure and not _is_readable(claim):
            return Bury(failure.as_json())
        if failure and self._shall_wait(claim, failure):
            pause = failure.retry_after if isinstance(failure, RateLimited) else None
            return Retry(pause or LATER * 2.0 ** min(claim.attempts, 10), failure.as_json())
        return Done()

    def _shall_wait(self, claim: Claim, failure: Failure) -> bool:
        is_closed = isinstance(failure, Refused) and failure.gate in ("hours", "breaker")
        return is_closed or (failure.retriable and claim.attempts < self._settings.image_tries)

    def content(self, claim: Claim, outcome: Outcome) -> Any | Coroutine[Any, Any, Any]:
        if not _is_readable(claim) or isinstance(self.conclude(claim, outcome), Retry):
            return None
        image_id: str = claim.payload["image"]
        if outcome.failure or outcome.page is None:
            failure = outcome.failure
            return FailedImage(image_id, str(failure) if failure else "no page")
        return self._keep(image_id, outcome.page.body)

    async def _keep(self, image_id: str, body: bytes) -> KeptImage | FailedImage:
        if len(body) > self._settings.max_image_bytes:
            limit = self._settings.max_image_bytes
            return FailedImage(image_id, f"it has {len(body)} bytes, {limit} are kept")
        looks = await asyncio.to_thread(look_at, body, self._settings.max_image_pixels)
        if isinstance(looks, str):
            return FailedImage(image_id, looks)
        path = await self._blobs.put(body)
        return KeptImage(id=image_id, path=path, size=len(body), **looks._asdict())

    def record(self, unit: Unit, results: Sequence[Result]) -> None:
        note_images(unit, [result.content for result in results if result.content])


def look_at(body: bytes, most_pixels: int) -> Looks | str:
    """What a picture is, by what is in it; or why it is none that is kept."""
    try:
        with warnings.catch_warnings():
            # Of pictures that would be huge: we have a bound of our own.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(body), formats=FORMATS) as image:
                width, height = image.size
                if not 0 < width * height <= most_pixels:
                    return f"it has {width} x {height} pixels, {most_pixels} are kept"
                kind = Image.MIME[image.format or ""]
                _read_to_the_end(image)
    except Exception as error:
        # Whatever a broken picture does to the library.
        return f"it is no picture that can be read: {type(error).__name__}"
    return Looks(kind, width, height)


def _read_to_the_end(image: Image.Image) -> None:
    """Raise if something is missing; as little as possible is decoded."""
    if image.format == "PNG":
        image.verify()
        return
    image.draft("L", (1, 1))
    image.load()


def _is_readable(claim: Claim) -> bool:
    return all(isinstance(claim.payload.get(name), str) for name in ("image", "url"))
