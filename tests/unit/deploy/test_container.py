"""The container: what its files say, held against what the code knows and the repository has."""

import fnmatch
import json
import shlex
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from penstock.cli import COMMANDS
from penstock.settings import Settings, load_settings, unknown_variables

ROOT = Path(__file__).resolve().parents[3]


class Instruction(NamedTuple):
    """One instruction of a Dockerfile, its lines joined."""

    name: str
    value: str


def read_dockerfile(text: str) -> list[list[Instruction]]:
    """The stages of a Dockerfile, each beginning with its FROM."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    stages: list[list[Instruction]] = []
    for line in joined.splitlines():
        name, _, value = line.strip().partition(" ")
        if name == "FROM":
            stages.append([])
        stages[-1].append(Instruction(name, value.strip()))
    return stages


@pytest.fixture(scope="module")
def stages() -> list[list[Instruction]]:
    return read_dockerfile((ROOT / "deploy" / "Dockerfile").read_text())


@pytest.fixture(scope="module")
def service() -> dict[str, Any]:
    content = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())
    (service,) = content["services"].values()
    assert isinstance(service, dict)
    return service


def values(stage: list[Instruction], name: str) -> list[str]:
    return [each.value for each in stage if each.name == name]


def environment(stage: list[Instruction]) -> dict[str, str]:
    words = [word for value in values(stage, "ENV") for word in shlex.split(value)]
    return dict(word.split("=", 1) for word in words)


def test_what_builds_it_is_not_in_the_image(stages: list[list[Instruction]]) -> None:
    assert len(stages) == 2
    build, image = stages
    assert build[0].value.endswith(" AS build")
    assert [copy for copy in values(image, "COPY") if not copy.startswith("--from=build ")] == []
    assert values(image, "ADD") == values(build, "ADD") == []


def test_every_base_has_a_version(stages: list[list[Instruction]]) -> None:
    for stage in stages:
        _, _, tag = stage[0].value.partition(" ")[0].partition(":")
        assert tag
        assert tag != "latest"


def test_it_runs_as_nobody_in_particular(stages: list[list[Instruction]]) -> None:
    image = stages[-1]
    (user,) = values(image, "USER")
    assert all(int(number) >= 1000 for number in user.split(":"))
    names = [each.name for each in image]
    assert "RUN" not in names[names.index("USER") :], "nothing is built after that"


def test_the_settings_it_sets_exist_and_are_good(
    stages: list[list[Instruction]], service: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = {**environment(stages[-1]), **service["environment"]}
    ours = {name: value for name, value in chosen.items() if name.startswith("PENSTOCK_")}
    assert unknown_variables(ours) == []
    for name, value in ours.items():
        monkeypatch.setenv(name, value)

    settings: Settings = load_settings()

    assert (settings.api.host, settings.api.port) == ("0.0.0.0", 8001)
    assert settings.store.folder == Path("/data")
    assert "chromium-headless-shell" in settings.browser.executable


def test_no_secret_is_written_down(
    stages: list[list[Instruction]], service: dict[str, Any]
) -> None:
    names = [*environment(stages[0]), *environment(stages[1]), *service["environment"]]
    assert [name for name in names if "SECRET" in name or name.endswith(("KEY", "PASSWORD"))] == []


def test_it_is_started_stopped_and_asked_how_it_is(
    stages: list[list[Instruction]], service: dict[str, Any]
) -> None:
    image = stages[-1]
    (command,) = values(image, "CMD")
    program, name, *_ = json.loads(command)
    assert (program, name in COMMANDS) == ("penstock", True)
    assert values(image, "STOPSIGNAL") == ["SIGTERM"]
    assert values(image, "EXPOSE") == ["8001"]
    (check,) = values(image, "HEALTHCHECK")
    for script in (
        json.loads(check[check.index("CMD") + 4 :])[-1],
        service["healthcheck"]["test"][-1],
    ):
        compile(script, "healthcheck", "exec")
        assert "/health" in script


def test_what_is_copied_exists_and_is_not_ignored(stages: list[list[Instruction]]) -> None:
    ignored = [
        line
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line and not line.startswith("#")
    ]
    for value in values(stages[0], "COPY"):
        *sources, _ = value.split()
        for source in sources:
            assert (ROOT / source).exists()
            assert not is_ignored(source, ignored)
    for private in (".git", ".venv", "penstock-data", "tests", ".env"):
        assert is_ignored(private, ignored)


def is_ignored(name: str, rules: list[str]) -> bool:
    """The last rule that fits decides, as Docker has it."""
    decided = False
    for rule in rules:
        if fnmatch.fnmatch(name, rule.removeprefix("!")):
            decided = not rule.startswith("!")
    return decided


def test_the_service_is_bounded(service: dict[str, Any]) -> None:
    limits = service["deploy"]["resources"]["limits"]
    assert (float(limits["cpus"]), limits["memory"]) == (2.0, "4g")
    assert limits["pids"] > 0


def test_the_data_outlives_the_container(
    stages: list[list[Instruction]], service: dict[str, Any]
) -> None:
    (volume,) = values(stages[-1], "VOLUME")
    assert service["volumes"] == [f"penstock-data:{volume}"]
    assert service["restart"] == "unless-stopped"


def test_there_is_time_to_finish_what_is_under_way(service: dict[str, Any]) -> None:
    grace = load_settings().queue.grace_seconds
    assert float(service["stop_grace_period"].removesuffix("s")) > grace


def test_it_is_closed_to_everybody_else(service: dict[str, Any]) -> None:
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["read_only"] is True
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
