"""What the audit looks for in the tables of the catalogue, one check each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Table, and_, cast, exists, func, or_, select

from penstock.core.money import currencies, to_minor
from penstock.kernel.records import MAX_MINOR_UNITS, Availability
from penstock.products.images import FAILED, KEPT, PENDING
from penstock.products.tables import domains, images, prices, source_products, sources
from penstock.queue.ports import State
from penstock.queue.tables import items
from penstock.workloads.catalog.model import DAY_MS, UNDER_WAY, Status
from penstock.workloads.catalog.tables import (
    crawl_attempts,
    crawl_submission_tasks,
    crawl_submissions,
    crawl_tasks,
    error_logs,
)

Row = dict[str, Any]
#: A clock may be ahead by so much.
AHEAD_MS = 300_000
#: What is under way for longer than this is looked for in the queue.
UNDER_WAY_MS = 3_600_000
#: What is due for longer than this is late.
LATE_MS = DAY_MS
#: A product is stale when it was not seen for so many times its interval.
MISSED_CRAWLS = 3
BEST_RATING = Decimal(5)
KNOWN_STOCK = [each.value for each in Availability if each is not Availability.UNKNOWN]


@dataclass(frozen=True, slots=True)
class Check:
    """Rows of a table for which something is true that never should be.

    `key` is what the rows are walked by and named by. `shows` is what an example tells. `is_wrong`
    has the last word where SQL cannot decide.
    """

    kind: str
    name: str
    says: str
    key: ColumnElement[str]
    wrong: ColumnElement[bool]
    shows: Sequence[ColumnElement[Any]] = ()
    is_wrong: Callable[[Row], bool] = lambda _row: True

    @property
    def table(self) -> str:
        """The name of the table that it is about."""
        owner: Table = self.key.table
        return owner.name


def checks_at(now: int, frequency_seconds: int) -> list[Check]:
    """All checks; `frequency_seconds` is how often pages are crawled of which nothing is said."""
    return [
        *_orphans(),
        *_missing(),
        *_impossible(),
        *_impossible_times(now),
        *_of_images(now),
        *_contradictions(),
        *_stale(now, frequency_seconds),
    ]


def _lacks(column: ColumnElement[str], table: Table) -> ColumnElement[bool]:
    """Whether a column names a row that does not exist."""
    return and_(column.is_not(None), ~exists().where(table.c.id == column))


def _orphans() -> list[Check]:
    shop, link = source_products.c, crawl_submission_tasks.c
    told = [
        ("image_without_product", images.c.id, images.c.product_id, source_products),
        ("price_without_product", prices.c.id, prices.c.source_product_id, source_products),
        ("product_without_domain", shop.id, shop.domain_id, domains),
        ("task_without_domain", crawl_tasks.c.id, crawl_tasks.c.domain_id, domains),
        ("attempt_without_task", crawl_attempts.c.id, crawl_attempts.c.crawl_task_id, crawl_tasks),
        ("error_without_task", error_logs.c.id, error_logs.c.crawl_task_id, crawl_tasks),
        ("link_without_task", link.task_id, link.task_id, crawl_tasks),
        ("link_without_submission", link.task_id, link.submission_id, crawl_submissions),
    ]
    found = [
        Check("orphan", name, f"no such row of {table.name}", key, _lacks(column, table), [column])
        for name, key, column, table in told
    ]
    # A page that was erased has no task any more, and its product is archived.
    no_task = and_(shop.archived_at.is_(None), _lacks(shop.crawl_task_id, crawl_tasks))
    says = f"no such row of {crawl_tasks.name}"
    name = "product_without_task"
    return [*found, Check("orphan", name, says, shop.id, no_task, [shop.crawl_task_id])]


def _is_blank(column: ColumnElement[str]) -> ColumnElement[bool]:
    return func.trim(func.coalesce(column, "")) == ""


def _missing() -> list[Check]:
    shop = source_products.c
    ours = or_(shop.domain_id.is_not(None), shop.crawl_task_id.is_not(None))
    told = [
        ("product_without_name", "no name", _is_blank(shop.title)),
        ("product_without_url", "no URL", or_(_is_blank(shop.url), _is_blank(shop.url_hash))),
        ("product_of_no_domain", "crawled, but of no domain", shop.domain_id.is_(None)),
    ]
    return [
        Check("missing", name, says, shop.id, and_(ours, wrong), [shop.url])
        for name, says, wrong in told
    ]


def _impossible() -> list[Check]:
    shop = source_products.c
    ours = shop.domain_id.is_not(None)
    stock = and_(shop.availability.is_not(None), shop.availability.not_in(KNOWN_STOCK))
    rating = or_(shop.rating < Decimal(0), shop.rating > BEST_RATING)
    half = shop.price.is_(None) != shop.currency.is_(None)
    told: list[tuple[str, str, ColumnElement[bool], list[Any], Callable[[Row], bool]]] = [
        (
            "price_impossible",
            "the price is not above 0, too high, or finer than its currency",
            and_(shop.price.is_not(None), shop.currency.is_not(None)),
            [shop.price, shop.currency],
            _has_no_price,
        ),
        ("price_without_currency", "price and currency go together", half, [shop.price], _always),
        (
            "currency_unknown",
            "no currency of ISO 4217",
            shop.currency.is_not(None),
            [shop.currency],
            lambda row: row["currency"] not in currencies(),
        ),
        ("availability_unknown", "no availability", stock, [shop.availability], _always),
        ("rating_impossible", "outside of 0 to 5", rating, [shop.rating], _always),
        ("reviews_negative", "below 0", shop.review_count < 0, [shop.review_count], _always),
    ]
    return [
        Check("impossible", name, says, shop.id, and_(ours, wrong), shows, is_wrong)
        for name, says, wrong, shows, is_wrong in told
    ]


def _always(_row: Row) -> bool:
    return True


def _has_no_price(row: Row) -> bool:
    if row["currency"] not in currencies():
        return False
    minor = to_minor(row["price"], row["currency"])
    return minor is None or not 1 <= minor <= MAX_MINOR_UNITS


def _impossible_times(now: int) -> list[Check]:
    tables: dict[Table, tuple[str, ...]] = {
        source_products: ("created_at", "updated_at", "last_seen_at", "archived_at"),
        prices: ("observed_at", "created_at"),
        images: ("created_at", "updated_at"),
        crawl_tasks: ("created_at", "updated_at", "started_at", "completed_at"),
        crawl_attempts: ("ended_at",),
        error_logs: ("occurred_at",),
    }
    found = []
    for table, names in tables.items():
        times = [table.c[name] for name in names]
        later = or_(*(time > now + AHEAD_MS for time in times))
        name = f"{table.name}_in_the_future"
        says = "a time that has not come yet"
        found.append(Check("impossible", name, says, table.c.id, later, times))
        if "updated_at" in table.c:
            both = [table.c.created_at, table.c.updated_at]
            before = table.c.updated_at < table.c.created_at
            name, says = f"{table.name}_changed_before_made", "changed before it was made"
            found.append(Check("impossible", name, says, table.c.id, before, both))
    return found


def _of_images(now: int) -> list[Check]:
    image = images.c
    measures = (image.width, image.height, image.file_size)
    bare = or_(
        image.image_path.is_(None),
        image.content_type.is_(None),
        *(func.coalesce(measure, 0) <= 0 for measure in measures),
    )
    late = and_(image.status == PENDING, image.updated_at < now - LATE_MS)
    return [
        Check(
            "impossible",
            "image_kept_nowhere",
            "kept, but without a path, a type or dimensions",
            image.id,
            and_(image.status == KEPT, bare),
            [image.image_url],
        ),
        Check(
            "impossible",
            "image_status_unknown",
            "neither pending nor kept nor failed",
            image.id,
            image.status.not_in([PENDING, KEPT, FAILED]),
            [image.status],
        ),
        Check(
            "stale",
            "image_not_downloaded",
            "pending for more than a day",
            image.id,
            late,
            [image.image_url],
        ),
    ]


def _contradictions() -> list[Check]:
    shop, domain = source_products.c, domains.c
    other_source = exists().where(domain.id == shop.domain_id, domain.source_id != shop.source_id)
    other_domain = exists().where(
        crawl_tasks.c.id == shop.crawl_task_id, crawl_tasks.c.domain_id != shop.domain_id
    )
    elsewhere = exists().where(
        sources.c.id == domain.source_id, sources.c.domain != domain.domain_name
    )
    return [
        _of_one_url(),
        Check(
            "mismatch",
            "product_of_two_sources",
            "its source is not that of its domain, or its task is of another domain",
            shop.id,
            or_(other_source, other_domain),
            [shop.source_id, shop.domain_id],
        ),
        Check(
            "mismatch",
            "domain_of_other_source",
            "its source is of another domain",
            domain.id,
            elsewhere,
            [domain.domain_name],
        ),
    ]


def _of_one_url() -> Check:
    shop, other = source_products.c, source_products.alias().c
    same_page = exists().where(
        other.domain_id.is_not(None),
        other.url_hash == shop.url_hash,
        other.archived_at.is_(None),
        other.id != shop.id,
    )
    return Check(
        "duplicate",
        "products_of_one_url",
        "another product has the same URL, and is shown too",
        shop.id,
        and_(shop.domain_id.is_not(None), shop.archived_at.is_(None), same_page),
        [shop.url],
    )


def _stale(now: int, frequency_seconds: int) -> list[Check]:
    task = crawl_tasks.c
    under_way = task.status.in_([status.value for status in UNDER_WAY])
    live = (State.WAITING.value, State.CLAIMED.value)
    is_in_queue = exists().where(items.c.id == task.item_id, items.c.state.in_(live))
    stuck = and_(under_way, task.updated_at < now - UNDER_WAY_MS, ~is_in_queue)
    active = exists().where(domains.c.id == task.domain_id, domains.c.is_active)
    late = and_(
        task.status == Status.PENDING.value,
        task.is_paused.is_(False),
        task.scheduled_at < now - LATE_MS,
        active,
    )
    closed = exists().where(
        domains.c.id == task.domain_id,
        domains.c.is_active.is_(False),
        domains.c.updated_at < now - UNDER_WAY_MS,
    )
    told = [
        ("task_stuck", "under way for more than an hour, and not in the queue", stuck),
        ("task_late", "due for more than a day, though its domain is active", late),
        ("task_of_inactive_domain", "under way, though its domain is not", under_way & closed),
    ]
    shows = [task.url, task.status]
    found = [Check("stale", name, says, task.id, wrong, shows) for name, says, wrong in told]
    return [*found, _unseen(now, frequency_seconds)]


def _unseen(now: int, frequency_seconds: int) -> Check:
    """Products whose page should have been crawled several times since it was last seen."""
    shop, task = source_products.c, crawl_tasks.c
    wanted = func.coalesce(task.crawl_frequency, domains.c.crawl_frequency, frequency_seconds)
    # Milliseconds are larger than the column of seconds holds.
    seconds = cast(func.coalesce(task.crawl_interval, wanted), BigInteger)
    is_missed = (
        select(task.id)
        .join(domains, domains.c.id == task.domain_id)
        .where(
            task.id == shop.crawl_task_id,
            task.is_paused.is_(False),
            domains.c.is_active,
            wanted > 0,
            now - shop.last_seen_at > seconds * (MISSED_CRAWLS * 1000),
        )
        .correlate(source_products)
        .exists()
    )
    return Check(
        "stale",
        "product_not_seen",
        f"not seen for {MISSED_CRAWLS} times as long as it is crawled again after",
        shop.id,
        and_(shop.domain_id.is_not(None), shop.archived_at.is_(None), is_missed),
        [shop.url, shop.last_seen_at],
    )
