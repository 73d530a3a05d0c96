"""Programs that run to their end, and servers that run until they are stopped."""

import os
import pwd
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tools.provision.model import Server, UnavailableError

LOG_NAME = "output.log"
READY_SECONDS = 60.0
STOP_SECONDS = 5.0


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


def unprivileged(user: str) -> list[str]:
    """What to put before a command that refuses to be run by root."""
    if os.geteuid() != 0:
        return []
    try:
        pwd.getpwnam(user)
    except KeyError as error:
        raise UnavailableError(f"it refuses to run as root, and no user {user} exists") from error
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "--"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


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
