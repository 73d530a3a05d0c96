"""The words of the product crawler."""

from enum import StrEnum
from typing import Any

#: Lanes of the queue: pages to download, pages to parse, images, and sitemaps to read.
DOWNLOADS = WORKLOAD = "catalog"
PARSES = "catalog_parse"
IMAGES = "catalog_images"
SITEMAPS = "catalog_sitemaps"

HIGHEST, DEFAULT_PRIORITY, LOWEST = 1, 5, 10
DAY, DAY_MS = 86_400, 86_400_000
Row = dict[str, Any]


class Status(StrEnum):
    """Where a crawl task stands."""

    PENDING = "pending"
    QUEUED = "queued"
    CRAWLING = "crawling"
    DOWNLOADED = "downloaded"
    PARSING = "parsing"
    COMPLETED = "completed"
    FAILED = "failed"


#: A worker has it, or will have it.
UNDER_WAY = (Status.QUEUED, Status.CRAWLING, Status.DOWNLOADED, Status.PARSING)
OVER = (Status.COMPLETED, Status.FAILED)


class Category(StrEnum):
    """What kind of trouble an error was."""

    NETWORK = "network"
    HTTP = "http"
    BLOCKED = "blocked"
    REFUSED = "refused"
    CONTENT = "content"
    PARSE = "parse"
    VALIDATION = "validation"
    INTERNAL = "internal"


class Attempt(StrEnum):
    """What an attempt was at."""

    DOWNLOAD = "download"
    PARSE = "parse"


class Fared(StrEnum):
    """What came of an attempt."""

    OK = "ok"
    UNCHANGED = "unchanged"
    FAILED = "failed"


def queue_priority(priority: int) -> int:
    """A task's priority as the queue has it: 0 to 9."""
    return min(max(priority, HIGHEST), LOWEST) - 1
