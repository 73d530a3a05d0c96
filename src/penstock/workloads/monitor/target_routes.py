"""Endpoints of targets: the URLs that are watched; and of their import and export."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse

from penstock.web.asking import Cursor, Id, Limit, Word, one_page
from penstock.web.documents import ACCEPTED, answers
from penstock.web.envelope import ApiResponse, answer
from penstock.workloads.monitor.asking import Onlooker, Operator
from penstock.workloads.monitor.bodies import Import, NewTarget, Requeue, TargetChanges
from penstock.workloads.monitor.importing import Format
from penstock.workloads.monitor.model import TargetStatus
from penstock.workloads.monitor.service import MonitorService
from penstock.workloads.monitor.targets import Filter
from penstock.workloads.monitor.views import (
    ImportView,
    RemovalView,
    RequeuedView,
    TargetView,
    view_target,
)

Act = Callable[[str, str], Awaitable[dict[str, Any]]]
FileFormat = Annotated[Format, Query(alias="format")]
TEXT: dict[str, Any] = {"schema": {"type": "string"}}


def add(router: APIRouter, service: MonitorService) -> None:
    """Add the endpoints."""
    _add_lists(router, service)
    _add_one(router, service)
    _add_switches(router, service)
    _add_files(router, service)


def _add_lists(router: APIRouter, service: MonitorService) -> None:
    @router.get(
        "/targets",
        summary="List targets, newest first",
        response_model=ApiResponse[list[TargetView]],
        responses=answers(404),
    )
    async def list_targets(
        *,
        key: Onlooker,
        source: Word = None,
        adapter: Word = None,
        status: TargetStatus | None = None,
        enabled: bool | None = None,
        blocked: bool | None = None,
        url: Word = None,
        cursor: Cursor = None,
        limit: Limit = 50,
    ) -> Response:
        del key
        wanted = Filter(
            source_id=await service.source_id(source),
            adapter=adapter,
            status=status,
            enabled=enabled,
            blocked=blocked,
            url=url,
            before=cursor,
            limit=limit,
        )
        shown, meta = one_page(await service.targets.list(wanted), limit)
        return answer([view_target(row) for row in shown], meta=meta)

    @router.post(
        "/targets",
        status_code=201,
        summary="Add a target",
        description="It is due at once, and then by its schedule, if its source is approved.",
        response_model=ApiResponse[TargetView],
        responses=answers(*ACCEPTED, 404),
    )
    async def add_target(body: NewTarget, key: Operator) -> Response:
        row = await service.targets.add(body.as_wanted(), key.name)
        return answer(view_target(row), status=201)


def _add_one(router: APIRouter, service: MonitorService) -> None:
    @router.get(
        "/targets/{target_id:uuid}",
        summary="A target",
        response_model=ApiResponse[TargetView],
        responses=answers(404),
    )
    async def get_target(target_id: Id, key: Onlooker) -> Response:
        del key
        return answer(view_target(await service.targets.get(target_id.hex)))

    @router.patch(
        "/targets/{target_id:uuid}",
        summary="Change schedule, priority, notes or adapter of a target",
        response_model=ApiResponse[TargetView],
        responses=answers(*ACCEPTED, 404),
    )
    async def edit_target(target_id: Id, body: TargetChanges, key: Operator) -> Response:
        row = await service.targets.edit(target_id.hex, key.name, **body.given())
        return answer(view_target(row))

    @router.delete(
        "/targets/{target_id:uuid}",
        summary="Remove a target",
        description="One with results or prices is disabled and kept.",
        response_model=ApiResponse[RemovalView],
        responses=answers(404, 409),
    )
    async def remove_target(target_id: Id, key: Operator) -> Response:
        removal = await service.targets.remove(target_id.hex, key.name)
        return answer({"id": removal.id, "deleted": removal.deleted, "note": removal.note})


def _add_switches(router: APIRouter, service: MonitorService) -> None:
    targets = service.targets
    switches: dict[str, tuple[Act, str]] = {
        "pause": (targets.pause, "Read a target no more until it is resumed"),
        "resume": (targets.resume, "Read a target again: paused, broken or stale"),
        "enable": (targets.enable, "Take a target in again that was disabled"),
        "disable": (targets.disable, "Leave a target out"),
        "block": (targets.block, "Never fetch this URL, whatever robots allow"),
        "unblock": (targets.unblock, "Take back a block; what robots forbid stays forbidden"),
    }
    for name, (act, summary) in switches.items():
        _add_switch(router, name, act, summary)


def _add_switch(router: APIRouter, name: str, act: Act, summary: str) -> None:
    @router.post(
        f"/targets/{{target_id:uuid}}/{name}",
        name=f"{name}_target",
        summary=summary,
        response_model=ApiResponse[TargetView],
        responses=answers(404),
    )
    async def switch(target_id: Id, key: Operator) -> Response:
        return answer(view_target(await act(target_id.hex, key.name)))


def _add_files(router: APIRouter, service: MonitorService) -> None:
    @router.post(
        "/imports",
        summary="Add many targets: all of them, or none",
        description="The report names every line that is wrong: if one is, nothing was added.",
        response_model=ApiResponse[ImportView],
        responses=answers(*ACCEPTED),
    )
    async def import_targets(body: Import, key: Operator) -> Response:
        report = await service.importer.load(body.text, body.as_plan(), key.name)
        return answer(report.as_json())

    @router.get(
        "/exports",
        summary="All targets as a file that an import takes",
        response_class=StreamingResponse,
        responses={
            **answers(404),
            200: {
                "description": "The file",
                "content": {"text/csv": TEXT, "application/x-ndjson": TEXT},
            },
        },
    )
    async def export_targets(
        key: Onlooker, source: Word = None, file_format: FileFormat = Format.CSV
    ) -> Response:
        del key
        source_id = await service.source_id(source)
        if file_format is Format.CSV:
            lines, media = service.exporter.csv(source_id), "text/csv"
        else:
            lines, media = service.exporter.json_lines(source_id), "application/x-ndjson"
        headers = {"Content-Disposition": f'attachment; filename="targets.{file_format}"'}
        return StreamingResponse(lines, media_type=media, headers=headers)

    @router.post(
        "/requeue",
        summary="Let stale targets be due again",
        response_model=ApiResponse[RequeuedView],
        responses=answers(*ACCEPTED, 404),
    )
    async def requeue(body: Requeue, key: Operator) -> Response:
        source_id = await service.source_id(body.source)
        return answer({"requeued": await service.targets.requeue(key.name, source_id=source_id)})
