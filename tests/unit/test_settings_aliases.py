"""The names of the configurations of scrape service and page fetcher are taken; ours win."""

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
}


@pytest.fixture(autouse=True)
def _clean_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder, and an environment without anything of ours."""
    ours = ("PENSTOCK_", "SCRAPER_", "PAGE_FETCHER_")
    for name in [name for name in os.environ if name.startswith(ours)]:
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


def test_a_wrong_value_is_named_by_our_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRAPER_PORT", "many")

    with pytest.raises(SettingsError, match="PENSTOCK_API__PORT"):
        load_settings()


def test_it_is_told_where_a_value_came_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRAPER_PORT", "9001")

    (found,) = [each for each in explain(load_settings()) if each.name == "PENSTOCK_API__PORT"]

    assert (found.value, found.source) == ("9001", "environment, SCRAPER_PORT")
