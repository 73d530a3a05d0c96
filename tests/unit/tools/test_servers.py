"""tools/servers.py provides what it can, says what it cannot, and leaves nothing behind."""

# ruff: noqa: S603 - every program run here is our own
from __future__ import annotations

import dataclasses
import os
import shutil
import signal
import socketserver
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from tests.private_server import family_of, is_alive
from tools import servers
from tools.provision import processes, programs
from tools.provision.absences import known_absences
from tools.provision.kafka import kafka_answers
from tools.provision.model import Missing, Server, Tool, UnavailableError
from tools.provision.postgres import postgres_answers
from tools.provision.processes import await_answer, free_port, launch, stop, unprivileged
from tools.provision.programs import find
from tools.provision.rabbitmq import RABBITMQ, RABBITMQ_SERVER, rabbitmq_answers
from tools.provision.redis import REDIS, REDIS_SERVER, redis_answers
from tools.provision.requirements import REQUIREMENTS, SERVERS
from tools.provision.s3 import S3, s3_answers
from tools.provision.ways import foresee

TOOLS = Path(servers.__file__).parent

STAND_IN_SERVER = f"""#!{sys.executable}
import os, signal, socketserver, sys
from pathlib import Path

class Pong(socketserver.StreamRequestHandler):
    def handle(self):
        for _ in self.rfile:
            self.wfile.write(b"+PONG\\r\\n")

Path(__file__).with_suffix(".pid").write_text(str(os.getpid()))
port = int(sys.argv[sys.argv.index("--port") + 1])
socketserver.ThreadingTCPServer(("127.0.0.1", port), Pong).serve_forever()
"""

STAND_IN_DOCKER = """#!/bin/sh
echo "$*" >> "$0.calls"
case "$*" in *" port "*) echo "127.0.0.1:$CONTAINER_PORT" ;; esac
"""

REDIS_AND_ITS_PROGRAM = (REDIS, REDIS_SERVER)
ABSENT = {
    requirement.variable: "absent://127.0.0.1:1"
    for requirement in REQUIREMENTS
    if requirement not in REDIS_AND_ITS_PROGRAM
}

PRINT_ADDRESS = "import os; print('address:', os.environ.get('PENSTOCK_TEST_REDIS_URL'))"


@dataclass
class Machine:
    """A machine that has no server but a stand-in for Redis, if put there, and a copy of the tools.

    The others are searched in folders that are the real machine's, so they are declared absent.
    """

    folder: Path
    variables: dict[str, str] = field(default_factory=ABSENT.copy)

    @property
    def script(self) -> str:
        return str(self.folder / "tools" / "servers.py")

    def put(self, program: str, text: str) -> Path:
        path = self.folder / "bin" / program
        path.write_text(text)
        path.chmod(0o755)
        return path

    def excuse(self, *names: str) -> None:
        lines = [f'{name} = "not in this test"\n' for name in names]
        (self.folder / "tools" / "known_absences.toml").write_text("".join(lines))

    def start(self, *command: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, self.script, "run", "--", *command],
            env={"PATH": str(self.folder / "bin"), **self.variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *command: str) -> tuple[int, str]:
        process = self.start(*command)
        output, _ = process.communicate(timeout=60)
        return process.returncode, output

    def run_python(self, code: str) -> tuple[int, str]:
        return self.run(sys.executable, "-c", code)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    (tmp_path / "bin").mkdir()
    shutil.copytree(TOOLS, tmp_path / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    return Machine(tmp_path)


@pytest.fixture
def redis_server(machine: Machine) -> Path:
    """A stand-in for redis-server, and the file in which it leaves its pid."""
    return machine.put("redis-server", STAND_IN_SERVER).with_suffix(".pid")


@contextmanager
def stand_in_outside(machine: Machine) -> Iterator[int]:
    """The port of a stand-in for Redis that runs whatever the script does."""
    port = free_port()
    program = machine.put("outside", STAND_IN_SERVER)
    with subprocess.Popen([program, "--port", str(port)], start_new_session=True) as process:
        while not redis_answers(f"redis://127.0.0.1:{port}"):
            pass
        yield port
        stop(process)


def put_program(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o755)
    return str(path)


@contextmanager
def server_that_says(reply: bytes) -> Iterator[int]:
    """The port of a server that answers whatever it is told with the same reply."""

    class Parrot(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(1024)
            self.request.sendall(reply)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Parrot) as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.01])
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def test_command_gets_the_address_of_a_started_server_and_its_code_is_kept(
    machine: Machine, redis_server: Path
) -> None:
    code, output = machine.run_python(f"{PRINT_ADDRESS}; raise SystemExit(7)")

    assert code == 7
    assert "address: redis://127.0.0.1:" in output


