"""Endpoints of feeds: started, changed, looked at, stopped and forgotten."""

from fastapi import APIRouter, Response

from penstock.web.asking import MOST_LISTED, Limit, Time, milliseconds, one_page
from penstock.web.documents import ACCEPTED, answers
from penstock.web.envelope import ApiResponse, answer
from penstock.workloads.live.asking import FeedCursor, FeedId, Onlooker, Operator
from penstock.workloads.live.bodies import NewFeed
from penstock.workloads.live.model import FeedStatus
from penstock.workloads.live.service import LiveService
from penstock.workloads.live.views import (
    AdapterView,
    FeedDetailView,
    FeedView,
    HealthLogView,
    view_adapter,
    view_detail,
    view_feed,
    view_health,
)

CREATED = 201


def add(router: APIRouter, service: LiveService) -> None:
    """Add the endpoints."""
    _add_start(router, service)
    _add_lists(router, service)
    _add_one(router, service)
    _add_switches(router, service)


def _add_start(router: APIRouter, service: LiveService) -> None:
    @router.post(
        "/feeds",
        status_code=CREATED,
        summary="Watch a page, or watch it in another way",
        description=(
            "200 if the feed is known: it is changed, and started if it was not watched. 503 while "
            "memory is short: the feed is kept, and started later by itself."
        ),
        response_model=ApiResponse[FeedView],
        responses={
            **answers(*ACCEPTED),
            200: {"model": ApiResponse[FeedView], "description": "It was known, and is changed"},
        },
    )
    async def start_feed(body: NewFeed, key: Operator) -> Response:
        del key
        row = await service.start(body.as_feed())
        is_new = row["created_at"] == row["updated_at"]
        return answer(view_feed(row, service), status=CREATED if is_new else 200)


def _add_lists(router: APIRouter, service: LiveService) -> None:
    @router.get(
        "/feeds",
        summary="List feeds by id",
        response_model=ApiResponse[list[FeedView]],
        responses=answers(),
    )
    async def list_feeds(
        key: Onlooker,
        status: FeedStatus | None = None,
        cursor: FeedCursor = None,
        limit: Limit = 50,
    ) -> Response:
        del key
        rows = await service.list_feeds(status, after=cursor, limit=limit + 1)
        shown, meta = one_page(rows, limit, "match_id")
        return answer([view_feed(dict(row), service) for row in shown], meta=meta)

    @router.get(
        "/adapters",
        summary="Who reads live pages",
        response_model=ApiResponse[list[AdapterView]],
        responses=answers(),
    )
    async def list_adapters(key: Onlooker) -> Response:
        del key
        return answer([view_adapter(adapter) for adapter in service.registry.all])


def _add_one(router: APIRouter, service: LiveService) -> None:
    @router.get(
        "/feeds/{match_id}",
        summary="A feed, and how its scraper does",
        description="Of a scraper in another process only what the store has is known.",
        response_model=ApiResponse[FeedDetailView],
        responses=answers(404),
    )
    async def get_feed(match_id: FeedId, key: Onlooker) -> Response:
        del key
        return answer(view_detail(await service.get(match_id), service))

    @router.delete(
        "/feeds/{match_id}",
        summary="Forget a feed and all that was seen of it",
        response_model=ApiResponse[FeedView],
        responses=answers(404),
    )
    async def remove_feed(match_id: FeedId, key: Operator) -> Response:
        del key
        row = await service.get(match_id)
        await service.remove(match_id)
        return answer(view_feed(row, service))

    @router.get(
        "/feeds/{match_id}/health-log",
        summary="How the scrapers of a feed were, latest first",
        response_model=ApiResponse[list[HealthLogView]],
        responses=answers(404),
    )
    async def list_health(
        match_id: FeedId, key: Onlooker, since: Time = None, limit: Limit = MOST_LISTED
    ) -> Response:
        del key
        await service.get(match_id)
        rows = await service.health_log(match_id, milliseconds(since) or 0, limit)
        return answer([view_health(row) for row in rows], meta={"limit": limit})


def _add_switches(router: APIRouter, service: LiveService) -> None:
    @router.post(
        "/feeds/{match_id}/stop",
        summary="Watch a feed no longer; what is known of it stays",
        response_model=ApiResponse[FeedView],
        responses=answers(404),
    )
    async def stop_feed(match_id: FeedId, key: Operator) -> Response:
        del key
        return answer(view_feed(await service.stop(match_id), service))

    @router.post(
        "/feeds/{match_id}/restart",
        summary="Let a new scraper watch a feed, whatever became of the last",
        response_model=ApiResponse[FeedView],
        responses=answers(404),
    )
    async def restart_feed(match_id: FeedId, key: Operator) -> Response:
        del key
        return answer(view_feed(await service.restart(match_id), service))
