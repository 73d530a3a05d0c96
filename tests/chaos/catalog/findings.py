"""What became of all pages of all shops, compared with what had to become of them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select

from penstock.blobs.ports import Blobs
from penstock.events.tables import deliveries, events
from penstock.kernel.records import Availability
from penstock.products.images import FAILED, KEPT
from penstock.products.search.ports import Query
from penstock.products.tables import images, prices, source_products
from penstock.products.topics import PRODUCT_CHANGED
from penstock.queue.tables import items
from penstock.store.unit import Unit
from penstock.workloads.catalog.audit import audit
from penstock.workloads.catalog.model import DOWNLOADS, IMAGES, Attempt, Fared, Status
from penstock.workloads.catalog.tables import crawl_attempts, crawl_tasks
from tests.catalogs import ExpectedImage, ExpectedProduct, expected
from tests.chaos.catalog.fleet import Fleet

Row = dict[str, Any]
#: What a product is, by its columns and by what is expected.
SAID: Mapping[str, Callable[[ExpectedProduct], Any]] = {
    "product_name": lambda wanted: wanted.name,
    "price": lambda wanted: wanted.price,
    "currency": lambda wanted: wanted.currency,
    "availability": lambda wanted: _known(wanted.availability),
    "brand": lambda wanted: wanted.brand,
    "category": lambda wanted: wanted.category,
    "description": lambda wanted: wanted.description,
    "sku": lambda wanted: wanted.sku,
    "mpn": lambda wanted: wanted.mpn,
    "upc": lambda wanted: wanted.gtin,
    "rating": lambda wanted: wanted.rating,
    "review_count": lambda wanted: wanted.review_count,
}


def _known(availability: Availability) -> str | None:
    return None if availability is Availability.UNKNOWN else availability.value


@dataclass(frozen=True, slots=True)
class Findings:
    """What became of all tasks and pictures; whatever is wrong must be 0.

    `lost`: a task without its end, a product, price, picture, blob or event that is not there.
    `twofold`: more than one end, product, price or event of a page. `phantom`: what nobody asked
    for, or said to be fetched and was not. `wrong`: a value that the page does not have. `stuck`:
    not over. `trespassed`: asked for though robots forbid it. `unfound`: not the first that its own
    title finds. `unexplained`: requests beyond those of attempts and of workers that were lost.
    `unsound`: what the audit finds. Allowed are those `refetched` because their worker was lost.
    """

    tasks: int
    pictures: int
    lost: int
    twofold: int
    phantom: int
    wrong: int
    stuck: int
    trespassed: int
    unfound: int
    unexplained: int
    unsound: int
    refetched: int

    @property
    def is_clean(self) -> bool:
        wrong = (self.lost, self.twofold, self.phantom, self.wrong, self.stuck, self.trespassed)
        return not any((*wrong, self.unfound, self.unexplained, self.unsound))


@dataclass(frozen=True, slots=True)
class Held:
    """What the store says, as of one moment; a task is named by its URL."""

    tasks: Mapping[str, Row]
    attempts: Sequence[Row]
    products: Sequence[Row]
    prices: Sequence[Row]
    images: Sequence[Row]
    items: Sequence[Row]
    told: Counter[str]
    owed: int


def hold(unit: Unit) -> Held:
    told = select(events.c.key).where(events.c.topic == PRODUCT_CHANGED)
    owed = select(func.count()).select_from(deliveries)
    return Held(
        tasks={row["url"]: row for row in unit.rows(select(crawl_tasks))},
        attempts=list(unit.rows(select(crawl_attempts))),
        products=list(unit.rows(select(source_products))),
        prices=list(unit.rows(select(prices))),
        images=list(unit.rows(select(images))),
        items=list(unit.rows(select(items))),
        told=Counter(unit.run(told).scalars()),
        owed=int(unit.run(owed).scalar_one()),
    )


async def examine(fleet: Fleet, urls: Sequence[str], asked: Counter[str]) -> Findings:
    """Compare the store, the index, the blobs and what the shops were asked for with the pages."""
    held = await fleet.store.read(hold)
    wanted = {url: expected_at(url) for url in urls}
    look = _Look(held, {url: each for url, each in wanted.items() if not each.is_denied})
    blobs = await count_missing(fleet.blobs, held)
    report = await audit(fleet.store, fleet.settings.catalog, fleet.service.index)
    contacts = list(_contacts(held, wanted, asked))
    return Findings(
        tasks=len(urls),
        pictures=len(held.images),
        lost=look.lost() + len(wanted.keys() - held.tasks.keys()) + blobs,
        twofold=look.twofold(),
        phantom=look.phantom() + sum(max(0, each.told - each.hits) for each in contacts),
        wrong=look.wrong() + _denials(held, wanted),
        stuck=_stuck(held),
        trespassed=sum(asked[url] for url, each in wanted.items() if each.is_denied),
        unfound=await count_unfound(fleet, look.wanted, look.by_url),
        unexplained=sum(max(0, each.hits - each.told - each.lost) for each in contacts),
        unsound=sum(each.number for each in report.findings),
        refetched=sum(min(max(0, each.hits - each.told), each.lost) for each in contacts),
    )


def expected_at(url: str) -> ExpectedProduct:
    host, number = url.removeprefix("http://").split("/product/")
    return expected(host, int(number))


class _Look:
    """Products beside what they have to be."""

    def __init__(self, held: Held, wanted: Mapping[str, ExpectedProduct]) -> None:
        self.held = held
        self.wanted = wanted
        self.by_url = {row["url"]: row for row in held.products}
        self._priced = Counter(row["source_product_id"] for row in held.prices)
        self._images = {(row["product_id"], row["image_url"]): row for row in held.images}
        self._ends = _ends(held)

    def lost(self) -> int:
        """Ends, products, prices, pictures and events that are not there."""
        return sum(
            (self._ends[url, Attempt.DOWNLOAD.value] < 1)
            + (self._ends[url, Attempt.PARSE.value] < 1)
            + (self._status(url) != Status.COMPLETED.value)
            + self._missing(url, each)
            for url, each in self.wanted.items()
        )

    def _status(self, url: str) -> str | None:
        return self.held.tasks[url]["status"] if url in self.held.tasks else None

    def _missing(self, url: str, wanted: ExpectedProduct) -> int:
        row = self.by_url.get(url)
        if row is None:
            return 1
        pictures = sum((row["id"], each.url) not in self._images for each in wanted.images)
        no_price = wanted.price is not None and not self._priced[row["id"]]
        return int(pictures + no_price + (self.held.told[row["id"]] < 1))

    def twofold(self) -> int:
        """How many there are beyond one of each."""
        pages = Counter(row["url"] for row in self.held.products)
        pictures = Counter((row["product_id"], row["image_url"]) for row in self.held.images)
        found: Iterable[Counter[Any]] = (
            *(pages, self._priced, pictures),
            *(self._ends, self.held.told),
        )
        return sum(number - 1 for each in found for number in each.values() if number > 1)

    def phantom(self) -> int:
        """Products, prices and pictures that no page has."""
        ids = {row["id"]: self.wanted.get(row["url"]) for row in self.held.products}
        shown = {
            (row["id"], each.url)
            for row in self.held.products
            if (wanted := ids[row["id"]])
            for each in wanted.images
        }
        unpriced = {each for each, wanted in ids.items() if not wanted or wanted.price is None}
        return (
            sum(wanted is None for wanted in ids.values())
            + len(self._images.keys() - shown)
            + sum(number for each, number in self._priced.items() if each in unpriced)
        )

    def wrong(self) -> int:
        """Values that are others than those of the page."""
        return sum(
            self._differences(row, wanted)
            for url, wanted in self.wanted.items()
            if (row := self.by_url.get(url))
        )

    def _differences(self, row: Row, wanted: ExpectedProduct) -> int:
        said = sum(bool(row[name] != value(wanted)) for name, value in SAID.items())
        pictures = (
            (self._images[row["id"], each.url], each)
            for each in wanted.images
            if (row["id"], each.url) in self._images
        )
        return said + sum(not _is_right(found, each) for found, each in pictures)


def _is_right(row: Row, wanted: ExpectedImage) -> bool:
    """A good picture is kept for what it is, of another nothing is."""
    placed = (row["image_type"], row["position"], row["alt_text"])
    if placed != (wanted.kind, wanted.position, wanted.alt):
        return False
    looks = (row["content_type"], row["width"], row["height"])
    if wanted.is_good:
        size = (wanted.content_type, wanted.width, wanted.height)
        return bool(row["status"] == KEPT and looks == size and row["image_path"])
    return bool(row["status"] == FAILED and row["image_path"] is None and row["error"])


def _ends(held: Held) -> Counter[tuple[str, str]]:
    """How often each task was downloaded and parsed well."""
    urls = {row["id"]: url for url, row in held.tasks.items()}
    well = [row for row in held.attempts if row["status"] != Fared.FAILED.value]
    return Counter((urls[row["crawl_task_id"]], row["kind"]) for row in well)


def _denials(held: Held, wanted: Mapping[str, ExpectedProduct]) -> int:
    """Pages that robots forbid and that did not fail for that, or are never due again."""
    rows = [held.tasks[url] for url, each in wanted.items() if each.is_denied and url in held.tasks]
    return sum(
        row["status"] != Status.FAILED.value
        or row["failure"]["error_type"] != "robots_denied"
        or row["next_crawl_at"] is None
        for row in rows
    )


def _stuck(held: Held) -> int:
    over = {Status.COMPLETED.value, Status.FAILED.value}
    return (
        sum(row["status"] not in over for row in held.tasks.values())
        + sum(row["state"] in ("waiting", "claimed") for row in held.items)
        + sum(row["status"] not in (KEPT, FAILED) for row in held.images)
        + held.owed
    )


# ── requests


@dataclass(frozen=True, slots=True)
class _Contact:
    """How often something was asked for, how often that is told of, and how often it was lost."""

    hits: int
    told: int
    lost: int


def _contacts(
    held: Held, wanted: Mapping[str, ExpectedProduct], asked: Counter[str]
) -> Iterator[_Contact]:
    told = Counter(
        row["crawl_task_id"]
        for row in held.attempts
        if row["kind"] == Attempt.DOWNLOAD.value and row["http_status"] is not None
    )
    lost = _by_payload(held, DOWNLOADS, "task", "lost")
    for url, row in held.tasks.items():
        if url in wanted:
            yield _Contact(asked[url], told[row["id"]], lost[row["id"]])
    lost, tries = (_by_payload(held, IMAGES, "image", name) for name in ("lost", "attempts"))
    for row in held.images:
        # Who was lost had begun an attempt, too.
        told_of = tries[row["id"]] - lost[row["id"]]
        yield _Contact(asked[row["image_url"]], told_of, lost[row["id"]])


def _by_payload(held: Held, lane: str, name: str, number: str) -> Counter[str]:
    """A number of the items of a lane, summed up by what they are about."""
    found: Counter[str] = Counter()
    for row in held.items:
        if row["lane"] == lane:
            found[row["payload"][name]] += row[number]
    return found


# ── elsewhere


async def count_missing(blobs: Blobs, held: Held) -> int:
    """How many pages and pictures are said to be kept and are not."""
    paths = {row["html_path"] for row in held.tasks.values() if row["html_path"]}
    paths |= {row["image_path"] for row in held.images if row["image_path"]}
    return sum([not await blobs.has(path) for path in paths])


async def count_unfound(
    fleet: Fleet, wanted: Mapping[str, ExpectedProduct], by_url: Mapping[str, Row]
) -> int:
    """How many products are not the first that their own title finds."""
    index, missing = fleet.service.index, 0
    for url, each in wanted.items():
        found = await index.search(Query(each.name, limit=1))
        ids = [hit.product_id for hit in found.hits]
        missing += url not in by_url or ids != [by_url[url]["id"]]
    return missing