def test_address_from_the_environment_is_used_when_it_answers(
    machine: Machine, redis_server: Path
) -> None:
    with stand_in_outside(machine) as port:
        address = f"redis://127.0.0.1:{port}/5"
        machine.variables["PENSTOCK_TEST_REDIS_URL"] = address

        _, output = machine.run_python(PRINT_ADDRESS)

    lines = [line.split() for line in output.splitlines()]
    assert ["redis", "ready", "$PENSTOCK_TEST_REDIS_URL", address] in lines
    assert f"address: {address}" in output


def test_address_that_does_not_answer_is_missing_and_hidden_from_the_command(
    machine: Machine, redis_server: Path
) -> None:
    port = free_port()
    machine.variables["PENSTOCK_TEST_REDIS_URL"] = f"redis://:secret@127.0.0.1:{port}/0"

    code, output = machine.run_python(PRINT_ADDRESS)

    assert code == 0
    assert "address: None" in output
    assert "does not answer" in output
    assert "secret" not in output


def test_missing_server_in_ci_fails_before_the_command_runs(machine: Machine) -> None:
    machine.variables["CI"] = "true"
    machine.excuse(*(each.name for each in REQUIREMENTS if each is not REDIS))

    code, output = machine.run_python(PRINT_ADDRESS)

    assert code == 1
    assert "['redis']" in output
    assert "address:" not in output


def test_known_absence_is_tolerated_in_ci(machine: Machine) -> None:
    machine.variables["CI"] = "true"
    machine.excuse(*(requirement.name for requirement in REQUIREMENTS))

    code, output = machine.run_python(PRINT_ADDRESS)

    assert code == 0
    assert "address: None" in output


def test_known_absence_without_a_reason_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "known_absences.toml"
    table.write_text('redis = ""\n')

    with pytest.raises(SystemExit, match="redis"):
        known_absences(table)


def test_server_that_ends_at_once_is_missing_with_its_last_words(machine: Machine) -> None:
    machine.put("redis-server", "#!/bin/sh\necho 'out of luck'\nexit 3\n")

    _, output = machine.run_python(PRINT_ADDRESS)

    assert "ended at once with code 3: out of luck" in output
    assert "address: None" in output


def test_server_whose_helpers_are_absent_is_missing(tmp_path: Path) -> None:
    without_helpers = dataclasses.replace(S3, arguments=lambda *_: ["no-such-helper"])

    with pytest.raises(UnavailableError, match="no-such-helper"):
        launch(without_helpers, "moto_server", tmp_path, 1)


def test_started_server_is_stopped_after_the_command(machine: Machine, redis_server: Path) -> None:
    machine.run_python("raise SystemExit(1)")

    assert not is_alive(int(redis_server.read_text()))


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGHUP])
def test_started_server_is_stopped_when_a_signal_ends_the_run(
    machine: Machine, redis_server: Path, ending: signal.Signals
) -> None:
    process = machine.start(
        sys.executable, "-c", "import time; print('here', flush=True); time.sleep(60)"
    )
    assert process.stdout is not None
    assert "here\n" in iter(process.stdout.readline, "")

    process.send_signal(ending)
    process.communicate(timeout=30)

    assert process.returncode == 128 + ending
    assert not is_alive(int(redis_server.read_text()))


def test_server_deaf_to_sigterm_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "STOP_SECONDS", 0.1)
    code = "import signal; signal.signal(15, 1); print(flush=True); signal.pause()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True
    ) as deaf:
        assert deaf.stdout is not None
        deaf.stdout.readline()

        stop(deaf)

    assert deaf.returncode == -signal.SIGKILL


