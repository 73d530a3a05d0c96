"""The settings of live pages."""

from pydantic import Field, model_validator

from penstock.kernel.policy import PolicyEntry
from penstock.kernel.settings import (
    BreakerSettings,
    BrowserSettings,
    RetrySettings,
    Section,
    Words,
)
from penstock.workloads.live.model import WORKLOAD

#: More pages than any browser sees.
NO_LIMIT = 10**9
DAY = 86_400.0


class LiveSettings(Section):
    """How pages that change by the second are watched, and what makes a scraper start anew."""

    enabled: bool = Field(True, description="whether `penstock up` watches feeds")
    adapters: Words = Field(
        (),
        description="names of entry points in the group penstock.live_adapters, or .py files",
    )
    max_lifetime_hours: float = Field(6, gt=0, description="a scraper starts anew after so long")
    memory_soft_limit_mb: int = Field(
        1536, ge=64, description="a larger browser is replaced when its feeds have done their cycle"
    )
    memory_hard_limit_mb: int = Field(2048, ge=64, description="a larger browser is killed")
    min_free_memory_mb: int = Field(512, ge=0, description="with less, no scraper starts")
    feeds_per_browser: int = Field(10, ge=1, le=10, description="feeds that share one Chromium")
    max_feeds: int = Field(100, ge=1, description="feeds that one process watches")
    polling_interval_seconds: float = Field(2.5, gt=0, le=3600, description="the baseline")
    staleness_threshold_seconds: float = Field(300, gt=0, description="older data: start anew")
    max_queue_size: int = Field(1000, ge=1, description="updates that wait for the store")
    max_queue_size_mb: int = Field(10, ge=1, description="the same as a size")
    circuit_breaker_threshold: int = Field(5, ge=1, description="failures in a row")
    circuit_breaker_timeout_seconds: float = Field(60, gt=0)
    circuit_breaker_success_threshold: int = Field(5, ge=1, description="good ones that close it")
    retry_max_attempts: int = Field(5, ge=0, description="quick repetitions of what failed")
    retry_base_delay_seconds: float = Field(1, gt=0)
    retry_max_delay_seconds: float = Field(16, gt=0)
    page_timeout_seconds: float = Field(30, gt=0, description="for a page to be there, at first")
    navigation_timeout_seconds: float = Field(30, gt=0, description="until a page arrives")
    selector_timeout_seconds: float = Field(5, gt=0, description="for the element of a page")
    browser_headless: bool = Field(True, description="false needs a display")
    enable_prometheus_metrics: bool = Field(True, description="whether live pages are measured")
    prometheus_port: int | None = Field(
        None, ge=1, le=65535, description="metrics on a port of their own, often 9090"
    )
    health_check_enabled: bool = Field(True, description="whether /health of live pages answers")
    enable_adaptive_polling: bool = True
    enable_adaptive_timeouts: bool = True
    enable_match_state_detection: bool = Field(
        True, description="whether breaks and ends of a match are minded"
    )
    max_restarts_per_hour: int = Field(
        12, ge=1, description="of one scraper; then it is stopped and ops are told"
    )
    parse_retry_seconds: float = Field(
        300, gt=0, description="a page that cannot be read is tried again so often"
    )
    snapshots_per_feed: int = Field(20, ge=0, description="pages kept that could not be read")
    health_log_seconds: float = Field(60, gt=0, description="between two rows of the health log")
    keep_updates_days: float = Field(30, gt=0)
    keep_health_days: float = Field(7, gt=0)
    keep_errors_days: float = Field(30, gt=0)
    orphan_check_minutes: float = Field(30, gt=0, description="until lost browsers are looked for")
    keys_required: bool = Field(True, description="whether who reads feeds needs a key")
    port: int = Field(8003, ge=0, le=65535, description="of the API of `penstock live run`")

    @model_validator(mode="after")
    def _are_in_order(self) -> "LiveSettings":
        if self.memory_soft_limit_mb > self.memory_hard_limit_mb:
            raise ValueError("memory_soft_limit_mb is above memory_hard_limit_mb")
        if self.retry_base_delay_seconds > self.retry_max_delay_seconds:
            raise ValueError("retry_base_delay_seconds is above retry_max_delay_seconds")
        return self

    def as_policy(self) -> PolicyEntry:
        """The pace of domains on which no policy has a word: that of the fastest feed."""
        return PolicyEntry(tokens_per_interval=1, interval_seconds=2, request_delay_ms=2000)

    def as_retry(self) -> RetrySettings:
        """A scraper repeats what failed by itself, and knows better when."""
        return RetrySettings(max_attempts=1, proxies_only=True)

    def as_browser(self, common: BrowserSettings) -> BrowserSettings:
        """Browsers whose pages stay open: only memory and age of their scrapers wear them out."""
        return common.model_copy(
            update={
                "pool_size": self.max_feeds,
                "pool_max": self.max_feeds,
                "contexts_per_browser": self.feeds_per_browser,
                "page_limit": NO_LIMIT,
                "max_age_seconds": DAY,
                "first_page_always": False,
                "max_memory_mb": self.memory_soft_limit_mb,
                "hard_memory_mb": self.memory_hard_limit_mb,
                "min_free_memory_mb": self.min_free_memory_mb,
                "navigation_timeout_ms": round(self.navigation_timeout_seconds * 1000),
                "wait_seconds": self.selector_timeout_seconds,
                "headless": self.browser_headless,
            }
        )

    def as_breaker(self) -> BreakerSettings:
        """When a feed rests: after so many failures in a row, until as many good ones."""
        return BreakerSettings(
            rules=WORKLOAD,
            trip="consecutive",
            threshold=self.circuit_breaker_threshold,
            cooldown_seconds=self.circuit_breaker_timeout_seconds,
            max_cooldown_seconds=self.circuit_breaker_timeout_seconds,
            cooldown_factor=1,
            probes_to_close=self.circuit_breaker_success_threshold,
        )
