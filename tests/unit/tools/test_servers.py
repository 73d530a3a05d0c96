"""tools/servers.py provides what it can, says what it cannot, and leaves nothing behind."""

# ruff: noqa: S603 - every program run here is our own
from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tools import servers

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

PRINT_ADDRESS = "import os; print('address:', os.environ.get('PENSTOCK_TEST_REDIS_URL'))"


@dataclass
class Machine:
    """A machine that has only the programs put on it, and a copy of the tools."""

    folder: Path
    variables: dict[str, str] = field(default_factory=dict)

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


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_command_gets_the_address_of_a_started_server_and_its_code_is_kept(
    machine: Machine, redis_server: Path
) -> None:
    code, output = machine.run_python(f"{PRINT_ADDRESS}; raise SystemExit(7)")

    assert code == 7
    assert "address: redis://127.0.0.1:" in output


def test_address_from_the_environment_is_used_when_it_answers(
    machine: Machine, redis_server: Path
) -> None:
    nested = [sys.executable, machine.script, "run", "--", sys.executable, "-c", PRINT_ADDRESS]

    _, output = machine.run(*nested)

    inner = [line.split() for line in output.splitlines() if "$PENSTOCK_TEST_REDIS_URL" in line]
    outer = next(line.split() for line in output.splitlines() if line.startswith("  redis "))
    assert inner[0] == ["redis", "ready", "$PENSTOCK_TEST_REDIS_URL", outer[-1]]
    assert f"address: {outer[-1]}" in output


def test_address_that_does_not_answer_is_missing_and_hidden_from_the_command(
    machine: Machine, redis_server: Path
) -> None:
    port = servers.free_port()
    machine.variables["PENSTOCK_TEST_REDIS_URL"] = f"redis://:secret@127.0.0.1:{port}/0"

    code, output = machine.run_python(PRINT_ADDRESS)

    assert code == 0
    assert "address: None" in output
    assert "does not answer" in output
    assert "secret" not in output


def test_missing_server_in_ci_fails_before_the_command_runs(machine: Machine) -> None:
    machine.variables["CI"] = "true"
    machine.excuse("tinyproxy", "microsocks", "redis-server")

    code, output = machine.run_python(PRINT_ADDRESS)

    assert code == 1
    assert "['redis']" in output
    assert "address:" not in output


def test_known_absence_is_tolerated_in_ci(machine: Machine) -> None:
    machine.variables["CI"] = "true"
    machine.excuse(*(requirement.name for requirement in servers.REQUIREMENTS))

    code, output = machine.run_python(PRINT_ADDRESS)

    assert code == 0
    assert "address: None" in output


def test_known_absence_without_a_reason_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "known_absences.toml"
    table.write_text('redis = ""\n')

    with pytest.raises(SystemExit, match="redis"):
        servers.known_absences(table)


def test_server_that_ends_at_once_is_missing_with_its_last_words(machine: Machine) -> None:
    machine.put("redis-server", "#!/bin/sh\necho 'out of luck'\nexit 3\n")

    _, output = machine.run_python(PRINT_ADDRESS)

    assert "ended at once with code 3: out of luck" in output
    assert "address: None" in output


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
    monkeypatch.setattr(servers, "STOP_SECONDS", 0.1)
    code = "import signal; signal.signal(15, 1); print(flush=True); signal.pause()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True
    ) as deaf:
        assert deaf.stdout is not None
        deaf.stdout.readline()

        servers.stop(deaf)

    assert deaf.returncode == -signal.SIGKILL


def test_server_without_a_program_comes_from_compose_and_is_removed(machine: Machine) -> None:
    port = servers.free_port()
    machine.variables["CONTAINER_PORT"] = str(port)
    container = machine.put("container", STAND_IN_SERVER)
    calls = machine.put("docker", STAND_IN_DOCKER).with_suffix(".calls")
    with subprocess.Popen([container, "--port", str(port)], start_new_session=True) as process:
        while not servers.redis_answers(f"redis://127.0.0.1:{port}"):
            pass

        _, output = machine.run_python(PRINT_ADDRESS)

        servers.stop(process)
    assert f"address: redis://127.0.0.1:{port}/0" in output
    assert "rm --stop --force --volumes redis" in calls.read_text().splitlines()[-1]
