"""The names that scrape service, page fetcher and live pages go by are taken; ours win."""

import os
from pathlib import Path
from typing import Any

import pytest

from penstock.core.errors import SettingsError
from penstock.settings import ALIASES, explain, load_settings

VALUES: dict[str, Any] = {
    "SCRAPER_PORT": 9001,
    "SCRAPER_LOG_LEVEL": "ERROR",
    "SCRAPER_BACKEND_API_URL": "https://backend.example/api/v1",
    "SCRAPER_DEFAULT_WEBHOOK_URL": "https://backend.example/hook",
    "SCRAPER_PROXY_ENDPOINTS": "http://a.example:1,socks5://b.example:2",
    "SCRAPER_DOMAIN_POLICIES_PATH": "policies.yaml",
    "SCRAPER_SERVICE_KEY": "a-key",
    "SCRAPER_BACKEND_SERVICE_KEY": "b-key",
    "SCRAPER_WEBHOOK_SECRET": "c-secret",
    "PAGE_FETCHER_REDIS_URL": "redis://cache.example:6380",
    "PAGE_FETCHER_KAFKA_BOOTSTRAP_SERVERS": "kafka.example:9093",
    "PAGE_FETCHER_INPUT_QUEUE": "my_queue",
    "PAGE_FETCHER_DLQ_QUEUE": "my_dlq",
    "PAGE_FETCHER_WEBPAGE_LOG_TOPIC": "my_log",
    "PAGE_FETCHER_USER_AGENT": "OttoBot/1.0",
    "MEMORY_SOFT_LIMIT_MB": 1024,
    "MEMORY_HARD_LIMIT_MB": 4096,
    "BROWSER_HEADLESS": "false",
    "ENABLE_PROMETHEUS_METRICS": "false",
    "HEALTH_CHECK_ENABLED": "false",
    "LOG_LEVEL": "ERROR",
    "ENABLE_ADAPTIVE_POLLING": "false",
    "ENABLE_ADAPTIVE_TIMEOUTS": "false",
    "ENABLE_MATCH_STATE_DETECTION": "false",
}
DEFAULTS = {
    "SCRAPER_PORT": 8001,
    "SCRAPER_BROWSER_POOL_SIZE": 5,
    "SCRAPER_BROWSER_POOL_MAX": 20,
    "SCRAPER_BROWSER_PAGE_LIMIT": 100,
    "SCRAPER_NAVIGATION_TIMEOUT_MS": 30000,
    "SCRAPER_MAX_QUEUE_DEPTH": 500,
    "SCRAPER_TASK_TIMEOUT_SECONDS": 60,
    "SCRAPER_RATE_LIMIT_TOKENS": 2,
    "SCRAPER_RATE_LIMIT_INTERVAL_SECONDS": 10,
    "SCRAPER_CB_WINDOW_SIZE": 10,
    "SCRAPER_CB_FAILURE_THRESHOLD": 5,
    "SCRAPER_CB_COOLDOWN_SECONDS": 120,
    "SCRAPER_PROXY_HEALTH_CHECK_INTERVAL_SECONDS": 60,
    "SCRAPER_PROXY_DOMAIN_COOLDOWN_SECONDS": 30,
    "SCRAPER_CREDENTIAL_CACHE_TTL_SECONDS": 300,
    "SCRAPER_CREDENTIAL_MAX_RETRIES": 3,
    "SCRAPER_GRACEFUL_SHUTDOWN_SECONDS": 30,
    "PAGE_FETCHER_KAFKA_BOOTSTRAP_SERVERS": "localhost:9092",
    "PAGE_FETCHER_INPUT_QUEUE": "crawler_queue",
    "PAGE_FETCHER_DLQ_QUEUE": "page_fetcher_dlq",
    "PAGE_FETCHER_WEBPAGE_LOG_TOPIC": "webpage_log",
    "PAGE_FETCHER_REQUEST_TIMEOUT_SECONDS": 30.0,
    "PAGE_FETCHER_MAX_RETRIES": 3,
    "PAGE_FETCHER_RETRY_BACKOFF_BASE_SECONDS": 2.0,
    "PAGE_FETCHER_MAX_REDIRECTS": 5,
    "PAGE_FETCHER_CACHE_TTL_SECONDS": 3600,
    "PAGE_FETCHER_RATE_LIMIT_PER_SECOND": 1.0,
    "PAGE_FETCHER_CIRCUIT_BREAKER_FAILURE_THRESHOLD": 5,
    "PAGE_FETCHER_CIRCUIT_BREAKER_INITIAL_BACKOFF_SECONDS": 30.0,
    "PAGE_FETCHER_CIRCUIT_BREAKER_MAX_BACKOFF_SECONDS": 300.0,
    "PAGE_FETCHER_CIRCUIT_BREAKER_BACKOFF_MULTIPLIER": 2.0,
    "PAGE_FETCHER_ROBOTS_TXT_CACHE_TTL_SECONDS": 86400,
    "PAGE_FETCHER_POLL_TIMEOUT_SECONDS": 5.0,
    "SCRAPER_MAX_LIFETIME_HOURS": 6,
    "MEMORY_SOFT_LIMIT_MB": 1536,
    "MEMORY_HARD_LIMIT_MB": 2048,
    "POLLING_INTERVAL_SECONDS": 2.5,
    "STALENESS_THRESHOLD_SECONDS": 300,
    "MAX_QUEUE_SIZE": 1000,
    "MAX_QUEUE_SIZE_MB": 10,
    "CIRCUIT_BREAKER_THRESHOLD": 5,
    "CIRCUIT_BREAKER_TIMEOUT_SECONDS": 60,
    "CIRCUIT_BREAKER_SUCCESS_THRESHOLD": 5,
    "RETRY_MAX_ATTEMPTS": 5,
    "RETRY_BASE_DELAY_SECONDS": 1,
    "RETRY_MAX_DELAY_SECONDS": 16,
    "PAGE_TIMEOUT_SECONDS": 30,
    "NAVIGATION_TIMEOUT_SECONDS": 30,
    "SELECTOR_TIMEOUT_SECONDS": 5,
    "BROWSER_HEADLESS": True,
    "DB_CONNECTION_POOL_SIZE": 10,
    "DB_CONNECTION_TIMEOUT_SECONDS": 30,
    "ENABLE_PROMETHEUS_METRICS": True,
    # A port is opened only for who asks for it.
    "PROMETHEUS_PORT": None,
    "HEALTH_CHECK_ENABLED": True,
    "ENABLE_ADAPTIVE_POLLING": True,
    "ENABLE_ADAPTIVE_TIMEOUTS": True,
    "ENABLE_MATCH_STATE_DETECTION": True,
}


