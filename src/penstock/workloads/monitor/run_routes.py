"""Endpoints of runs, of the adapters that read in them, of quarantine, and of why."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Response

from penstock.web.asking import Cursor, Id, IdQuery, Limit, Word, hex_of, one_page
from penstock.web.documents import ACCEPTED, answers
from penstock.web.envelope import ApiResponse, answer
from penstock.web.errors import Conflict, NotFound, QueueFull
from penstock.web.files import PAGE, foreign_page
from penstock.web.views import view
from penstock.workloads.monitor.asking import Onlooker, Operator
from penstock.workloads.monitor.bodies import Decision, Disabling, NewRun, Release
from penstock.workloads.monitor.model import QuarantineStatus, RunStatus
from penstock.workloads.monitor.runs import Launch
from penstock.workloads.monitor.service import MonitorService
from penstock.workloads.monitor.views import (
    AdapterStatusView,
    LaunchView,
    QuarantinedView,
    RunView,
    WhyView,
    view_why,
)

AdapterId = Annotated[str, Path(description="An adapter, or adapter@source where it is shared.")]


def add(router: APIRouter, service: MonitorService) -> None:
    """Add the endpoints."""
    _add_runs(router, service)
    _add_adapters(router, service)
    _add_quarantine(router, service)
    _add_decisions(router, service)
    _add_diagnosis(router, service)


def _add_runs(router: APIRouter, service: MonitorService) -> None:
    @router.get(
        "/runs",
        summary="List runs, newest first",
        response_model=ApiResponse[list[RunView]],
        responses=answers(404),
    )
    async def list_runs(
        *,
        key: Onlooker,
        source: Word = None,
        adapter: Word = None,
        status: RunStatus | None = None,
        cursor: Cursor = None,
        limit: Limit = 50,
    ) -> Response:
        del key
        runs = await service.runs.list(
            source_id=await service.source_id(source),
            adapter=adapter,
            status=status,
            before=cursor,
            limit=limit + 1,
        )
        shown, meta = one_page([run.as_json() for run in runs], limit)
        return answer([view(RunView, run) for run in shown], meta=meta)

    @router.post(
        "/runs",
        status_code=202,
        summary="Read targets now",
        response_model=ApiResponse[LaunchView],
        responses=answers(*ACCEPTED, 404),
    )
    async def start_run(body: NewRun, key: Operator) -> Response:
        launch = await service.start_run(
            key.name, source=body.source, adapter=body.adapter, target_ids=body.target_ids
        )
        refuse_empty(launch)
        return answer(view(LaunchView, _as_row(launch)), status=202)

    @router.post(
        "/runs/{run_id:uuid}/retry",
        status_code=202,
        summary="Read the targets of a run again that failed",
        response_model=ApiResponse[LaunchView],
        responses=answers(*ACCEPTED, 404),
    )
    async def retry_run(run_id: Id, key: Operator) -> Response:
        launch = await service.retry_run(key.name, run_id.hex)
        refuse_empty(launch)
        return answer(view(LaunchView, _as_row(launch)), status=202)

    @router.get(
        "/runs/{run_id:uuid}",
        summary="A run: its counters and rates",
        response_model=ApiResponse[RunView],
        responses=answers(404),
    )
    async def get_run(run_id: Id, key: Onlooker) -> Response:
        del key
        run = await service.runs.get(run_id.hex)
        if run is None:
            raise NotFound("Run not found")
        return answer(view(RunView, run.as_json()))


def refuse_empty(launch: Launch) -> None:
    """A run of nothing is no run: say why."""
    if launch.runs:
        return
    if launch.retry_after is not None:
        raise QueueFull(retry_after=launch.retry_after)
    why = next(iter(launch.refused.values()), "there are none")
    raise Conflict(f"No target can be read now: {why}", meta={"refused": dict(launch.refused)})


def _as_row(launch: Launch) -> dict[str, Any]:
    return {
        "runs": list(launch.runs),
        "accepted": launch.accepted,
        "refused": dict(launch.refused),
        "retry_after": launch.retry_after,
        "left": launch.left,
    }


def _add_adapters(router: APIRouter, service: MonitorService) -> None:
    @router.get(
        "/adapters",
        summary="How adapters fare on sources",
        response_model=ApiResponse[list[AdapterStatusView]],
        responses=answers(),
    )
    async def list_adapters(key: Onlooker) -> Response:
        del key
        statuses = await service.adapters.all()
        return answer([view(AdapterStatusView, each.as_json()) for each in statuses])

    @router.post(
        "/adapters/{adapter_id:path}/enable",
        summary="Let an adapter read again; its next run is a canary of a few targets",
        response_model=ApiResponse[AdapterStatusView],
        responses=answers(404),
    )
    async def enable_adapter(adapter_id: AdapterId, key: Operator) -> Response:
        status = await service.enable_adapter(adapter_id, key.name)
        return answer(view(AdapterStatusView, status.as_json()))

    @router.post(
        "/adapters/{adapter_id:path}/disable",
        summary="Stop an adapter on a source",
        response_model=ApiResponse[AdapterStatusView],
        responses=answers(*ACCEPTED, 404),
    )
    async def disable_adapter(adapter_id: AdapterId, body: Disabling, key: Operator) -> Response:
        status = await service.disable_adapter(adapter_id, key.name, body.reason)
        return answer(view(AdapterStatusView, status.as_json()))


def _add_quarantine(router: APIRouter, service: MonitorService) -> None:
    @router.get(
        "/quarantine",
        summary="List quarantined offers, newest first",
        response_model=ApiResponse[list[QuarantinedView]],
        responses=answers(404),
    )
    async def list_quarantined(
        *,
        key: Operator,
        status: QuarantineStatus | None = None,
        source: Word = None,
        target_id: IdQuery = None,
        run_id: IdQuery = None,
        cursor: Cursor = None,
        limit: Limit = 50,
    ) -> Response:
        del key
        rows = await service.quarantine.list(
            status=status,
            source_id=await service.source_id(source),
            target_id=hex_of(target_id),
            run_id=hex_of(run_id),
            before=cursor,
            limit=limit + 1,
        )
        shown, meta = one_page(rows, limit)
        return answer([view(QuarantinedView, row) for row in shown], meta=meta)

    @router.get(
        "/quarantine/{offer_id:uuid}",
        summary="A quarantined offer",
        response_model=ApiResponse[QuarantinedView],
        responses=answers(404),
    )
    async def get_quarantined(offer_id: Id, key: Operator) -> Response:
        del key
        return answer(view(QuarantinedView, await service.quarantine.get(offer_id.hex)))


def _add_decisions(router: APIRouter, service: MonitorService) -> None:
    @router.post(
        "/quarantine/{offer_id:uuid}/release",
        summary="Write an offer as a price after all",
        response_model=ApiResponse[QuarantinedView],
        responses=answers(*ACCEPTED, 404),
    )
    async def release(offer_id: Id, body: Release, key: Operator) -> Response:
        row = await service.quarantine.release(
            offer_id.hex, who=key.name, why=body.why, price=body.price, currency=body.currency
        )
        return answer(view(QuarantinedView, row))

    @router.post(
        "/quarantine/{offer_id:uuid}/discard",
        summary="Never mind an offer",
        response_model=ApiResponse[QuarantinedView],
        responses=answers(*ACCEPTED, 404),
    )
    async def discard(offer_id: Id, body: Decision, key: Operator) -> Response:
        row = await service.quarantine.discard(offer_id.hex, who=key.name, why=body.why)
        return answer(view(QuarantinedView, row))


def _add_diagnosis(router: APIRouter, service: MonitorService) -> None:
    @router.get(
        "/targets/{target_id:uuid}/why",
        summary="Why a target is as it is: its last result, and the last good one beside it",
        response_model=ApiResponse[WhyView],
        responses=answers(404),
    )
    async def why(target_id: Id, key: Operator) -> Response:
        del key
        return answer(view_why(await service.why(target_id.hex)))

    @router.get(
        "/results/{result_id:uuid}/page",
        summary="The page of a result, as it was",
        response_class=Response,
        responses={**answers(404), 200: {"description": "The page", "content": PAGE}},
    )
    async def page(result_id: Id, key: Operator) -> Response:
        del key
        return foreign_page(await service.page(result_id.hex), f"{result_id.hex}.html")
