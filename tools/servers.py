#!/usr/bin/env python3
"""Start the real servers that the tests use, run a command with their addresses, stop them.

    python tools/servers.py list                       what would be used, without starting anything
    python tools/servers.py run -- pytest -k redis     start, run the command, stop

Each one comes from the first of these that works:
  1. its environment variable, if set: an address that must answer, or the path of a program
  2. its program on this machine
  3. its Debian package, installed with apt-get (on Debian, as root)
  4. Docker Compose with tools/compose.yaml (servers only, if an engine answers)

The command finds what it may use in the same environment variables; one that is absent means the
server is missing and its tests should skip. With CI=true a missing one fails the run before the
command starts, unless tools/known_absences.toml names it with a reason.
"""

from __future__ import annotations

import argparse
import functools
import http.client
import os
import pwd
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NoReturn
from urllib.parse import unquote, urlsplit

HERE = Path(__file__).resolve().parent
COMPOSE_FILE = HERE / "compose.yaml"
KNOWN_ABSENCES_FILE = HERE / "known_absences.toml"

LOG_NAME = "output.log"
READY_SECONDS = 60.0
STOP_SECONDS = 5.0
WIND_DOWN_SECONDS = 10.0
INSTALL_SECONDS = 900.0
DOCKER_SECONDS = 300.0


class UnavailableError(Exception):
    """One way to a server did not work; the text says why."""


