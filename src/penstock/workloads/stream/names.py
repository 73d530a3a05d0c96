"""What settings of the page fetcher are called elsewhere."""

from collections.abc import Mapping

#: Variables: section and key.
VARIABLES: Mapping[str, tuple[str, str]] = {
    "PAGE_FETCHER_REDIS_URL": ("stream", "redis_url"),
    "PAGE_FETCHER_KAFKA_BOOTSTRAP_SERVERS": ("stream", "kafka_bootstrap_servers"),
    "PAGE_FETCHER_INPUT_QUEUE": ("stream", "input_queue"),
    "PAGE_FETCHER_DLQ_QUEUE": ("stream", "dlq_queue"),
    "PAGE_FETCHER_WEBPAGE_LOG_TOPIC": ("stream", "webpage_log_topic"),
    "PAGE_FETCHER_REQUEST_TIMEOUT_SECONDS": ("http", "timeout_seconds"),
    "PAGE_FETCHER_MAX_RETRIES": ("stream", "max_retries"),
    "PAGE_FETCHER_RETRY_BACKOFF_BASE_SECONDS": ("stream", "retry_backoff_base_seconds"),
    "PAGE_FETCHER_USER_AGENT": ("identity", "agent"),
    "PAGE_FETCHER_MAX_REDIRECTS": ("http", "max_redirects"),
    "PAGE_FETCHER_CACHE_TTL_SECONDS": ("stream", "cache_ttl_seconds"),
    "PAGE_FETCHER_RATE_LIMIT_PER_SECOND": ("stream", "rate_limit_per_second"),
    "PAGE_FETCHER_CIRCUIT_BREAKER_FAILURE_THRESHOLD": (
        "stream",
        "circuit_breaker_failure_threshold",
    ),
    "PAGE_FETCHER_CIRCUIT_BREAKER_INITIAL_BACKOFF_SECONDS": (
        "stream",
        "circuit_breaker_initial_backoff_seconds",
    ),
    "PAGE_FETCHER_CIRCUIT_BREAKER_MAX_BACKOFF_SECONDS": (
        "stream",
        "circuit_breaker_max_backoff_seconds",
    ),
    "PAGE_FETCHER_CIRCUIT_BREAKER_BACKOFF_MULTIPLIER": (
        "stream",
        "circuit_breaker_backoff_multiplier",
    ),
    "PAGE_FETCHER_ROBOTS_TXT_CACHE_TTL_SECONDS": ("robots", "lifetime_seconds"),
    "PAGE_FETCHER_POLL_TIMEOUT_SECONDS": ("stream", "poll_timeout_seconds"),
}
