"""The endpoints of the crawler: `/api/v1/admin` for who runs it, `/api/v1/products` for readers."""

from fastapi import APIRouter

from penstock.workloads.catalog import (
    domain_routes,
    error_routes,
    product_routes,
    proxy_routes,
    submission_routes,
    task_routes,
)
from penstock.workloads.catalog.product_views import PREFIX
from penstock.workloads.catalog.proxies import Proxies
from penstock.workloads.catalog.service import CatalogService
from penstock.workloads.catalog.submission_routes import IsStopping

ADMIN = "/api/v1/admin"


def catalog_routes(
    service: CatalogService, proxies: Proxies, is_stopping: IsStopping
) -> list[APIRouter]:
    """What admins need and what readers need, for an API to mount."""
    admin = APIRouter(prefix=ADMIN, tags=["catalog"])
    task_routes.add(admin, service)
    submission_routes.add(admin, service, is_stopping)
    domain_routes.add(admin, service)
    error_routes.add(admin, service)
    ways = APIRouter(prefix=ADMIN, tags=["proxies"])
    proxy_routes.add(ways, proxies)
    readers = APIRouter(prefix=PREFIX, tags=["products"])
    product_routes.add(readers, service)
    return [admin, ways, readers]
