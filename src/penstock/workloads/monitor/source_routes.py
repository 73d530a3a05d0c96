"""Endpoints of sources and retailers: who sells, and on what terms we look."""

from fastapi import APIRouter, Response

from penstock.web.asking import Id, Word
from penstock.web.documents import ACCEPTED, answers
from penstock.web.envelope import ApiResponse, answer
from penstock.web.views import view
from penstock.workloads.monitor.asking import Onlooker, Operator
from penstock.workloads.monitor.bodies import NewRetailer, NewSource, SourceChanges
from penstock.workloads.monitor.service import MonitorService
from penstock.workloads.monitor.views import RetailerView, SourceView


def add(router: APIRouter, service: MonitorService) -> None:
    """Add the endpoints."""
    _add_retailers(router, service)
    _add_sources(router, service)
    _add_terms(router, service)


def _add_retailers(router: APIRouter, service: MonitorService) -> None:
    @router.get(
        "/retailers",
        summary="List retailers, by name",
        response_model=ApiResponse[list[RetailerView]],
        responses=answers(),
    )
    async def list_retailers(key: Onlooker) -> Response:
        del key
        return answer([view(RetailerView, row) for row in await service.shops.retailers()])

    @router.post(
        "/retailers",
        status_code=201,
        summary="Add a retailer",
        response_model=ApiResponse[RetailerView],
        responses=answers(*ACCEPTED),
    )
    async def add_retailer(body: NewRetailer, key: Operator) -> Response:
        row = await service.shops.add_retailer(body.name, body.website_url, key.name)
        return answer(view(RetailerView, row), status=201)


def _add_sources(router: APIRouter, service: MonitorService) -> None:
    @router.get(
        "/sources",
        summary="List sources, by name",
        response_model=ApiResponse[list[SourceView]],
        responses=answers(),
    )
    async def list_sources(key: Onlooker, domain: Word = None) -> Response:
        del key
        return answer([view(SourceView, row) for row in await service.shops.all(domain)])

    @router.post(
        "/sources",
        status_code=201,
        summary="Add a source: not visible, not trusted, not approved",
        response_model=ApiResponse[SourceView],
        responses=answers(*ACCEPTED),
    )
    async def add_source(body: NewSource, key: Operator) -> Response:
        config = body.scrape_config.model_dump(exclude_none=True) if body.scrape_config else None
        row = await service.shops.add(
            body.name,
            body.domain,
            body.retailer,
            who=key.name,
            adapter_id=body.adapter_id,
            scrape_config=config,
        )
        return answer(view(SourceView, row), status=201)

    @router.get(
        "/sources/{source_id:uuid}",
        summary="A source",
        response_model=ApiResponse[SourceView],
        responses=answers(404),
    )
    async def get_source(source_id: Id, key: Onlooker) -> Response:
        del key
        return answer(view(SourceView, await service.shops.get(source_id.hex)))

    @router.patch(
        "/sources/{source_id:uuid}",
        summary="Change a source, its visibility or its trust",
        response_model=ApiResponse[SourceView],
        responses=answers(*ACCEPTED, 404),
    )
    async def edit_source(source_id: Id, body: SourceChanges, key: Operator) -> Response:
        changes = body.model_dump(exclude_none=True)
        row = await service.shops.edit(source_id.hex, key.name, **changes)
        return answer(view(SourceView, row))


def _add_terms(router: APIRouter, service: MonitorService) -> None:
    @router.post(
        "/sources/{source_id:uuid}/approve",
        summary="Say that the terms of service were read and allow this",
        description="Before that, nothing is fetched from the source.",
        response_model=ApiResponse[SourceView],
        responses=answers(404),
    )
    async def approve(source_id: Id, key: Operator) -> Response:
        return answer(view(SourceView, await service.shops.approve(source_id.hex, key.name)))

    @router.post(
        "/sources/{source_id:uuid}/revoke",
        summary="Take the approval back: nothing more is fetched",
        response_model=ApiResponse[SourceView],
        responses=answers(404),
    )
    async def revoke(source_id: Id, key: Operator) -> Response:
        return answer(view(SourceView, await service.shops.revoke(source_id.hex, key.name)))
