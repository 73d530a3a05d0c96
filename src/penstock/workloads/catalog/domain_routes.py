"""Endpoints of domains: the sites that are crawled, and on what terms."""

from fastapi import APIRouter, Response

from penstock.web.asking import Limit, one_page
from penstock.web.documents import ACCEPTED, answers
from penstock.web.envelope import ApiResponse, answer
from penstock.web.views import view
from penstock.workloads.catalog.asking import DomainCursor, DomainPath, Operator
from penstock.workloads.catalog.bodies import DomainChanges, NewDomain
from penstock.workloads.catalog.service import CatalogService
from penstock.workloads.catalog.views import DomainDetailView, DomainView


def add(router: APIRouter, service: CatalogService) -> None:
    """Add the endpoints."""
    _add_lists(router, service)
    _add_one(router, service)
    _add_switches(router, service)


def _add_lists(router: APIRouter, service: CatalogService) -> None:
    @router.get(
        "/domains",
        summary="List domains by name",
        response_model=ApiResponse[list[DomainView]],
        responses=answers(),
    )
    async def list_domains(
        key: Operator, active: bool | None = None, cursor: DomainCursor = None, limit: Limit = 50
    ) -> Response:
        del key
        rows = await service.domains.list(active=active, after=cursor, limit=limit + 1)
        shown, meta = one_page(rows, limit, "domain_name")
        return answer([view(DomainView, row) for row in shown], meta=meta)

    @router.post(
        "/domains",
        status_code=201,
        summary="Add a domain before anything of it is submitted",
        description="It is active at once, and its products are shown to readers.",
        response_model=ApiResponse[DomainView],
        responses=answers(*ACCEPTED, 404),
    )
    async def add_domain(body: NewDomain, key: Operator) -> Response:
        row = await service.domains.add(body.domain, key.name, body.source, **body.given())
        return answer(view(DomainView, row), status=201)


def _add_one(router: APIRouter, service: CatalogService) -> None:
    @router.get(
        "/domains/{domain}",
        summary="A domain with its tasks in numbers",
        response_model=ApiResponse[DomainDetailView],
        responses=answers(404),
    )
    async def get_domain(domain: DomainPath, key: Operator) -> Response:
        del key
        return answer(view(DomainDetailView, await service.domains.get(domain)))

    @router.patch(
        "/domains/{domain}",
        summary="Change delay, concurrency, frequency or parser of a domain",
        response_model=ApiResponse[DomainView],
        responses=answers(*ACCEPTED, 404),
    )
    async def edit_domain(domain: DomainPath, body: DomainChanges, key: Operator) -> Response:
        row = await service.domains.edit(domain, key.name, **body.given())
        return answer(view(DomainView, row))


def _add_switches(router: APIRouter, service: CatalogService) -> None:
    @router.post(
        "/domains/{domain}/activate",
        summary="Crawl a domain, and show its products to readers",
        response_model=ApiResponse[DomainView],
        responses=answers(404),
    )
    async def activate_domain(domain: DomainPath, key: Operator) -> Response:
        return answer(view(DomainView, await service.domains.activate(domain, key.name)))

    @router.post(
        "/domains/{domain}/deactivate",
        summary="Crawl a domain no more; what is known of its products stays",
        response_model=ApiResponse[DomainView],
        responses=answers(404),
    )
    async def deactivate_domain(domain: DomainPath, key: Operator) -> Response:
        return answer(view(DomainView, await service.domains.deactivate(domain, key.name)))