class Interrupted(SystemExit):
    """A signal asked this script to end; what it started is stopped on the way out."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(128 + signal_number)
        self.signal_number = signal_number


@dataclass(frozen=True, slots=True)
class Tool:
    """A program that the tests start themselves: they only need to know where it is.

    `folders` are absolute patterns of folders to look into before the PATH; without a `package` the
    program cannot be installed.
    """

    name: str
    variable: str
    program: str
    package: str = ""
    folders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Server:
    """A server that runs as long as the command does.

    `arguments` gets the program, a folder of the server's own and a free port; it may prepare the
    folder, and finds it as it left it if the server was killed. `answers` says whether a server at
    an address is ready. `ending` is the signal that stops it soonest: its data is thrown away.
    `careless` is what lets it work faster where nobody ends it before its data is thrown away.
    """

    name: str
    variable: str
    tool: Tool
    address: str
    arguments: Callable[[str, Path, int], list[str]]
    answers: Callable[[str], bool]
    compose_port: int
    ending: signal.Signals = signal.SIGTERM
    careless: tuple[str, ...] = ()


Requirement = Tool | Server


@dataclass(frozen=True, slots=True)
class Available:
    """Something the command can use, where it came from and what to tell the command."""

    requirement: Requirement
    origin: str
    value: str


@dataclass(frozen=True, slots=True)
class Missing:
    """Something the command must do without, and why."""

    requirement: Requirement
    reason: str


Finding = Available | Missing


@dataclass(frozen=True, slots=True)
class Run:
    """What one run owns: a folder for data, and what to undo at its end."""

    folder: Path
    undo: ExitStack


@dataclass(frozen=True, slots=True)
class Way:
    """One way to a requirement; `take` returns its value or raises `UnavailableError`."""

    origin: str
    take: Callable[[Run], str]


def redis_arguments(program: str, folder: Path, port: int) -> list[str]:
    listen = ["--port", str(port), "--bind", "127.0.0.1"]
    return [program, *listen, "--save", "", "--appendonly", "no", "--dir", str(folder)]


def redis_answers(address: str) -> bool:
    url = urlsplit(address)
    commands = [b"PING\r\n"]
    if url.password:
        credentials = f"{unquote(url.username or 'default')} {unquote(url.password)}"
        commands.insert(0, f"AUTH {credentials}\r\n".encode())
    try:
        with socket.create_connection(
            (url.hostname or "127.0.0.1", url.port or 6379), 2
        ) as connection:
            connection.sendall(b"".join(commands))
            replies = connection.makefile("rb")
            return [replies.readline() for _ in commands][-1] == b"+PONG\r\n"
    except (OSError, ValueError):
        return False


def postgres_arguments(program: str, folder: Path, port: int) -> list[str]:
    user = unprivileged("postgres")
    data = folder / "data"
    if not data.exists():
        make_folder_for_postgres(data)
        flags = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8"]
        initdb = str(Path(program).with_name("initdb"))
        call([*user, initdb, "--pgdata", str(data), "--no-sync", *flags], READY_SECONDS)
    listen = ["-p", str(port), "-c", "listen_addresses=127.0.0.1"]
    return [*user, program, "-D", str(data), *listen, "-c", f"unix_socket_directories={data}"]


def make_folder_for_postgres(folder: Path) -> None:
    folder.mkdir()
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres", "postgres")
        folder.parent.chmod(0o711)  # its user passes through


def unprivileged(user: str) -> list[str]:
    """What to put before a command that refuses to be run by root."""
    if os.geteuid() != 0:
        return []
    try:
        pwd.getpwnam(user)
    except KeyError as error:
        raise UnavailableError(f"it refuses to run as root, and no user {user} exists") from error
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "--"]


def postgres_answers(address: str) -> bool:
    url = urlsplit(address)
    user, database = unquote(url.username or "postgres"), url.path.strip("/") or "postgres"
    parameters = f"user\0{user}\0database\0{database}\0\0".encode()
    hello = (len(parameters) + 8).to_bytes(4, "big") + b"\0\x03\0\0" + parameters
    # It asks for a password or for none; while it starts up or recovers, it answers with an error.
    return reply_to(hello, address, 5432).startswith(b"R")


def rabbitmq_arguments(program: str, folder: Path, port: int) -> list[str]:
    (folder / "enabled_plugins").write_text("[].")
    variables = {
        "HOME": folder,
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "ERL_EPMD_PORT": free_port(),
        "RABBITMQ_CONF_ENV_FILE": folder / "rabbitmq-env.conf",
        "RABBITMQ_CONFIG_FILE": folder / "rabbitmq",
        "RABBITMQ_DIST_PORT": free_port(),
        "RABBITMQ_ENABLED_PLUGINS_FILE": folder / "enabled_plugins",
        "RABBITMQ_LOG_BASE": folder / "log",
        "RABBITMQ_MNESIA_BASE": folder / "mnesia",
        "RABBITMQ_NODENAME": "penstock@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": port,
        "RABBITMQ_PID_FILE": folder / "pid",
    }
    # The epmd that Erlang starts by itself would outlive the server: one of the server's own group
    # is stopped with it.
    with_epmd = f"epmd & until epmd -names; do sleep 0.02; done; exec {shlex.quote(program)}"
    assignments = [f"{name}={value}" for name, value in variables.items()]
    return ["env", *assignments, "sh", "-c", with_epmd]


def rabbitmq_answers(address: str) -> bool:
    start_of_a_method_frame = b"\x01\0\0"
    return reply_to(b"AMQP\0\0\x09\x01", address, 5672).startswith(start_of_a_method_frame)


def reply_to(greeting: bytes, address: str, default_port: int) -> bytes:
    """What a server says first to a greeting; nothing if there is none."""
    url = urlsplit(address)
    try:
        with socket.create_connection(
            (url.hostname or "127.0.0.1", url.port or default_port), 2
        ) as connection:
            connection.sendall(greeting)
            return connection.recv(64)
    except (OSError, ValueError):
        return b""


def s3_arguments(program: str, _folder: Path, port: int) -> list[str]:
    return [program, "--host", "127.0.0.1", "--port", str(port)]


def s3_answers(address: str) -> bool:
    url = urlsplit(address)
    secure = url.scheme == "https"
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    try:
        with closing(kind(url.hostname or "127.0.0.1", url.port, timeout=2)) as connection:
            connection.request("GET", "/")
            # Without a signature it may refuse to list buckets; that is an answer too.
            return connection.getresponse().status < 500
    except (OSError, ValueError, http.client.HTTPException):
        return False


REDIS_SERVER = Tool("redis-server", "PENSTOCK_TEST_REDIS_BINARY", "redis-server", "redis-server")
POSTGRES_SERVER = Tool(
    name="postgres",
    variable="PENSTOCK_TEST_POSTGRES_BINARY",
    program="postgres",
    package="postgresql",
    folders=("/usr/lib/postgresql/*/bin",),
)
RABBITMQ_SERVER = Tool(
    name="rabbitmq-server",
    variable="PENSTOCK_TEST_RABBITMQ_BINARY",
    program="rabbitmq-server",
    package="rabbitmq-server",
    folders=("/usr/lib/rabbitmq/bin",),  # the one on the PATH changes the user
)
MOTO_SERVER = Tool(
    name="moto_server",
    variable="PENSTOCK_TEST_MOTO_BINARY",
    program="moto_server",
    folders=(str(Path(sys.executable).parent),),
)

CHROMIUM = Tool(
    name="chromium",
    variable="PENSTOCK_TEST_CHROMIUM",
    program="chromium-headless-shell",
    package="chromium-headless-shell",
    folders=("/usr/lib/chromium",),  # the one on the PATH is a script that the browser outlives
)

TOOLS: tuple[Tool, ...] = (
    # The servers also on their own: tests that kill a server start a private one.
    REDIS_SERVER,
    POSTGRES_SERVER,
    RABBITMQ_SERVER,
    MOTO_SERVER,
    CHROMIUM,
    Tool("tinyproxy", "PENSTOCK_TEST_TINYPROXY", "tinyproxy", "tinyproxy"),
    Tool("microsocks", "PENSTOCK_TEST_MICROSOCKS", "microsocks", "microsocks"),
    Tool("strace", "PENSTOCK_TEST_STRACE", "strace", "strace"),
    Tool("faketime", "PENSTOCK_TEST_FAKETIME", "faketime", "faketime"),
)

REDIS = Server(
    name="redis",
    variable="PENSTOCK_TEST_REDIS_URL",
    tool=REDIS_SERVER,
    address="redis://127.0.0.1:{port}/0",
    arguments=redis_arguments,
    answers=redis_answers,
    compose_port=6379,
)
POSTGRES = Server(
    name="postgresql",
    variable="PENSTOCK_TEST_POSTGRES_URL",
    tool=POSTGRES_SERVER,
    address="postgresql://postgres@127.0.0.1:{port}/postgres",
    arguments=postgres_arguments,
    answers=postgres_answers,
    compose_port=5432,
    ending=signal.SIGQUIT,
    careless=("-c", "fsync=off", "-c", "full_page_writes=off"),
)
RABBITMQ = Server(
    name="rabbitmq",
    variable="PENSTOCK_TEST_RABBITMQ_URL",
    tool=RABBITMQ_SERVER,
    address="amqp://guest:guest@127.0.0.1:{port}//",
    arguments=rabbitmq_arguments,
    answers=rabbitmq_answers,
    compose_port=5672,
)
S3 = Server(
    name="s3",
    variable="PENSTOCK_TEST_S3_URL",
    tool=MOTO_SERVER,
    address="http://127.0.0.1:{port}",
    arguments=s3_arguments,
    answers=s3_answers,
    compose_port=5000,
)

SERVERS: tuple[Server, ...] = (REDIS, POSTGRES, RABBITMQ, S3)
REQUIREMENTS: tuple[Requirement, ...] = (*TOOLS, *SERVERS)


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
            if docker_answers():
                yield Way(
                    f"docker compose: {requirement.name}",
                    lambda run: start_container(requirement, run),
                )


def ways_to_program(tool: Tool) -> Iterator[Way]:
    if found := find(tool):
        yield Way(found, lambda _run: found)
    elif tool.package and can_install():
        yield Way(f"apt-get install {tool.package}", lambda _run: install(tool))


def find(tool: Tool) -> str | None:
    """The tool's program: in the newest of its own folders, else on the PATH."""
    folders = [str(folder) for pattern in tool.folders for folder in Path("/").glob(pattern[1:])]
    newest_first = sorted(folders, key=version_in, reverse=True)
    return shutil.which(tool.program, path=os.pathsep.join([*newest_first, *os.get_exec_path()]))