def test_server_without_a_program_comes_from_compose_and_is_removed(machine: Machine) -> None:
    calls = machine.put("docker", STAND_IN_DOCKER).with_suffix(".calls")
    with stand_in_outside(machine) as port:
        machine.variables["CONTAINER_PORT"] = str(port)

        _, output = machine.run_python(PRINT_ADDRESS)

    assert f"address: redis://127.0.0.1:{port}/0" in output
    assert "rm --stop --force --volumes redis" in calls.read_text().splitlines()[-1]


def test_program_comes_from_the_newest_of_its_own_folders(tmp_path: Path) -> None:
    put_program(tmp_path / "9" / "bin" / "sh")
    newest = put_program(tmp_path / "15" / "bin" / "sh")

    found = find(Tool("sh", "NAME", "sh", folders=(f"{tmp_path}/*/bin",)))

    assert found == newest


def test_program_comes_from_the_path_where_its_own_folders_lack_it(tmp_path: Path) -> None:
    found = find(Tool("sh", "NAME", "sh", folders=(f"{tmp_path}/*/bin",)))

    assert found == shutil.which("sh")


def test_program_without_a_package_is_never_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "can_install", lambda: True)

    finding = foresee(Tool("absent", "NAME", "no-such-program"))

    assert isinstance(finding, Missing)
    assert "packages" not in finding.reason


@pytest.mark.parametrize(
    ("answers", "reply", "is_ready"),
    [
        (postgres_answers, b"R\0\0\0\x08\0\0\0\0", True),
        (postgres_answers, b"E\0\0\0\x40SFATAL\0C57P03\0Mstarting up\0\0", False),
        (rabbitmq_answers, b"\x01\0\0\0\0\x01\xff", True),
        (rabbitmq_answers, b"AMQP\0\0\x09\x01", False),
        (kafka_answers, b"\0\0\0\x1f\0\0\0\1\0\0\0\1\0\0\0\1\0\x09127.0.0.1", True),
        (kafka_answers, b"\0\0\0\x0c\0\0\0\1\0\0\0\0\0\0\0\0", False),
        (kafka_answers, b"HTTP/1.1 400 Bad Request\r\n\r\n", False),
        (s3_answers, b"HTTP/1.1 403 Forbidden\r\n\r\n", True),
        (s3_answers, b"HTTP/1.1 503 Slow Down\r\n\r\n", False),
        (s3_answers, b"220 mail.test ready\r\n", False),
    ],
)
def test_server_is_ready_when_it_says_so_in_its_own_words(
    answers: Callable[[str], bool], reply: bytes, is_ready: bool
) -> None:
    with server_that_says(reply) as port:
        assert answers(f"http://127.0.0.1:{port}") is is_ready


@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.name)
def test_silence_is_no_answer(server: Server) -> None:
    assert not server.answers(server.address.format(port=free_port()))


@pytest.mark.parametrize(
    "server", [each for each in SERVERS if each.compose_port], ids=lambda server: server.name
)
def test_every_server_can_also_come_from_compose(server: Server) -> None:
    services = yaml.safe_load((TOOLS / "compose.yaml").read_text())["services"]

    assert services[server.name]["ports"] == [f"127.0.0.1::{server.compose_port}"]


def test_postgres_as_root_needs_a_user_to_run_as(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)

    with pytest.raises(UnavailableError, match="no user nobody-of-that-name"):
        unprivileged("nobody-of-that-name")


def test_nothing_is_left_of_a_real_server_and_its_helpers(tmp_path: Path) -> None:
    program = find(RABBITMQ_SERVER)
    if program is None:
        pytest.skip("no rabbitmq-server on this machine")

    port = free_port()
    process = launch(RABBITMQ, program, tmp_path, port)
    address = RABBITMQ.address.format(port=port)
    await_answer(RABBITMQ, address, process, tmp_path)
    processes = list(family_of(process.pid))

    stop(process, RABBITMQ.ending)

    assert len(processes) > 2
    assert not [pid for pid in processes if is_alive(pid)]
