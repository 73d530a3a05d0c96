"""What settings of the scrape service are called elsewhere."""

from collections.abc import Mapping

#: Variables: section and key.
VARIABLES: Mapping[str, tuple[str, str]] = {
    "SCRAPER_PORT": ("api", "port"),
    "SCRAPER_SERVICE_KEY": ("api", "service_key"),
    "SCRAPER_LOG_LEVEL": ("log", "level"),
    "SCRAPER_BACKEND_API_URL": ("scrape", "backend_api_url"),
    "SCRAPER_BACKEND_SERVICE_KEY": ("scrape", "backend_service_key"),
    "SCRAPER_WEBHOOK_SECRET": ("notify", "webhook_secret"),
    "SCRAPER_DEFAULT_WEBHOOK_URL": ("scrape", "default_webhook_url"),
    "SCRAPER_BROWSER_POOL_SIZE": ("browser", "pool_size"),
    "SCRAPER_BROWSER_POOL_MAX": ("browser", "pool_max"),
    "SCRAPER_BROWSER_PAGE_LIMIT": ("browser", "page_limit"),
    "SCRAPER_NAVIGATION_TIMEOUT_MS": ("browser", "navigation_timeout_ms"),
    "SCRAPER_MAX_QUEUE_DEPTH": ("scrape", "max_queue_depth"),
    "SCRAPER_TASK_TIMEOUT_SECONDS": ("scrape", "task_timeout_seconds"),
    "SCRAPER_RATE_LIMIT_TOKENS": ("scrape", "rate_limit_tokens"),
    "SCRAPER_RATE_LIMIT_INTERVAL_SECONDS": ("scrape", "rate_limit_interval_seconds"),
    "SCRAPER_CB_WINDOW_SIZE": ("breaker", "window"),
    "SCRAPER_CB_FAILURE_THRESHOLD": ("breaker", "threshold"),
    "SCRAPER_CB_COOLDOWN_SECONDS": ("breaker", "cooldown_seconds"),
    "SCRAPER_PROXY_ENDPOINTS": ("proxies", "endpoints"),
    "SCRAPER_PROXY_HEALTH_CHECK_INTERVAL_SECONDS": ("proxies", "health_check_interval_seconds"),
    "SCRAPER_PROXY_DOMAIN_COOLDOWN_SECONDS": ("proxies", "domain_cooldown_seconds"),
    "SCRAPER_CREDENTIAL_CACHE_TTL_SECONDS": ("scrape", "credential_cache_ttl_seconds"),
    "SCRAPER_CREDENTIAL_MAX_RETRIES": ("scrape", "credential_max_retries"),
    "SCRAPER_GRACEFUL_SHUTDOWN_SECONDS": ("queue", "grace_seconds"),
    "SCRAPER_DOMAIN_POLICIES_PATH": ("policies", "files"),
}