def version_in(path: str) -> list[int]:
    return [int(digits) for digits in re.findall(r"\d+", path)]


def started_with(server: Server, program: Way) -> Way:
    return Way(program.origin, lambda run: start(server, program.take(run), run))


def no_way_to(requirement: Requirement) -> str:
    tool = requirement if isinstance(requirement, Tool) else requirement.tool
    reasons = [
        f"${requirement.variable} is not set",
        f"no {tool.program} in {' or '.join((*tool.folders, 'the PATH'))}",
    ]
    if tool.package:
        reasons.append("packages can be installed only on Debian as root")
    if isinstance(requirement, Server):
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


def require_program(path: str) -> str:
    found = shutil.which(path)
    if found is None:
        raise UnavailableError(f"{path} is no program")
    return found


def require_answer(server: Server, address: str) -> str:
    if not server.answers(address):
        raise UnavailableError(f"{without_password(address)} does not answer")
    return address


def without_password(address: str) -> str:
    password = urlsplit(address).password
    return address.replace(f":{password}@", ":***@") if password else address


@functools.cache
def can_install() -> bool:
    is_debian = Path("/etc/debian_version").exists()
    return is_debian and os.geteuid() == 0 and shutil.which("apt-get") is not None


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


def call(arguments: Sequence[str], seconds: float, **environment: str) -> str:
    """Run a program to its end and return its output, or say what it said when it failed."""
    try:
        done = subprocess.run(
            arguments,
            env=os.environ | environment,
            timeout=seconds,
            capture_output=True,
            text=True,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(str(error)) from error
    if done.returncode != 0:
        raise UnavailableError(last_line(done.stderr) or f"exit code {done.returncode}")
    return done.stdout


def last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


@functools.cache
def update_package_lists() -> None:
    # Older lists may still do, so a failure here is left to the installation to report.
    with suppress(UnavailableError):
        call(["apt-get", "update", "--quiet"], INSTALL_SECONDS)


def install(tool: Tool) -> str:
    if found := find(tool):
        return found
    say(f"Installing {tool.package} with apt-get")
    update_package_lists()
    options = ["-o", "DPkg::Lock::Timeout=400", "install", "--yes", "--no-install-recommends"]
    call(
        ["apt-get", *options, tool.package],
        INSTALL_SECONDS,
        DEBIAN_FRONTEND="noninteractive",
    )
    if (found := find(tool)) is None:
        raise UnavailableError(f"the package {tool.package} brought no {tool.program}")
    return found


def start(server: Server, program: str, run: Run) -> str:
    folder = run.folder / server.name
    folder.mkdir(exist_ok=True)
    port = free_port()
    process = launch(server, program, folder, port, server.careless)
    run.undo.callback(stop, process, server.ending)
    address = server.address.format(port=port)
    await_answer(server, address, process, folder)
    return address


def launch(
    server: Server, program: str, folder: Path, port: int, more: Sequence[str] = ()
) -> subprocess.Popen[bytes]:
    """Start a server on the data in its folder, without waiting for it to answer."""
    arguments = [*server.arguments(program, folder, port), *more]
    with (folder / LOG_NAME).open("wb") as output:
        try:
            # A session of its own keeps a Ctrl-C meant for the command away from the server.
            return subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise UnavailableError(str(error)) from error


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def await_answer(
    server: Server, address: str, process: subprocess.Popen[bytes], folder: Path
) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while not server.answers(address):
        said = last_line((folder / LOG_NAME).read_text(errors="replace"))
        if process.poll() is not None:
            raise UnavailableError(f"it ended at once with code {process.returncode}: {said}")
        if time.monotonic() > deadline:
            raise UnavailableError(f"it did not answer within {READY_SECONDS:.0f} s: {said}")
        time.sleep(0.05)


def stop(process: subprocess.Popen[bytes], ending: signal.Signals = signal.SIGTERM) -> None:
    """End a server and every process of its group, gently first."""
    signal_group(process, ending)
    with suppress(subprocess.TimeoutExpired):
        process.wait(STOP_SECONDS)
    signal_group(process, signal.SIGKILL)
    process.wait(STOP_SECONDS)


def signal_group(process: subprocess.Popen[bytes], signal_number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal_number)


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


def known_absences(file: Path = KNOWN_ABSENCES_FILE) -> dict[str, str]:
    """The reasons for what may be missing in CI, by name."""
    reasons = tomllib.loads(file.read_text())
    for name, reason in reasons.items():
        if not isinstance(reason, str) or not reason.strip():
            raise SystemExit(f'{file.name}: write {name} = "the reason it may be missing"')
    return reasons


def unexcused(findings: Sequence[Finding], excuses: Mapping[str, str]) -> list[str]:
    """The names of what is missing without a reason in the table of known absences."""
    missing = [finding.requirement.name for finding in findings if isinstance(finding, Missing)]
    return [name for name in missing if name not in excuses]


def print_table(title: str, state: str, findings: Sequence[Finding]) -> None:
    say(title)
    for finding in findings:
        name = finding.requirement.name
        match finding:
            case Available(origin=origin, value=value):
                shown = without_password(value) if value not in ("", origin) else ""
                say(f"  {name:<15} {state:<10} {origin}  {shown}".rstrip())
            case Missing(reason=reason):
                say(f"  {name:<15} {'missing':<10} {reason}")


def say(line: str) -> None:
    print(line, flush=True)


def list_requirements() -> int:
    print_table("What a run would use:", "from", [foresee(each) for each in REQUIREMENTS])
    return 0


def run_with_servers(command: Sequence[str]) -> int:
    if shutil.which(command[0]) is None:
        say(f"{command[0]} is no program")
        return 127
    excuses = known_absences()
    end_on_signals()
    with ExitStack() as undo:
        folder = undo.enter_context(tempfile.TemporaryDirectory(prefix="penstock-servers-"))
        run = Run(Path(folder), undo)
        run.folder.chmod(0o711)  # a server may run as another user, who passes through
        findings = provide_all(run)
        undo.callback(ignore_signals)
        return run_between_tables(command, findings, excuses)


def run_between_tables(
    command: Sequence[str], findings: Sequence[Finding], excuses: Mapping[str, str]
) -> int:
    print_table("Servers and programs for the tests:", "ready", findings)
    if os.environ.get("CI") == "true" and (names := unexcused(findings, excuses)):
        say(f"CI=true and missing without a reason in {KNOWN_ABSENCES_FILE.name}: {names}")
        return 1
    code = run_command(command, environment_with(findings))
    print_table(
        "What was exercised, and what had to be skipped and why:",
        "exercised",
        [look_again(finding) for finding in findings],
    )
    return code


def environment_with(findings: Sequence[Finding]) -> dict[str, str]:
    environment = dict(os.environ)
    for finding in findings:
        match finding:
            case Available(requirement=requirement, value=value):
                environment[requirement.variable] = value
            case Missing(requirement=requirement):
                environment.pop(requirement.variable, None)
    return environment


def look_again(finding: Finding) -> Finding:
    match finding:
        case Available(requirement=Server() as server, value=address):
            if not server.answers(address):
                return Missing(server, "it stopped answering during the run")
    return finding


def run_command(command: Sequence[str], environment: Mapping[str, str]) -> int:
    process = subprocess.Popen(command, env=environment)
    try:
        code = process.wait()
    except Interrupted as interruption:
        wind_down(process, interruption.signal_number)
        raise
    return code if code >= 0 else 128 - code


def wind_down(process: subprocess.Popen[bytes], signal_number: int) -> None:
    # A terminal sends Ctrl-C to the command too, which then ends in its own way; others do not.
    if signal_number != signal.SIGINT:
        process.terminate()
    for escalate in (process.terminate, process.kill):
        try:
            process.wait(WIND_DOWN_SECONDS)
        except subprocess.TimeoutExpired:
            escalate()
    process.wait()


ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def end_on_signals() -> None:
    for number in ENDING_SIGNALS:
        signal.signal(number, interrupt)


def ignore_signals() -> None:
    for number in ENDING_SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def interrupt(signal_number: int, _frame: FrameType | None) -> NoReturn:
    # A second Ctrl-C must not cut the clean-up short.
    ignore_signals()
    raise Interrupted(signal_number)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tools/servers.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="verb", required=True, metavar="list | run")
    commands.add_parser("list", help="show what would be used")
    run = commands.add_parser("run", help="start everything, run COMMAND, stop everything")
    run.add_argument("command", nargs="+", metavar="COMMAND", help="after --, with its arguments")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    options = parse(arguments)
    return list_requirements() if options.verb == "list" else run_with_servers(options.command)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
