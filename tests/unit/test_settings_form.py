"""The section `scraper` of a configuration file, which has a form of its own."""

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from penstock.core.errors import SettingsError
from penstock.settings import ALIASES, explain, load_settings
from penstock.workloads.live.names import FORM

#: All of the form, with its own values.
COMPLETE = """
scraper:
  lifecycle: {max_lifetime_hours: 6, polling_interval: 2.5, staleness_threshold: 300}
  resources:
    memory: {soft_limit_mb: 1536, hard_limit_mb: 2048}
    queue: {max_size: 1000, max_size_mb: 10}
  resilience:
    circuit_breaker: {threshold: 5, timeout: 60, success_threshold: 5}
    retry: {max_attempts: 5, base_delay: 1, max_delay: 16}
  browser:
    timeouts: {page: 30, navigation: 30, selector: 5}
    headless: true
  monitoring:
    prometheus: {enabled: true, port: 9090}
    health_check: {enabled: true}
    logging: {level: INFO, structured: true}
"""
#: What is not the default, of each path.
OTHERS: dict[str, Any] = {
    **dict.fromkeys(FORM, 7),
    "resources.memory.soft_limit_mb": 1024,
    "resources.memory.hard_limit_mb": 4096,
    "browser.headless": False,
    "monitoring.prometheus.enabled": False,
    "monitoring.prometheus.port": 9090,
    "monitoring.health_check.enabled": False,
    "monitoring.logging.level": "ERROR",
    "monitoring.logging.structured": False,
}


@pytest.fixture(autouse=True)
def _clean_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder, and an environment without anything of ours."""
    for name in list(os.environ):
        if name.startswith("PENSTOCK_") or name.removesuffix("_FILE") in ALIASES:
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def write(content: str) -> None:
    Path("penstock.yaml").write_text(content)


def write_path(path: str, value: Any) -> None:
    nested = value
    for name in reversed(path.split(".")):
        nested = {name: nested}
    write(yaml.safe_dump({"scraper": nested}))


def value_of(path: str) -> Any:
    section, key = FORM[path]
    return getattr(getattr(load_settings(), section), key)


def paths_in(content: dict[str, Any], above: str = "") -> set[str]:
    found = set()
    for name, value in content.items():
        nested = isinstance(value, dict)
        found |= paths_in(value, f"{above}{name}.") if nested else {f"{above}{name}"}
    return found


def test_the_whole_form_is_taken_and_says_what_the_defaults_are() -> None:
    before = load_settings()
    write(COMPLETE)

    settings = load_settings()

    assert paths_in(yaml.safe_load(COMPLETE)["scraper"]) == set(FORM)
    assert settings.live.prometheus_port == 9090
    assert settings.log.level == before.log.service_level
    assert settings.live.model_copy(update={"prometheus_port": None}) == before.live


@pytest.mark.parametrize("path", FORM)
def test_every_path_sets_its_setting(path: str) -> None:
    before = value_of(path)
    write_path(path, OTHERS[path])

    assert value_of(path) == OTHERS[path] != before


@pytest.mark.parametrize("path", FORM)
def test_it_is_told_where_a_value_came_from(path: str) -> None:
    write_path(path, OTHERS[path])

    sources = {each.name: each.source for each in explain(load_settings())}

    name = "PENSTOCK_{}__{}".format(*FORM[path]).upper()
    assert sources.pop(name) == f"penstock.yaml, scraper.{path}"
    assert set(sources.values()) == {"default"}


def test_our_own_section_wins_over_the_form() -> None:
    write("scraper: {lifecycle: {max_lifetime_hours: 7}}\nlive: {max_lifetime_hours: 8}")

    (found,) = [e for e in explain(load_settings()) if e.name.endswith("LIVE__MAX_LIFETIME_HOURS")]

    assert (found.value, found.source) == ("8.0", "penstock.yaml")


def test_a_variable_wins_over_the_form(monkeypatch: pytest.MonkeyPatch) -> None:
    write("scraper: {lifecycle: {max_lifetime_hours: 7}}")
    monkeypatch.setenv("SCRAPER_MAX_LIFETIME_HOURS", "9")

    assert load_settings().live.max_lifetime_hours == 9


@pytest.mark.parametrize("content", ["scraper:", "scraper: {}", "scraper: {browser: {timeouts: }}"])
def test_empty_groups_say_nothing(content: str) -> None:
    before = load_settings()
    write(content)

    assert load_settings() == before


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("scraper: fast", "penstock.yaml: scraper must map groups to settings"),
        ("scraper: {speed: 1}", "penstock.yaml: scraper has no settings speed; it has lifecycle."),
        (
            "scraper: {lifecycle: {max_lifetime: 6}, browser: {timeouts: {load: 3}}}",
            "penstock.yaml: scraper has no settings lifecycle.max_lifetime, browser.timeouts.load;",
        ),
        ("scraper: {lifecycle: 6}", "penstock.yaml: scraper has no settings lifecycle;"),
        ("scraper: {1: {2: 3}}", "penstock.yaml: scraper has no settings 1;"),
    ],
)
def test_what_is_not_in_the_form_is_named(content: str, problem: str) -> None:
    write(content)

    with pytest.raises(SettingsError) as error:
        load_settings()

    assert str(error.value).startswith(problem)


@pytest.mark.parametrize("value", ["often", {"seconds": 2}, -1, [2.5]])
def test_a_wrong_value_is_named_by_our_name_and_its_path(value: Any) -> None:
    write_path("lifecycle.polling_interval", value)

    with pytest.raises(SettingsError) as error:
        load_settings()

    said = str(error.value)
    assert said.startswith("PENSTOCK_LIVE__POLLING_INTERVAL_SECONDS: ")
    assert said.endswith("(penstock.yaml, scraper.lifecycle.polling_interval)")


def test_logs_for_people_are_chosen_by_the_form() -> None:
    assert load_settings().log.form == "json"
    write_path("monitoring.logging.structured", False)

    assert load_settings().log.form == "lines"
