"""Endpoints of products, for readers: filtered, searched, with price history and images."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Response
from pydantic import StringConstraints

from penstock.products import catalogue_reading as reading
from penstock.products.search.cursors import LONGEST as LONGEST_CURSOR
from penstock.products.search.plan import LONGEST_QUERY, LONGEST_VALUE, MOST_VALUES
from penstock.products.search.ports import MOST_IN_A_PAGE, Filters, SearchLost
from penstock.products.search.ports import Sort as SearchSort
from penstock.web.asking import Id, Limit, Time, milliseconds
from penstock.web.documents import answers
from penstock.web.envelope import ApiResponse, answer
from penstock.web.errors import Unavailable
from penstock.web.files import BINARY, HARMLESS
from penstock.web.guard import Reader
from penstock.web.views import view
from penstock.workloads.catalog.product_cursors import LONGEST, cursor_of, read_cursor
from penstock.workloads.catalog.product_views import (
    FoundView,
    ImageView,
    PricePointView,
    ProductDetailView,
    ProductView,
    Stock,
    view_image,
    view_product,
)
from penstock.workloads.catalog.service import CatalogService

MOST_PRICES = 10_000
#: Seconds after which to ask again when the search server does not answer.
ASK_AGAIN = 5.0
#: Seconds for which an image need not be asked for again.
IMAGE_AGE = 3600
_SAID = "Several may be said; one must fit."
AMOUNT = r"^[0-9]{1,8}(\.[0-9]{1,2})?$"
Amount = Annotated[str | None, Query(pattern=AMOUNT, examples=["19.99"])]
Value = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_VALUE)]
Values = Annotated[list[Value] | None, Query(max_length=MOST_VALUES, description=_SAID)]


@dataclass(frozen=True, slots=True)
class Choice:
    """Which products somebody asks for."""

    price_min: Amount = None
    price_max: Amount = None
    currency: Annotated[str | None, Query(pattern=r"^[A-Z]{3}$", examples=["EUR"])] = None
    availability: Annotated[
        list[Stock] | None, Query(max_length=MOST_VALUES, description=_SAID)
    ] = None
    brand: Values = None
    category: Values = None
    domain: Values = None
    rating_min: Annotated[
        str | None, Query(pattern=r"^[0-9](\.[0-9]{1,2})?$", examples=["4.5"])
    ] = None

    def said(self) -> dict[str, Any]:
        """What both kinds of filters have."""
        return {
            "price_min": _decimal(self.price_min),
            "price_max": _decimal(self.price_max),
            "currency": self.currency,
            "availability": tuple(self.availability or ()),
            "brand": tuple(self.brand or ()),
            "category": tuple(self.category or ()),
            "domain": tuple(self.domain or ()),
            "rating_min": _decimal(self.rating_min),
        }


Chosen = Annotated[Choice, Depends()]


def _decimal(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)


def add(router: APIRouter, service: CatalogService) -> None:
    """Add the endpoints."""
    _add_list(router, service)
    _add_search(router, service)
    _add_one(router, service)
    _add_images(router, service)


def _add_list(router: APIRouter, service: CatalogService) -> None:
    @router.get(
        "",
        summary="List products by filters",
        response_model=ApiResponse[list[ProductView]],
        responses=answers(),
    )
    async def list_products(
        *,
        key: Reader,
        chosen: Chosen,
        created_since: Time = None,
        updated_since: Time = None,
        sort: reading.Sort = reading.Sort.NEWEST,
        cursor: Annotated[str | None, Query(max_length=LONGEST)] = None,
        limit: Limit = 50,
    ) -> Response:
        del key
        wanted = reading.Filter(
            **chosen.said(),
            created_since=milliseconds(created_since),
            updated_since=milliseconds(updated_since),
            sort=sort,
            after=read_cursor(cursor, sort),
            limit=limit + 1,
        )
        rows = await service.products.list(wanted)
        place = cursor_of(rows[limit - 1], sort) if len(rows) > limit else None
        shown = [view(ProductView, row) for row in rows[:limit]]
        return answer(shown, meta={"limit": limit, "next_cursor": place})


def _add_search(router: APIRouter, service: CatalogService) -> None:
    @router.get(
        "/search",
        summary="Search products by words",
        description=(
            "Found is what has all words, in any form, in name, brand, category and description; "
            "an exact title comes first. `meta.total` is how many there are, at least if "
            "`meta.total_is_exact` is false."
        ),
        response_model=ApiResponse[list[FoundView]],
        responses=answers(),
    )
    async def search_products(
        *,
        key: Reader,
        q: Annotated[str, Query(max_length=LONGEST_QUERY, examples=["brass lamp"])] = "",
        chosen: Chosen,
        sort: SearchSort | None = None,
        cursor: Annotated[str | None, Query(max_length=LONGEST_CURSOR)] = None,
        limit: Annotated[int, Query(ge=1, le=MOST_IN_A_PAGE)] = 20,
    ) -> Response:
        del key
        filters = Filters(**chosen.said())
        try:
            found = await service.products.search(q, filters, sort=sort, cursor=cursor, limit=limit)
        except SearchLost as error:
            raise Unavailable("The search does not answer", retry_after=ASK_AGAIN) from error
        meta = {
            "limit": limit,
            "next_cursor": found.next_cursor,
            "total": found.total.number,
            "total_is_exact": not found.total.more,
        }
        return answer([view(FoundView, row) for row in found.products], meta=meta)


def _add_one(router: APIRouter, service: CatalogService) -> None:
    @router.get(
        "/{product_id:uuid}",
        summary="A product with its images",
        response_model=ApiResponse[ProductDetailView],
        responses=answers(404),
    )
    async def get_product(product_id: Id, key: Reader) -> Response:
        del key
        return answer(view_product(await service.products.get(product_id.hex)))

    @router.get(
        "/{product_id:uuid}/prices",
        summary="What a product cost, oldest first; the newest so many",
        response_model=ApiResponse[list[PricePointView]],
        responses=answers(404),
    )
    async def list_prices(
        product_id: Id,
        key: Reader,
        since: Time = None,
        until: Time = None,
        limit: Annotated[int, Query(ge=1, le=MOST_PRICES)] = 1000,
    ) -> Response:
        del key
        rows = await service.products.prices(
            product_id.hex, milliseconds(since), milliseconds(until), limit
        )
        return answer([view(PricePointView, row) for row in rows])


def _add_images(router: APIRouter, service: CatalogService) -> None:
    @router.get(
        "/{product_id:uuid}/images",
        summary="The images of a product, each in its place",
        response_model=ApiResponse[list[ImageView]],
        responses=answers(404),
    )
    async def list_images(product_id: Id, key: Reader) -> Response:
        del key
        product = await service.products.get(product_id.hex)
        return answer([view_image(row) for row in product["images"]])

    @router.get(
        "/{product_id:uuid}/images/{image_id:uuid}",
        summary="An image itself",
        response_class=Response,
        responses={
            **answers(404),
            200: {"description": "The image", "content": {"image/*": BINARY}},
            304: {"description": "The image is the one that the caller has"},
        },
    )
    async def get_image(
        product_id: Id,
        image_id: Id,
        key: Reader,
        if_none_match: Annotated[str | None, Header(max_length=1000)] = None,
    ) -> Response:
        del key
        row = await service.products.image(product_id.hex, image_id.hex)
        # The address of a blob names its content.
        tag = f'"{row["image_path"]}"'
        headers = {"ETag": tag, "Cache-Control": f"private, max-age={IMAGE_AGE}", **HARMLESS}
        if if_none_match and (if_none_match == "*" or tag in if_none_match):
            return Response(status_code=304, headers=headers)
        data = await service.products.image_bytes(row)
        return Response(data, media_type=row["content_type"], headers=headers)
