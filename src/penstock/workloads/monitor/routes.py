"""The endpoints of the price monitor, under /api/v1/monitor."""

from fastapi import APIRouter

from penstock.workloads.monitor import (
    price_routes,
    report_routes,
    rule_routes,
    run_routes,
    source_routes,
    target_routes,
)
from penstock.workloads.monitor.service import MonitorService

PREFIX = "/api/v1/monitor"


def monitor_routes(service: MonitorService) -> APIRouter:
    """All endpoints, for an API to mount."""
    router = APIRouter(prefix=PREFIX, tags=["monitor"])
    source_routes.add(router, service)
    target_routes.add(router, service)
    run_routes.add(router, service)
    price_routes.add(router, service)
    rule_routes.add(router, service)
    report_routes.add(router, service)
    return router