@pytest.fixture(autouse=True)
def _clean_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder, and an environment without anything of ours."""
    for name in list(os.environ):
        if name.startswith("PENSTOCK_") or name.removesuffix("_FILE") in ALIASES:
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def value_of(name: str) -> Any:
    section, key = ALIASES[name]
    return getattr(getattr(load_settings(), section), key)


@pytest.mark.parametrize("name", DEFAULTS)
def test_the_default_is_the_one_that_users_of_the_other_name_expect(name: str) -> None:
    assert value_of(name) == DEFAULTS[name]


@pytest.mark.parametrize("name", ALIASES)
def test_every_other_name_is_taken(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = value_of(name)
    monkeypatch.setenv(name, str(VALUES.get(name, 7)))

    assert value_of(name) != before


def test_ours_win(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRAPER_PORT", "9001")
    monkeypatch.setenv("PENSTOCK_API__PORT", "9002")

    assert load_settings().api.port == 9002


def test_a_secret_may_stand_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "key").write_text("from a file\n")
    monkeypatch.setenv("SCRAPER_SERVICE_KEY_FILE", str(tmp_path / "key"))

    assert load_settings().api.service_key.get_secret_value() == "from a file"


def test_a_wrong_value_is_named_by_our_name_and_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRAPER_PORT", "many")

    with pytest.raises(
        SettingsError, match=r"^PENSTOCK_API__PORT: .* \(environment, SCRAPER_PORT\)"
    ):
        load_settings()


@pytest.mark.parametrize("said", ["WARN", "warn"])
def test_a_level_may_be_cut_short(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOG_LEVEL", said)

    assert load_settings().log.level == "WARNING"


def test_of_two_names_for_the_level_the_less_common_one_wins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LOG_LEVEL", "DEBUG")
    monkeypatch.setenv("SCRAPER_LOG_LEVEL", "ERROR")

    settings = load_settings()

    (found,) = [each for each in explain(settings) if each.name == "PENSTOCK_LOG__LEVEL"]
    assert settings.log.level == "ERROR"
    assert found.source == "environment, SCRAPER_LOG_LEVEL"


def test_it_is_told_where_a_value_came_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRAPER_PORT", "9001")

    (found,) = [each for each in explain(load_settings()) if each.name == "PENSTOCK_API__PORT"]

    assert (found.value, found.source) == ("9001", "environment, SCRAPER_PORT")
