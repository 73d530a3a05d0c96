"""A typed client of everything that the API offers; the check of webhooks.

with Client("http://127.0.0.1:8001", key) as penstock:
    job = penstock.batch([Target(target_type="product", target_url=url, workspace_id="acme")])
    done = penstock.wait_for_job(job.job_id)
    results = list(penstock.results(job.job_id))
    penstock.monitor.targets.add("https://shop.example/product/1", schedule="6h")
    penstock.catalog.submit(["https://shop.example/product/1"])
    lamps = list(penstock.catalog.products.search("desk lamp", price_max="50"))
    for event in penstock.live.events("final"):
        print(event)
"""

from penstock.client.async_rest import AsyncClient
from penstock.client.catalog_models import (
    CatalogProduct,
    CrawlProgress,
    CrawlTask,
    FoundPage,
    FoundProduct,
    PricePoint,
    ProductImage,
    Submission,
)
from penstock.client.errors import (
    ApiError,
    ClientError,
    Conflict,
    Forbidden,
    InvalidRequest,
    NotFound,
    NotInTime,
    NotReached,
    RateLimited,
    TaskTimedOut,
    Unauthenticated,
    Unavailable,
    WebhookInvalid,
)
from penstock.client.live_models import (
    Feed,
    FeedDetail,
    FeedError,
    HealthEntry,
    LiveEnd,
    LiveEvent,
    LiveGap,
    LiveReader,
    LiveStanding,
    LiveUpdate,
    Reading,
)
from penstock.client.models import (
    Adapter,
    Adapters,
    File,
    Job,
    JobAccepted,
    JobEvent,
    JobStatus,
    Page,
    Result,
    Target,
    TargetType,
    Task,
    TaskAccepted,
    TaskStatus,
    TaskSummary,
    Webhook,
)
from penstock.client.monitor_models import Launch, Price, QuarantinedOffer, Run, WatchedTarget
from penstock.client.rest import Client
from penstock.client.retrying import Retrying
from penstock.client.webhooks import verify_webhook

__all__ = [
    "Adapter",
    "Adapters",
    "ApiError",
    "AsyncClient",
    "CatalogProduct",
    "Client",
    "ClientError",
    "Conflict",
    "CrawlProgress",
    "CrawlTask",
    "Feed",
    "FeedDetail",
    "FeedError",
    "File",
    "Forbidden",
    "FoundPage",
    "FoundProduct",
    "HealthEntry",
    "InvalidRequest",
    "Job",
    "JobAccepted",
    "JobEvent",
    "JobStatus",
    "Launch",
    "LiveEnd",
    "LiveEvent",
    "LiveGap",
    "LiveReader",
    "LiveStanding",
    "LiveUpdate",
    "NotFound",
    "NotInTime",
    "NotReached",
    "Page",
    "Price",
    "PricePoint",
    "ProductImage",
    "QuarantinedOffer",
    "RateLimited",
    "Reading",
    "Result",
    "Retrying",
    "Run",
    "Submission",
    "Target",
    "TargetType",
    "Task",
    "TaskAccepted",
    "TaskStatus",
    "TaskSummary",
    "TaskTimedOut",
    "Unauthenticated",
    "Unavailable",
    "WatchedTarget",
    "Webhook",
    "WebhookInvalid",
    "verify_webhook",
]
