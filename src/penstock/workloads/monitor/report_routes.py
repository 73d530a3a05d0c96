"""Endpoints of what is looked up rather than changed: alerts, replays and shadows."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from penstock.web.asking import Cursor, Limit, Time, Word, milliseconds, one_page
from penstock.web.documents import ACCEPTED, answers
from penstock.web.envelope import ApiResponse, answer
from penstock.web.views import moment, view
from penstock.workloads.monitor.asking import Onlooker, Operator
from penstock.workloads.monitor.bodies import NewReplay
from penstock.workloads.monitor.model import DAY_MS
from penstock.workloads.monitor.price_routes import place_of
from penstock.workloads.monitor.replaying import Selection
from penstock.workloads.monitor.report_views import (
    AlertView,
    ReplayView,
    ShadowView,
    view_replay,
    view_shadow,
)
from penstock.workloads.monitor.service import MonitorService
from penstock.workloads.monitor.told import Severity, Wanted

A_WEEK_MS = 7 * DAY_MS


def add(router: APIRouter, service: MonitorService) -> None:
    """Add the endpoints."""
    _add_alerts(router, service)
    _add_replays(router, service)
    _add_shadow(router, service)


def _add_alerts(router: APIRouter, service: MonitorService) -> None:
    @router.get(
        "/alerts",
        summary="List what ops were told of, newest first",
        response_model=ApiResponse[list[AlertView]],
        responses=answers(),
    )
    async def list_alerts(
        *,
        key: Onlooker,
        is_open: Annotated[bool | None, Query(alias="open")] = None,
        kind: Word = None,
        subject: Word = None,
        severity: Severity | None = None,
        cursor: Cursor = None,
        limit: Limit = 50,
    ) -> Response:
        del key
        wanted = Wanted(kind, subject, severity)
        rows = await service.told.list(wanted, is_open=is_open, before=cursor, limit=limit + 1)
        shown, meta = one_page(rows, limit)
        return answer([view(AlertView, row) for row in shown], meta=meta)


def _add_replays(router: APIRouter, service: MonitorService) -> None:
    @router.post(
        "/replays",
        summary="Read kept pages again with an adapter, and say what differs; changes nothing",
        description=(
            "As many pages as `limit` says, the oldest first, and for about 20 seconds at most. "
            "Where there are more, `is_complete` is false and `meta.next_cursor` asks for them."
        ),
        response_model=ApiResponse[ReplayView],
        responses=answers(*ACCEPTED, 404),
    )
    async def replay(body: NewReplay, key: Operator) -> Response:
        del key
        since = milliseconds(body.since)
        selection = Selection(
            await _a_week_ago(service) if since is None else since,
            await service.source_id(body.source),
            tuple(body.target_ids),
            place_of(body.cursor),
        )
        part = await service.replay(body.adapter, selection, body.limit)
        place = "{}.{}".format(*part.next_after) if part.next_after else None
        return answer(view_replay(part), meta={"limit": body.limit, "next_cursor": place})


def _add_shadow(router: APIRouter, service: MonitorService) -> None:
    @router.get(
        "/shadow",
        summary="How candidates that read beside an adapter agreed with it on live pages",
        description=(
            "Of the last 7 days if no time is said. Where there were too many results, only the "
            "newest were looked at: those from `meta.complete_since` on."
        ),
        response_model=ApiResponse[list[ShadowView]],
        responses=answers(),
    )
    async def shadow(
        key: Operator,
        adapter: Annotated[
            str, Query(min_length=1, max_length=200, description="The adapter in use, by name.")
        ],
        since: Time = None,
    ) -> Response:
        del key
        given = milliseconds(since)
        begin = await _a_week_ago(service) if given is None else given
        reports, stopped_at = await service.shadow(adapter, begin)
        meta: dict[str, Any] = {"complete_since": moment(stopped_at)}
        return answer([view_shadow(each) for each in reports], meta=meta)


async def _a_week_ago(service: MonitorService) -> int:
    return await service.replaying.now() - A_WEEK_MS
