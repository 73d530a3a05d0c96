"""The page fetcher in containers: what its file says, held against code and real servers."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from penstock.cli.stream import app as stream_commands
from penstock.queue.redis import check
from penstock.settings import Settings, load_settings, unknown_variables
from tests.durable_redis import find_program, stream_server
from tests.private_server import PrivateServer
from tools.provision.kafka import POM
from tools.provision.redis import REDIS

ROOT = Path(__file__).resolve().parents[3]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "deploy" / "compose.stream.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = ("fetcher", "topic")


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The settings of a page fetcher there."""
    for name, value in SERVICES["fetcher"]["environment"].items():
        monkeypatch.setenv(name, value)
    return load_settings()


@pytest.mark.parametrize("name", OURS)
def test_our_services_set_what_exists_and_run_commands_that_exist(name: str) -> None:
    program, group, command = SERVICES[name]["command"]
    assert (program, group) == ("penstock", "stream")
    assert command in {each.name or each.callback.__name__ for each in commands()}
    assert unknown_variables(SERVICES[name]["environment"]) == []


def commands() -> list[Any]:
    return list(stream_commands.registered_commands)


def test_addresses_are_those_of_the_other_services(settings: Settings) -> None:
    stream = settings.stream
    assert stream.uses_servers
    assert stream.redis_url.get_secret_value() == "redis://redis:6379/0"
    assert settings.shared.url.get_secret_value() == "redis://ledger:6379/0"
    listeners = SERVICES["kafka"]["environment"]["KAFKA_ADVERTISED_LISTENERS"].split(",")
    assert f"INSIDE://{stream.kafka_bootstrap_servers}" in listeners
    outside = next(each for each in listeners if each.startswith("MACHINE://"))
    host, _, port = outside.removeprefix("MACHINE://").partition(":")
    assert SERVICES["kafka"]["ports"] == [f"{host}:{port}:{port}"]


def test_the_page_fetcher_begins_when_servers_and_topic_are_there() -> None:
    waits = SERVICES["fetcher"]["depends_on"]
    assert {name: each["condition"] for name, each in waits.items()} == {
        "redis": "service_healthy",
        "ledger": "service_healthy",
        "topic": "service_completed_successfully",
    }
    assert SERVICES["topic"]["depends_on"] == {"kafka": {"condition": "service_healthy"}}
    assert SERVICES["topic"]["restart"] == "no"


def test_the_page_fetcher_is_asked_at_its_port_and_has_time_to_finish(settings: Settings) -> None:
    service = SERVICES["fetcher"]
    script = service["healthcheck"]["test"][-1]
    compile(script, "healthcheck", "exec")
    assert f":{settings.stream.port}/health" in script
    assert service["ports"] == [f"127.0.0.1:{settings.stream.port}:{settings.stream.port}"]
    assert float(service["stop_grace_period"].removesuffix("s")) > settings.queue.grace_seconds


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_bounded_closed_and_watched(name: str) -> None:
    service = SERVICES[name]
    limits = service["deploy"]["resources"]["limits"]
    assert {"cpus", "memory", "pids"} == set(limits)
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
    assert service["healthcheck"]
    if name not in OURS:
        assert re.search(r":\d+\.\d+", service["image"]), "a version"


def test_no_secret_is_written_down() -> None:
    names = [name for each in SERVICES.values() for name in each.get("environment", {})]
    assert [name for name in names if "SECRET" in name or name.endswith(("KEY", "PASSWORD"))] == []


def test_queue_and_topic_outlive_their_containers() -> None:
    assert SERVICES["redis"]["volumes"] == ["redis-data:/data"]
    (volume,) = SERVICES["kafka"]["volumes"]
    assert volume == "kafka-data:" + SERVICES["kafka"]["environment"]["KAFKA_LOG_DIRS"]
    assert set(COMPOSE["volumes"]) == {"redis-data", "kafka-data"}


def test_kafka_is_the_one_that_is_tested_with() -> None:
    version = SERVICES["kafka"]["image"].partition(":")[2]
    assert f"<version>{version}</version>" in POM


async def test_the_doctor_is_content_with_the_redis_of_the_queue() -> None:
    server = started("redis")
    try:
        async with stream_server(server.url) as connection:
            assert await check(connection) == []
            asked = await connection.ask("CONFIG", "GET", "maxmemory-policy")
    finally:
        server.stop()
    assert asked == [b"maxmemory-policy", b"volatile-ttl"]


async def test_the_ledger_forgets_nothing_before_its_time() -> None:
    server = started("ledger")
    try:
        async with stream_server(server.url) as connection:
            asked = await connection.ask("CONFIG", "GET", "maxmemory-policy")
    finally:
        server.stop()
    assert asked == [b"maxmemory-policy", b"noeviction"]


def started(name: str) -> PrivateServer:
    """A Redis with the arguments of a service."""

    def arguments(program: str, folder: Path, port: int) -> list[str]:
        listen = ["--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)]
        return [program, *SERVICES[name]["command"][1:], *listen]

    server = PrivateServer(replace(REDIS, arguments=arguments), find_program())
    server.start()
    return server
