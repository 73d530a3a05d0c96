"""Endpoints of price rules: what users want to be told of."""

from fastapi import APIRouter, Response

from penstock.web.asking import Cursor, Id, IdQuery, Limit, hex_of, one_page
from penstock.web.documents import ACCEPTED, answers
from penstock.web.envelope import ApiResponse, answer
from penstock.workloads.monitor.asking import Onlooker, Operator
from penstock.workloads.monitor.bodies import NewRule
from penstock.workloads.monitor.service import MonitorService
from penstock.workloads.monitor.views import RuleView, view_rule


def add(router: APIRouter, service: MonitorService) -> None:
    """Add the endpoints."""
    _add_lists(router, service)
    _add_one(router, service)


def _add_lists(router: APIRouter, service: MonitorService) -> None:
    @router.get(
        "/rules",
        summary="List price rules, oldest first",
        response_model=ApiResponse[list[RuleView]],
        responses=answers(),
    )
    async def list_rules(
        *,
        key: Onlooker,
        target_id: IdQuery = None,
        product_id: IdQuery = None,
        cursor: Cursor = None,
        limit: Limit = 50,
    ) -> Response:
        del key
        found = await service.alerts.all(
            target_id=hex_of(target_id),
            product_id=hex_of(product_id),
            after=cursor or "",
            limit=limit + 1,
        )
        shown, meta = one_page([view_rule(rule) for rule in found], limit)
        return answer(shown, meta=meta)

    @router.post(
        "/rules",
        status_code=201,
        summary="Be told when a price drops, is below an amount, or a product is back in stock",
        response_model=ApiResponse[RuleView],
        responses=answers(*ACCEPTED, 404),
    )
    async def add_rule(body: NewRule, key: Operator) -> Response:
        rule = await service.alerts.add(body.kind, key.name, **body.traits())
        return answer(view_rule(rule), status=201)


def _add_one(router: APIRouter, service: MonitorService) -> None:
    @router.get(
        "/rules/{rule_id:uuid}",
        summary="A price rule",
        response_model=ApiResponse[RuleView],
        responses=answers(404),
    )
    async def get_rule(rule_id: Id, key: Onlooker) -> Response:
        del key
        return answer(view_rule(await service.alerts.get(rule_id.hex)))

    @router.post(
        "/rules/{rule_id:uuid}/enable",
        summary="Switch a price rule on",
        response_model=ApiResponse[RuleView],
        responses=answers(404),
    )
    async def enable_rule(rule_id: Id, key: Operator) -> Response:
        del key
        return answer(view_rule(await service.alerts.switch(rule_id.hex, enabled=True)))

    @router.post(
        "/rules/{rule_id:uuid}/disable",
        summary="Switch a price rule off",
        response_model=ApiResponse[RuleView],
        responses=answers(404),
    )
    async def disable_rule(rule_id: Id, key: Operator) -> Response:
        del key
        return answer(view_rule(await service.alerts.switch(rule_id.hex, enabled=False)))

    @router.delete(
        "/rules/{rule_id:uuid}",
        status_code=204,
        summary="Forget a price rule",
        responses=answers(404),
    )
    async def remove_rule(rule_id: Id, key: Operator) -> Response:
        del key
        await service.alerts.remove(rule_id.hex)
        return Response(status_code=204)
