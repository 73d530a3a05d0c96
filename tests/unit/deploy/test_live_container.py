"""Live pages in a container: what its file says, held against the code."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from penstock.settings import Settings, load_settings, unknown_variables

ROOT = Path(__file__).resolve().parents[3]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "deploy" / "compose.live.yaml").read_text())
SERVICE: dict[str, Any] = COMPOSE["services"]["live"]
GIB = 1024


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The settings there."""
    for name, value in SERVICE["environment"].items():
        monkeypatch.setenv(name, value)
    return load_settings()


def test_it_sets_what_exists() -> None:
    assert list(COMPOSE["services"]) == ["live"]
    assert unknown_variables(SERVICE["environment"]) == []


def test_it_is_asked_at_its_port_and_only_from_this_machine(settings: Settings) -> None:
    port = settings.live.port
    script = SERVICE["healthcheck"]["test"][-1]
    compile(script, "healthcheck", "exec")
    assert f":{port}/health" in script
    assert SERVICE["ports"] == [f"127.0.0.1:{port}:{port}"]


def test_prometheus_asks_it(settings: Settings) -> None:
    config = yaml.safe_load((ROOT / "deploy" / "prometheus" / "prometheus.yml").read_text())
    asked = {
        job["job_name"]: job["static_configs"][0]["targets"] for job in config["scrape_configs"]
    }
    assert asked["penstock-live"] == [f"127.0.0.1:{settings.live.port}"]


def test_its_browsers_fit_into_its_memory(settings: Settings) -> None:
    live = settings.live
    browsers = -(-live.max_feeds // live.feeds_per_browser)
    memory = int(SERVICE["deploy"]["resources"]["limits"]["memory"].removesuffix("g")) * GIB
    assert browsers * live.memory_hard_limit_mb + live.min_free_memory_mb < memory


def test_it_has_time_to_finish(settings: Settings) -> None:
    assert float(SERVICE["stop_grace_period"].removesuffix("s")) > settings.queue.grace_seconds


def test_it_is_bounded_closed_and_watched() -> None:
    assert {"cpus", "memory", "pids"} == set(SERVICE["deploy"]["resources"]["limits"])
    assert SERVICE["cap_drop"] == ["ALL"]
    assert SERVICE["security_opt"] == ["no-new-privileges:true"]
    assert SERVICE["read_only"] is True
    assert SERVICE["restart"] == "unless-stopped"


def test_store_and_journal_outlive_the_container() -> None:
    assert SERVICE["volumes"] == ["penstock-data:/data"]
    assert list(COMPOSE["volumes"]) == ["penstock-data"]


def test_no_secret_is_written_down() -> None:
    names = SERVICE["environment"]
    assert [name for name in names if "SECRET" in name or name.endswith(("KEY", "PASSWORD"))] == []
