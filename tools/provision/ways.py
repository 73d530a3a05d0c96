"""The ways to what the tests need, tried one after the other."""

import functools
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from tools.provision.answers import require_answer
from tools.provision.containers import docker_answers, start_container
from tools.provision.model import (
    Available,
    Finding,
    Missing,
    Requirement,
    Run,
    Server,
    Tool,
    UnavailableError,
    Way,
)
from tools.provision.processes import await_answer, free_port, launch, stop
from tools.provision.programs import require_program, ways_to_program
from tools.provision.requirements import SERVERS, TOOLS


def ways_to(requirement: Requirement) -> Iterator[Way]:
    """The ways that this machine offers, best first; a value set by the user is the only one."""
    given = os.environ.get(requirement.variable)
    match requirement:
        case Tool() if given:
            yield Way(f"${requirement.variable}", lambda _run: require_program(given))
        case Server() if given:
            yield Way(f"${requirement.variable}", lambda _run: require_answer(requirement, given))
        case Tool():
            yield from ways_to_program(requirement)
        case Server():
            for way in ways_to(requirement.tool):
                yield started_with(requirement, way)
            if requirement.compose_port and docker_answers():
                yield Way(
                    f"docker compose: {requirement.name}",
                    lambda run: start_container(requirement, run),
                )
            yield from requirement.stand_ins()


def started_with(server: Server, program: Way) -> Way:
    return Way(program.origin, lambda run: start(server, program.take(run), run))


def start(server: Server, program: str, run: Run) -> str:
    folder = run.folder / server.name
    folder.mkdir(exist_ok=True)
    port = free_port()
    process = launch(server, program, folder, port, server.careless)
    run.undo.callback(stop, process, server.ending)
    address = server.address.format(port=port)
    await_answer(server, address, process, folder)
    return address


def no_way_to(requirement: Requirement) -> str:
    tool = requirement if isinstance(requirement, Tool) else requirement.tool
    reasons = [
        f"${requirement.variable} is not set",
        f"no {tool.program} in {' or '.join((*tool.folders, 'the PATH'))}",
    ]
    if tool.package:
        reasons.append("packages can be installed only on Debian as root")
    if isinstance(requirement, Server) and requirement.compose_port:
        reasons.append("no Docker engine with Compose answers")
    return "; ".join(reasons)


def provide(requirement: Requirement, run: Run) -> Finding:
    """Try the ways to a requirement until one works."""
    failures = []
    for way in ways_to(requirement):
        try:
            return Available(requirement, way.origin, way.take(run))
        except UnavailableError as failure:
            failures.append(f"{way.origin}: {failure}")
    return Missing(requirement, "; ".join(failures) or no_way_to(requirement))


def provide_all(run: Run) -> list[Finding]:
    """Provide programs one by one, as apt-get wants to be alone, then all servers at once."""
    tools = [provide(each, run) for each in TOOLS]
    with ThreadPoolExecutor() as pool:
        return [*tools, *pool.map(functools.partial(provide, run=run), SERVERS)]


def foresee(requirement: Requirement) -> Finding:
    """What `provide` would try first, without installing or starting anything."""
    way = next(ways_to(requirement), None)
    if way is None:
        return Missing(requirement, no_way_to(requirement))
    return Available(requirement, way.origin, "")
