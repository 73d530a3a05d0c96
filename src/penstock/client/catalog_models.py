"""What the product crawler gives; fields that a client does not know yet are passed over."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from pydantic import AliasChoices, Field

from penstock.client.models import Model

CrawlStatus = Literal[
    "pending", "queued", "crawling", "downloaded", "parsing", "completed", "failed"
]
Availability = Literal["in_stock", "out_of_stock", "backorder"]
Order = Literal["newest", "updated", "price_asc", "price_desc", "rating", "name"]
SearchOrder = Literal["relevance", "newest", "updated", "price_asc", "price_desc", "rating", "name"]


class CrawlTask(Model):
    """A page that is crawled, again and again."""

    id: str
    domain_id: str
    domain_name: str
    url: str
    status: CrawlStatus
    is_paused: bool
    priority: int
    scheduled_at: datetime
    started_at: datetime | None = None
    completed_at: datetime | None = None
    retry_count: int
    max_retries: int
    error_message: str | None = None
    failure: Mapping[str, Any] | None = None
    crawl_frequency: int | None = None
    crawl_interval: int | None = None
    next_crawl_at: datetime | None = None
    html_path: str | None = None
    parser: str | None = None
    parser_version: str | None = None
    attempts: int
    created_at: datetime
    updated_at: datetime


class Submission(Model):
    """URLs that were submitted together; `refusals` names those that were not taken."""

    id: str = Field(validation_alias=AliasChoices("id", "submission_id"))
    origin: str
    origin_name: str | None = None
    status: Literal["reading", "accepted", "failed"]
    error: str | None = None
    submitted: int
    accepted: int
    duplicates: int
    refused: int
    refusals: tuple[Mapping[str, str], ...] = ()
    created_by: str
    created_at: datetime


class CrawlProgress(Submission):
    """How far a submission has come: its tasks by status."""

    tasks: Mapping[str, int]
    total: int
    done: int
    paused: int
    is_over: bool


class ProductImage(Model):
    """An image of a product; `href` is there once its bytes are."""

    id: str
    image_url: str
    alt_text: str | None = None
    image_type: str
    position: int
    width: int | None = None
    height: int | None = None
    file_size: int | None = None
    content_type: str | None = None
    status: Literal["pending", "kept", "failed"]
    error: str | None = None
    href: str | None = None


class CatalogProduct(Model):
    """A product as a shop shows it; `images` only where one product was asked for."""

    id: str
    product_id: str | None = None
    domain_name: str
    url: str
    product_name: str
    description: str | None = None
    price: Decimal | None = None
    currency: str | None = None
    availability: Availability | None = None
    rating: Decimal | None = None
    review_count: int | None = None
    brand: str | None = None
    category: str | None = None
    sku: str | None = None
    metadata: Mapping[str, Any] | None = None
    image_url: str | None = None
    created_at: datetime
    updated_at: datetime
    last_seen_at: datetime | None = None
    images: tuple[ProductImage, ...] = ()


class FoundProduct(CatalogProduct):
    """A product that was searched for; `highlights` are HTML, escaped but for `<em>`."""

    score: float | None = None
    highlights: Mapping[str, str] = {}


class FoundPage(Model):
    """A part of what was found; of `total` there are more if it is not exact."""

    items: tuple[FoundProduct, ...]
    next_cursor: str | None = None
    total: int
    total_is_exact: bool


class PricePoint(Model):
    """What a product cost at a time."""

    price_id: str
    price: Decimal
    currency: str
    availability: Availability | None = None
    shipping: Decimal | None = None
    tax_included: bool | None = None
    observed_at: datetime
    ingestion_run_type: str
