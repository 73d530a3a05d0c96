"""Products, prices and images, as readers see them: times in ISO 8601, amounts as text."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, Field

from penstock.web.views import A_TIME, AN_ID, view

PREFIX = "/api/v1/products"
Stock = Literal["in_stock", "out_of_stock", "backorder"]


class ProductView(BaseModel):
    """A product as a shop shows it; what its page does not say is null.

    `metadata` has what there is no column for, and how sure each attribute is (`confidence`).
    """

    id: str = Field(examples=[AN_ID])
    product_id: str | None = Field(description="The same product at other shops has the same one.")
    source_id: str
    domain_id: str
    domain_name: str = Field(examples=["example.com"])
    crawl_task_id: str | None
    url: str = Field(examples=["https://shop.example.com/product/1"])
    url_hash: str | None
    product_name: str = Field(examples=["Brass desk lamp"])
    description: str | None
    price: str | None = Field(examples=["49.90"])
    currency: str | None = Field(examples=["EUR"])
    availability: Stock | None
    rating: str | None = Field(examples=["4.50"])
    review_count: int | None
    brand: str | None
    category: str | None
    sku: str | None
    content_hash: str | None
    metadata: dict[str, Any] | None
    image_url: str | None
    created_at: str = Field(examples=[A_TIME])
    updated_at: str = Field(description="When what is shown changed last.")
    last_seen_at: str | None


class ImageView(BaseModel):
    """An image of a product; `href` is where its bytes are, once they are here."""

    id: str = Field(examples=[AN_ID])
    image_url: str
    alt_text: str | None
    image_type: str = Field(examples=["primary"])
    position: int
    width: int | None
    height: int | None
    file_size: int | None
    content_type: str | None = Field(examples=["image/jpeg"])
    status: Literal["pending", "kept", "failed"]
    error: str | None
    href: str | None
    created_at: str


class ProductDetailView(ProductView):
    """A product with its images, each in its place."""

    images: list[ImageView]


class FoundView(ProductView):
    """A product that was searched for.

    `highlights` are HTML by field: words that were looked for are in `<em>`, all else is escaped.
    """

    score: float | None
    highlights: dict[str, str] = Field(examples=[{"product_name": "Brass desk <em>lamp</em>"}])


class PricePointView(BaseModel):
    """What a product cost at a time."""

    price_id: str = Field(examples=[AN_ID])
    price: str = Field(examples=["49.90"])
    currency: str = Field(examples=["EUR"])
    availability: Stock | None
    shipping: str | None
    tax_included: bool | None
    observed_at: str = Field(examples=[A_TIME])
    ingestion_run_type: str = Field(examples=["CRAWL"])


def view_image(row: Mapping[str, Any]) -> dict[str, Any]:
    """An image, and where it is."""
    href = f"{PREFIX}/{row['product_id']}/images/{row['id']}" if row["image_path"] else None
    return view(ImageView, {**row, "href": href})


def view_product(row: Mapping[str, Any]) -> dict[str, Any]:
    """A product with its images."""
    return {**view(ProductView, row), "images": [view_image(each) for each in row["images"]]}
