"""Endpoints of prices: what consumers may see, what ops see, and corrections."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response
from fastapi.responses import StreamingResponse

from penstock.core.errors import SettingsError
from penstock.products.export import ParquetParts
from penstock.products.history import Filter
from penstock.web.asking import Id, IdQuery, Limit, Time, Word, hex_of, milliseconds
from penstock.web.documents import ACCEPTED, answers
from penstock.web.envelope import ApiResponse, answer
from penstock.web.errors import invalid
from penstock.web.guard import Reader
from penstock.web.views import view
from penstock.workloads.monitor.asking import Operator
from penstock.workloads.monitor.bodies import PLACE, NewCorrection
from penstock.workloads.monitor.service import MonitorService
from penstock.workloads.monitor.views import (
    CorrectionView,
    PriceDetailView,
    PriceView,
    ProductView,
    VisiblePriceView,
    view_price,
)

MOST_PRICES = 10_000
EXPORTED = tuple(PriceView.model_fields)
BINARY: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}}
TEXT: dict[str, Any] = {"schema": {"type": "string"}}
PARQUET = "application/vnd.apache.parquet"


Place = Annotated[
    str | None,
    Query(
        pattern=PLACE,
        description="`meta.next_cursor` of the part before.",
    ),
]


class TableFormat(StrEnum):
    """What a table is written as."""

    CSV = "csv"
    PARQUET = "parquet"


@dataclass(frozen=True, slots=True)
class Choice:
    """Which prices somebody asks for."""

    product_id: IdQuery = None
    source_product_id: IdQuery = None
    target_id: IdQuery = None
    run_id: IdQuery = None
    source: Word = None
    since: Time = None
    until: Time = None


Chosen = Annotated[Choice, Depends()]


def add(router: APIRouter, service: MonitorService) -> None:
    """Add the endpoints."""
    _add_visible(router, service)
    _add_all(router, service)
    _add_exports(router, service)
    _add_corrections(router, service)


def _add_visible(router: APIRouter, service: MonitorService) -> None:
    @router.get(
        "/products",
        summary="List products, newest first",
        response_model=ApiResponse[list[ProductView]],
        responses=answers(),
    )
    async def list_products(key: Reader, words: Word = None, limit: Limit = 50) -> Response:
        del key
        rows = await service.prices.products(words, limit)
        return answer([view(ProductView, row) for row in rows])

    @router.get(
        "/products/{product_id:uuid}/prices",
        summary="What a product costs now, at every source that consumers may see",
        response_model=ApiResponse[list[VisiblePriceView]],
        responses=answers(404),
    )
    async def current_prices(product_id: Id, key: Reader) -> Response:
        del key
        rows = await service.prices.current(product_id.hex)
        return answer([view(VisiblePriceView, row) for row in rows])

    @router.get(
        "/products/{product_id:uuid}/history",
        summary="What a product cost, at every source that consumers may see; oldest first",
        response_model=ApiResponse[list[VisiblePriceView]],
        responses=answers(404),
    )
    async def price_history(
        product_id: Id,
        key: Reader,
        since: Time = None,
        until: Time = None,
        limit: Annotated[int, Query(ge=1, le=MOST_PRICES)] = 1000,
    ) -> Response:
        del key
        rows = await service.prices.history(
            product_id.hex, milliseconds(since), milliseconds(until), limit
        )
        return answer([view(VisiblePriceView, row) for row in rows])


def _add_all(router: APIRouter, service: MonitorService) -> None:
    @router.get(
        "/prices",
        summary="All prices with their provenance, newest first; also those nobody may see",
        response_model=ApiResponse[list[PriceView]],
        responses=answers(404),
    )
    async def list_prices(
        *, key: Operator, chosen: Chosen, cursor: Place = None, limit: Limit = 50
    ) -> Response:
        del key
        wanted = await _filter(service, chosen)
        wanted = replace(wanted, before=place_of(cursor), limit=limit + 1)
        rows = await service.prices.all(wanted)
        last = rows[limit - 1] if len(rows) > limit else None
        place = f"{last['observed_at']}.{last['price_id']}" if last else None
        shown = [view(PriceView, row) for row in rows[:limit]]
        return answer(shown, meta={"limit": limit, "next_cursor": place})

    @router.get(
        "/prices/{price_id:uuid}",
        summary="A price with its provenance and its corrections",
        response_model=ApiResponse[PriceDetailView],
        responses=answers(404),
    )
    async def get_price(price_id: Id, key: Operator) -> Response:
        del key
        row = await service.prices.get(price_id.hex)
        return answer(view_price(row, await service.prices.corrections(price_id.hex)))


async def _filter(service: MonitorService, chosen: Choice) -> Filter:
    return Filter(
        product_id=hex_of(chosen.product_id),
        source_product_id=hex_of(chosen.source_product_id),
        target_id=hex_of(chosen.target_id),
        run_id=hex_of(chosen.run_id),
        source_id=await service.source_id(chosen.source),
        since=milliseconds(chosen.since),
        until=milliseconds(chosen.until),
    )


def _add_exports(router: APIRouter, service: MonitorService) -> None:
    @router.get(
        "/prices/export",
        summary="Prices with their provenance as a file, newest first",
        description=(
            "In CSV, an apostrophe stands before text that a spreadsheet would take for a formula."
        ),
        response_class=StreamingResponse,
        responses={
            **answers(404),
            200: {"description": "The file", "content": {"text/csv": TEXT, PARQUET: BINARY}},
        },
    )
    async def export_prices(
        *,
        key: Operator,
        chosen: Chosen,
        file_format: Annotated[TableFormat, Query(alias="format")] = TableFormat.CSV,
        limit: Annotated[int | None, Query(ge=1, description="The newest so many.")] = None,
    ) -> Response:
        del key
        wanted = await _filter(service, chosen)
        parts: AsyncIterator[str] | AsyncIterator[bytes]
        if file_format is TableFormat.CSV:
            parts, media = service.price_exporter.csv(wanted, EXPORTED, limit), "text/csv"
        else:
            parts, media = service.price_exporter.parquet(_parquet(), wanted, limit), PARQUET
        headers = {"Content-Disposition": f'attachment; filename="prices.{file_format}"'}
        return StreamingResponse(parts, media_type=media, headers=headers)


def _parquet() -> ParquetParts:
    try:
        return ParquetParts(EXPORTED)
    except SettingsError as error:
        raise invalid("format", str(error)) from error


def place_of(cursor: str | None) -> tuple[int, str] | None:
    """Where a list goes on: a time, and the id of what happened then."""
    if cursor is None:
        return None
    at, _, price_id = cursor.partition(".")
    return int(at), price_id


def _add_corrections(router: APIRouter, service: MonitorService) -> None:
    @router.get(
        "/prices/{price_id:uuid}/corrections",
        summary="All corrections that a price ever had",
        response_model=ApiResponse[list[CorrectionView]],
        responses=answers(404),
    )
    async def list_corrections(price_id: Id, key: Operator) -> Response:
        del key
        rows = await service.prices.corrections(price_id.hex)
        return answer([view(CorrectionView, row) for row in rows])

    @router.post(
        "/prices/{price_id:uuid}/corrections",
        status_code=201,
        summary="Hide a price, or let another amount stand in its place",
        response_model=ApiResponse[CorrectionView],
        responses=answers(*ACCEPTED, 404),
    )
    async def correct(price_id: Id, body: NewCorrection, key: Operator) -> Response:
        made = await service.prices.correct(price_id.hex, body.price, who=key.name, why=body.why)
        rows = await service.prices.corrections(price_id.hex)
        [row] = [row for row in rows if row["id"] == made]
        return answer(view(CorrectionView, row), status=201)

    @router.delete(
        "/corrections/{correction_id:uuid}",
        status_code=204,
        summary="Revoke a correction: the price counts again as it was seen",
        responses=answers(404),
    )
    async def revoke(correction_id: Id, key: Operator) -> Response:
        await service.prices.revoke(correction_id.hex, key.name)
        return Response(status_code=204)
