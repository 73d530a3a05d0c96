"""Servers in containers, with Docker Compose."""

import functools
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tools.provision.answers import require_answer
from tools.provision.model import Run, Server, UnavailableError
from tools.provision.output import say
from tools.provision.processes import call

COMPOSE_FILE = Path(__file__).resolve().parents[1] / "compose.yaml"
DOCKER_SECONDS = 300.0


@functools.cache
def docker_answers() -> bool:
    probes = (["docker", "info"], ["docker", "compose", "version"])
    try:
        return all(
            subprocess.run(probe, capture_output=True, timeout=20, check=False).returncode == 0
            for probe in probes
        )
    except (OSError, subprocess.TimeoutExpired):
        return False


def start_container(server: Server, run: Run) -> str:
    say(f"Starting {server.name} with Docker Compose")
    project = f"penstock-test-{os.getpid()}"
    compose = ["docker", "compose", "--file", str(COMPOSE_FILE), "--project-name", project]
    run.undo.callback(remove_container, compose, server.name)
    call([*compose, "up", "--detach", "--wait", server.name], DOCKER_SECONDS)
    published = call([*compose, "port", server.name, str(server.compose_port)], DOCKER_SECONDS)
    return require_answer(server, server.address.format(port=published.strip().rpartition(":")[2]))


def remove_container(compose: Sequence[str], name: str) -> None:
    try:
        call([*compose, "rm", "--stop", "--force", "--volumes", name], DOCKER_SECONDS)
    except UnavailableError as failure:
        say(f"The container of {name} could not be removed: {failure}")
