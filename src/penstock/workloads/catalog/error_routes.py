"""Endpoints of what went wrong: errors, their patterns, dead letters, and how parsers do."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from penstock.web.asking import (
    Cursor,
    IdQuery,
    Limit,
    Time,
    Word,
    hex_of,
    milliseconds,
    one_page,
)
from penstock.web.documents import ACCEPTED, answers
from penstock.web.envelope import ApiResponse, answer
from penstock.web.views import moment, view
from penstock.workloads.catalog.asking import DomainName, Operator
from penstock.workloads.catalog.bodies import Revival
from penstock.workloads.catalog.model import DAY_MS, Category
from penstock.workloads.catalog.service import CatalogService
from penstock.workloads.catalog.tasks import Filter
from penstock.workloads.catalog.views import (
    DeadLetterView,
    ErrorView,
    ParseRateView,
    PatternView,
    RevivedView,
    ShadowView,
    view_dead_letter,
    view_pattern,
    view_rate,
    view_shadow,
)

A_WEEK_MS = 7 * DAY_MS


def add(router: APIRouter, service: CatalogService) -> None:
    """Add the endpoints."""
    _add_errors(router, service)
    _add_dead_letters(router, service)
    _add_parsers(router, service)


async def _since(service: CatalogService, given: int | None) -> int:
    return given if given is not None else await service.now() - A_WEEK_MS


def _add_errors(router: APIRouter, service: CatalogService) -> None:
    @router.get(
        "/errors",
        summary="List errors, newest first",
        response_model=ApiResponse[list[ErrorView]],
        responses=answers(404),
    )
    async def list_errors(
        *,
        key: Operator,
        domain: DomainName = None,
        task_id: IdQuery = None,
        category: Category | None = None,
        error_type: Word = None,
        since: Time = None,
        cursor: Cursor = None,
        limit: Limit = 50,
    ) -> Response:
        del key
        rows = await service.errors.list(
            domain=domain,
            task=hex_of(task_id),
            category=category,
            error_type=error_type,
            since=milliseconds(since),
            after=cursor,
            limit=limit + 1,
        )
        shown, meta = one_page(rows, limit)
        return answer([view(ErrorView, row) for row in shown], meta=meta)

    @router.get(
        "/errors/patterns",
        summary="What goes wrong most: by domain, category and type, and by the hour",
        description="Of the last 7 days if no time is said.",
        response_model=ApiResponse[list[PatternView]],
        responses=answers(404),
    )
    async def list_patterns(
        key: Operator, domain: DomainName = None, since: Time = None, limit: Limit = 50
    ) -> Response:
        del key
        begin = await _since(service, milliseconds(since))
        rows = await service.errors.patterns(begin, domain, limit)
        return answer([view_pattern(row) for row in rows])


def _add_dead_letters(router: APIRouter, service: CatalogService) -> None:
    @router.get(
        "/dlq",
        summary="List dead letters: tasks that failed for good, and what put them there",
        response_model=ApiResponse[list[DeadLetterView]],
        responses=answers(404),
    )
    async def list_dead_letters(
        *,
        key: Operator,
        domain: DomainName = None,
        category: Category | None = None,
        error_type: Word = None,
        cursor: Cursor = None,
        limit: Limit = 50,
    ) -> Response:
        del key
        wanted = Filter(
            domain=domain,
            category=category,
            error_type=error_type,
            dead=True,
            after=cursor,
            limit=limit + 1,
        )
        shown, meta = one_page(await service.tasks.list(wanted), limit)
        return answer([view_dead_letter(row) for row in shown], meta=meta)

    @router.post(
        "/dlq/revive",
        summary="Try dead letters again, as if for the first time",
        response_model=ApiResponse[RevivedView],
        responses=answers(*ACCEPTED, 404),
    )
    async def revive(body: Revival, key: Operator) -> Response:
        del key
        return answer({"revived": await service.tasks.retry(body.as_filter())})


def _add_parsers(router: APIRouter, service: CatalogService) -> None:
    @router.get(
        "/parsers",
        summary="How many pages each version of a parser can read, by domain",
        description="Of the last 7 days if no time is said.",
        response_model=ApiResponse[list[ParseRateView]],
        responses=answers(404),
    )
    async def list_rates(key: Operator, domain: DomainName = None, since: Time = None) -> Response:
        del key
        begin = await _since(service, milliseconds(since))
        rates = await service.parsers.rates(begin, domain)
        return answer([view_rate(rate) for rate in rates])

    @router.get(
        "/parsers/shadow",
        summary="How candidates that read beside a parser agreed with it on live pages",
        description=(
            "Of the last 7 days if no time is said. Where there were too many pages, only the "
            "newest were looked at: those from `meta.complete_since` on."
        ),
        response_model=ApiResponse[list[ShadowView]],
        responses=answers(),
    )
    async def shadow(
        key: Operator,
        parser: Annotated[
            str, Query(min_length=1, max_length=200, description="The parser in use, by name.")
        ],
        since: Time = None,
    ) -> Response:
        del key
        begin = await _since(service, milliseconds(since))
        reports, stopped_at = await service.parsers.shadow(parser, begin)
        meta: dict[str, Any] = {"complete_since": moment(stopped_at)}
        return answer([view_shadow(each) for each in reports], meta=meta)
