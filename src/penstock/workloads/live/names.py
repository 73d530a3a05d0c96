"""What settings of live pages are called elsewhere: as variables, and in a form of YAML."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from penstock.core.errors import SettingsError

#: The section of a configuration file that has this form.
FORM_SECTION: Final = "scraper"

#: Variables: section and key.
VARIABLES: Mapping[str, tuple[str, str]] = {
    "SCRAPER_MAX_LIFETIME_HOURS": ("live", "max_lifetime_hours"),
    "MEMORY_SOFT_LIMIT_MB": ("live", "memory_soft_limit_mb"),
    "MEMORY_HARD_LIMIT_MB": ("live", "memory_hard_limit_mb"),
    "POLLING_INTERVAL_SECONDS": ("live", "polling_interval_seconds"),
    "STALENESS_THRESHOLD_SECONDS": ("live", "staleness_threshold_seconds"),
    "MAX_QUEUE_SIZE": ("live", "max_queue_size"),
    "MAX_QUEUE_SIZE_MB": ("live", "max_queue_size_mb"),
    "CIRCUIT_BREAKER_THRESHOLD": ("live", "circuit_breaker_threshold"),
    "CIRCUIT_BREAKER_TIMEOUT_SECONDS": ("live", "circuit_breaker_timeout_seconds"),
    "CIRCUIT_BREAKER_SUCCESS_THRESHOLD": ("live", "circuit_breaker_success_threshold"),
    "RETRY_MAX_ATTEMPTS": ("live", "retry_max_attempts"),
    "RETRY_BASE_DELAY_SECONDS": ("live", "retry_base_delay_seconds"),
    "RETRY_MAX_DELAY_SECONDS": ("live", "retry_max_delay_seconds"),
    "PAGE_TIMEOUT_SECONDS": ("live", "page_timeout_seconds"),
    "NAVIGATION_TIMEOUT_SECONDS": ("live", "navigation_timeout_seconds"),
    "SELECTOR_TIMEOUT_SECONDS": ("live", "selector_timeout_seconds"),
    "BROWSER_HEADLESS": ("live", "browser_headless"),
    "DB_CONNECTION_POOL_SIZE": ("store", "pool_size"),
    "DB_CONNECTION_TIMEOUT_SECONDS": ("store", "pool_seconds"),
    "ENABLE_PROMETHEUS_METRICS": ("live", "enable_prometheus_metrics"),
    "PROMETHEUS_PORT": ("live", "prometheus_port"),
    "HEALTH_CHECK_ENABLED": ("live", "health_check_enabled"),
    "LOG_LEVEL": ("log", "level"),
    "ENABLE_ADAPTIVE_POLLING": ("live", "enable_adaptive_polling"),
    "ENABLE_ADAPTIVE_TIMEOUTS": ("live", "enable_adaptive_timeouts"),
    "ENABLE_MATCH_STATE_DETECTION": ("live", "enable_match_state_detection"),
}

#: Paths in the form: section and key.
FORM: Mapping[str, tuple[str, str]] = {
    "lifecycle.max_lifetime_hours": ("live", "max_lifetime_hours"),
    "lifecycle.polling_interval": ("live", "polling_interval_seconds"),
    "lifecycle.staleness_threshold": ("live", "staleness_threshold_seconds"),
    "resources.memory.soft_limit_mb": ("live", "memory_soft_limit_mb"),
    "resources.memory.hard_limit_mb": ("live", "memory_hard_limit_mb"),
    "resources.queue.max_size": ("live", "max_queue_size"),
    "resources.queue.max_size_mb": ("live", "max_queue_size_mb"),
    "resilience.circuit_breaker.threshold": ("live", "circuit_breaker_threshold"),
    "resilience.circuit_breaker.timeout": ("live", "circuit_breaker_timeout_seconds"),
    "resilience.circuit_breaker.success_threshold": ("live", "circuit_breaker_success_threshold"),
    "resilience.retry.max_attempts": ("live", "retry_max_attempts"),
    "resilience.retry.base_delay": ("live", "retry_base_delay_seconds"),
    "resilience.retry.max_delay": ("live", "retry_max_delay_seconds"),
    "browser.timeouts.page": ("live", "page_timeout_seconds"),
    "browser.timeouts.navigation": ("live", "navigation_timeout_seconds"),
    "browser.timeouts.selector": ("live", "selector_timeout_seconds"),
    "browser.headless": ("live", "browser_headless"),
    "monitoring.prometheus.enabled": ("live", "enable_prometheus_metrics"),
    "monitoring.prometheus.port": ("live", "prometheus_port"),
    "monitoring.health_check.enabled": ("live", "health_check_enabled"),
    "monitoring.logging.level": ("log", "level"),
    "monitoring.logging.structured": ("log", "structured"),
}

_GROUPS: Final = frozenset(
    path.rsplit(".", depth)[0] for path in FORM for depth in range(1, path.count(".") + 1)
)


def read_form(written: Any) -> dict[str, Any]:
    """The values of the form by their paths; an error names all paths that are none."""
    if written is None:
        return {}
    if not isinstance(written, Mapping):
        raise SettingsError(f"{FORM_SECTION} must map groups to settings")
    found = dict(_leaves(written, ""))
    if unknown := [path for path in found if path not in FORM]:
        raise SettingsError(
            f"{FORM_SECTION} has no settings {', '.join(unknown)}; it has {', '.join(FORM)}"
        )
    return found


def _leaves(written: Mapping[Any, Any], above: str) -> Iterator[tuple[str, Any]]:
    for name, value in written.items():
        path = f"{above}{name}"
        if path not in _GROUPS:
            yield path, value
        elif isinstance(value, Mapping):
            yield from _leaves(value, f"{path}.")
        elif value is not None:
            yield path, value
