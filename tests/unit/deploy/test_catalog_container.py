"""The product crawler in containers: what its file says, held against the code."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from penstock.cli import COMMANDS
from penstock.cli.db import app as db_commands
from penstock.settings import Settings, load_settings, unknown_variables
from tests.unit.deploy import test_stream_container
from tools.provision import search

ROOT = Path(__file__).resolve().parents[3]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "deploy" / "compose.catalog.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
LASTING = ("api", "worker-1", "worker-2", "scheduler")
OURS = (*LASTING, "tables")
ONCE = ("tables", "bucket")
#: A variable of whoever starts it: without a value nothing starts, or it is empty.
VARIABLE = re.compile(r"\$\{([A-Z0-9_]+)(:\?[^}]+|:-)\}")
SECRET = "of-sixteen-letters"


def environment(name: str) -> dict[str, str]:
    """What a service is told, where somebody has said their secrets."""
    told: dict[str, str] = SERVICES[name].get("environment", {})
    return {key: VARIABLE.sub(SECRET, value) for key, value in told.items()}


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The settings of the crawler there."""
    for name, value in environment("api").items():
        monkeypatch.setenv(name, value)
    return load_settings()


@pytest.mark.parametrize("name", OURS)
def test_our_services_have_the_same_settings_which_exist(name: str) -> None:
    assert unknown_variables(environment(name)) == []
    assert environment(name) == environment("api")


def test_our_services_run_commands_that_exist() -> None:
    for name in LASTING:
        program, command = SERVICES[name]["command"]
        assert (program, command in COMMANDS) == ("penstock", True)
    assert SERVICES["tables"]["command"] == ["penstock", "db", "upgrade"]
    assert "upgrade" in {each.name or each.callback.__name__ for each in db()}


def db() -> list[Any]:
    return list(db_commands.registered_commands)


def test_addresses_are_those_of_the_other_services(settings: Settings) -> None:
    assert (
        settings.store.url.get_secret_value() == f"postgresql://penstock:{SECRET}@postgres/penstock"
    )
    assert settings.broker.url.get_secret_value() == f"amqp://penstock:{SECRET}@rabbitmq//"
    assert settings.shared.url.get_secret_value() == "redis://ledger:6379/0"
    assert settings.search.url.get_secret_value() == "http://search:9200"
    assert settings.blobs.endpoint == "http://s3:9000"
    assert {"postgres", "rabbitmq", "ledger", "search", "s3"} <= set(SERVICES)


def test_servers_know_the_users_and_passwords_that_we_come_with(settings: Settings) -> None:
    postgres, rabbitmq, s3 = (environment(name) for name in ("postgres", "rabbitmq", "s3"))
    assert postgres == {
        "POSTGRES_USER": "penstock",
        "POSTGRES_DB": "penstock",
        "POSTGRES_PASSWORD": SECRET,
    }
    assert (rabbitmq["RABBITMQ_DEFAULT_USER"], rabbitmq["RABBITMQ_DEFAULT_PASS"]) == (
        "penstock",
        SECRET,
    )
    keys = (
        settings.blobs.access_key.get_secret_value(),
        settings.blobs.secret_key.get_secret_value(),
    )
    assert keys == (s3["MINIO_ROOT_USER"], s3["MINIO_ROOT_PASSWORD"])
    assert f"s3/{settings.blobs.bucket}" in SERVICES["bucket"]["command"][0]


def test_passwords_are_the_same_variable_on_both_sides_and_written_down_nowhere() -> None:
    told = {
        (name, key): value
        for name, service in SERVICES.items()
        for key, value in service.get("environment", {}).items()
    }
    secret = {
        where: value
        for where, value in told.items()
        if re.search(r"PASS|SECRET|ENCRYPTION|^PENSTOCK_(STORE|BROKER)__URL$", where[1])
        and "OPENSEARCH" not in where[1]
    }
    for where, value in secret.items():
        assert VARIABLE.search(value), where
    variables = {found for value in told.values() for found, _ in VARIABLE.findall(value)}
    assert variables == {"POSTGRES_PASSWORD", "RABBITMQ_PASSWORD", "S3_PASSWORD", "PROXY_KEY"}
    text = (ROOT / "deploy" / "compose.catalog.yaml").read_text().partition("services:")[0]
    assert all(name in text for name in variables), "whoever starts it is told"


def test_workers_may_run_beside_each_other(settings: Settings) -> None:
    assert settings.shared.url.get_secret_value(), "pace is shared"
    assert settings.store.is_shared
    assert settings.blobs.url, "blobs are shared"
    one, other = SERVICES["worker-1"], SERVICES["worker-2"]
    assert one["ports"] != other["ports"]
    assert {**one, "ports": None} == {**other, "ports": None}


def test_prometheus_asks_every_worker() -> None:
    config = yaml.safe_load((ROOT / "deploy" / "prometheus" / "prometheus.yml").read_text())
    asked = {
        job["job_name"]: job["static_configs"][0]["targets"] for job in config["scrape_configs"]
    }
    ports = [SERVICES[name]["ports"][0].rpartition(":")[0] for name in ("worker-1", "worker-2")]
    assert asked["penstock-catalog"] == ports


@pytest.mark.parametrize("name", LASTING)
def test_ours_begin_when_servers_tables_and_bucket_are_there(name: str) -> None:
    waits = {each: said["condition"] for each, said in SERVICES[name]["depends_on"].items()}
    ended = "service_completed_successfully"
    assert waits == {
        **dict.fromkeys(("postgres", "ledger", "rabbitmq", "search"), "service_healthy"),
        **dict.fromkeys(("bucket", "tables"), ended),
    }


@pytest.mark.parametrize("name", LASTING)
def test_ours_are_asked_how_they_are_and_have_time_to_finish(name: str, settings: Settings) -> None:
    service = SERVICES[name]
    assert float(service["stop_grace_period"].removesuffix("s")) > settings.queue.grace_seconds
    if name == "scheduler":
        assert service["healthcheck"] == {"disable": True}
        return
    script = service["healthcheck"]["test"][-1]
    compile(script, "healthcheck", "exec")
    assert f":{settings.api.port}/health" in script


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_bounded_closed_and_watched(name: str) -> None:
    service = SERVICES[name]
    assert {"cpus", "memory", "pids"} == set(service["deploy"]["resources"]["limits"])
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
    assert service["healthcheck"]
    assert service["restart"] == ("no" if name in ONCE else "unless-stopped")
    if name in OURS:
        assert service["read_only"] is True
    else:
        assert re.search(r":(\d+\.\d+|RELEASE\.\d+)", service["image"]), "a version"


def test_what_must_not_be_lost_outlives_its_container() -> None:
    kept = {
        volume.partition(":")[0]
        for service in SERVICES.values()
        for volume in service.get("volumes", [])
    }
    assert kept == set(COMPOSE["volumes"])
    assert {"penstock-data", "postgres-data", "s3-data", "search-data"} == kept
    assert all(SERVICES[name]["volumes"] == ["penstock-data:/data"] for name in OURS)


def test_search_is_the_one_that_is_tested_with() -> None:
    assert SERVICES["search"]["image"].endswith(f":{search.VERSION}")


def test_the_ledger_is_that_of_the_page_fetcher() -> None:
    assert SERVICES["ledger"] == test_stream_container.SERVICES["ledger"]
