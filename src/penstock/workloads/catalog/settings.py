"""The settings of the product crawler."""

from pydantic import Field, model_validator

from penstock.kernel.policy import PolicyEntry, ProxyChoice
from penstock.kernel.settings import RetrySettings, Section
from penstock.workloads.catalog.model import DAY


class CatalogSettings(Section):
    """How often and how politely pages are crawled, and how long what they gave is kept."""

    crawl_frequency_seconds: int = Field(
        DAY, ge=0, description="of tasks and domains that say nothing; 0: once"
    )
    min_frequency_seconds: int = Field(3600, ge=60, description="however often a price changes")
    max_frequency_seconds: int = Field(30 * DAY, ge=60, description="however quiet a page is")
    is_adaptive: bool = Field(True, description="changes shorten the interval, quiet lengthens it")
    quiet_crawls: int = Field(3, ge=1, description="unchanged in a row until it is lengthened")
    max_retries: int = Field(3, ge=0, description="of a download that fails")
    retry_seconds: float = Field(60, gt=0, description="until the first retry; doubled each time")
    max_retry_seconds: float = Field(21_600, gt=0)
    crawl_delay_seconds: int = Field(1, ge=0, le=3600, description="between requests to a domain")
    max_concurrent_requests: int = Field(5, ge=1, le=1000, description="to a domain")
    proxy_requests_per_second: float = Field(
        1, ge=1, le=5, description="through one proxy to one domain"
    )
    max_queued: int = Field(10_000, ge=1, description="tasks handed to workers")
    max_queued_per_domain: int = Field(500, ge=1, description="the same, of one domain")
    tick_seconds: float = Field(1, gt=0, description="between two looks for what is due")
    max_submission: int = Field(1_000_000, ge=1, description="URLs of one submission")
    parser: str = Field("product", description="what pages are read as, unless a domain says")
    shadow: dict[str, str] = Field(
        default_factory=dict, description="adapters and the candidates that read beside them"
    )
    max_images: int = Field(20, ge=0, description="of a product")
    max_image_bytes: int = Field(5 * 1024 * 1024, ge=1)
    max_image_pixels: int = Field(50_000_000, ge=1, description="width times height")
    image_tries: int = Field(3, ge=1, description="until an image that fails is given up")
    keep_pages_days: float = Field(30, ge=0, description="for parsing again")
    keep_attempts_days: float = Field(90, gt=0)
    keep_errors_days: float = Field(90, gt=0)
    keep_submissions_days: float = Field(90, gt=0)
    archive_days: float = Field(90, gt=0, description="until a product not seen is archived")

    @model_validator(mode="after")
    def _is_a_range(self) -> "CatalogSettings":
        if self.min_frequency_seconds > self.max_frequency_seconds:
            raise ValueError("min_frequency_seconds is greater than max_frequency_seconds")
        return self

    def as_policy(self) -> PolicyEntry:
        """The pace of domains on which no policy has a word."""
        limit = ProxyChoice(requests_per_second=self.proxy_requests_per_second)
        entry = pace_entry(self.crawl_delay_seconds, self.max_concurrent_requests)
        return entry.model_copy(update={"proxy": limit})

    def as_retry(self) -> RetrySettings:
        """A page is tried once, though through several proxies: a task is scheduled anew."""
        return RetrySettings(proxies_only=True)


def pace_entry(delay_seconds: int, concurrency: int) -> PolicyEntry:
    """So many seconds between requests, so many at once; without a delay as many in a second."""
    return PolicyEntry(
        tokens_per_interval=1 if delay_seconds else concurrency,
        interval_seconds=delay_seconds or 1,
        request_delay_ms=delay_seconds * 1000,
        max_concurrent=concurrency,
    )
