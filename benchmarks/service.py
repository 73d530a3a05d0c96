"""`python -m benchmarks.service`: tasks that the API accepts, and its health meanwhile."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from http.client import HTTPConnection
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

from benchmarks import peers
from benchmarks.report import machine, render_table

SCRIPT = peers.ROOT / "benchmarks" / "submit.lua"
KEY = "a key for the benchmark only"
START_SECONDS = 30.0
#: Between two questions after the health.
HEALTH_SECONDS = 0.02
WARM_SECONDS = 1
_ADDRESS = re.compile(r"listens on http://([\d.]+):(\d+)")
HEADERS = (
    *("", "accepted/s", "CPU ms/task", "p50 ms", "p99 ms"),
    *("health p50", "health p95", "health p99", "peak MB"),
)


@dataclass(frozen=True, slots=True)
class Round:
    """What one load came to; times in milliseconds."""

    accepted_per_second: float
    cpu_ms: float
    p50: float
    p99: float
    health: list[float]
    memory_mb: float

    def health_at(self, percent: int) -> float:
        return quantiles(self.health, n=100, method="inclusive")[percent - 1]


def main() -> None:
    options = read_options()
    runs: dict[str, list[Round]] = {}
    for number in range(options.rounds):
        for command in ("api", "up")[:: 1 if number % 2 == 0 else -1]:
            found = one_round(command, options)
            print(f"penstock {command}: {tell(found)}", file=sys.stderr)
            runs.setdefault(command, []).append(found)
    text = render(options, runs)
    print(text)
    if options.write:
        page = peers.ROOT / "docs" / "figures" / "service.md"
        page.write_text(f"# The scrape service\n\nMade by `make bench`.\n\n{text}\n")


def read_options() -> Namespace:
    parser = ArgumentParser(prog="python -m benchmarks.service", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=15)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--write", action="store_true", help="also write docs/figures/service.md")
    return parser.parse_args()


def one_round(command: str, options: Namespace) -> Round:
    """Load on a new service with an empty store."""
    with TemporaryDirectory() as folder, service(command, Path(folder)) as (process, host, port):
        load(host, port, WARM_SECONDS, options.connections)
        before = cpu_of(process.pid)
        with watched_health(host, port) as health:
            found = load(host, port, options.seconds, options.connections)
        cpu_ms = (cpu_of(process.pid) - before) * 1000 / max(1, found["accepted"])
        if found["refused"] or found["broken"]:
            sys.exit(f"penstock {command}: not all were accepted: {found}")
        speed = found["accepted"] / found["seconds"]
        peak = memory_of(process.pid)
        return Round(speed, cpu_ms, found["p50"], found["p99"], health, peak)


@contextmanager
def service(command: str, folder: Path) -> Iterator[tuple["subprocess.Popen[str]", str, int]]:
    """`penstock api` or `penstock up` in a folder of its own, once it listens."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PENSTOCK_")},
        "PENSTOCK_STORE__FOLDER": str(folder / "store"),
        "PENSTOCK_SHARED__LOCK_FILE": str(folder / "lock"),
        "PENSTOCK_API__SERVICE_KEY": KEY,
        "PENSTOCK_API__PORT": "0",
        "PENSTOCK_SCRAPE__MAX_QUEUE_DEPTH": "100000000",
    }
    log = folder / "log"
    with log.open("w") as stderr:
        process = subprocess.Popen(
            [str(Path(sys.executable).parent / "penstock"), command],
            env=environment,
            cwd=folder,
            stderr=stderr,
            text=True,
        )
    try:
        host, port = wait_until_listening(process, log)
        yield process, host, port
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(START_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()


def wait_until_listening(process: "subprocess.Popen[str]", log: Path) -> tuple[str, int]:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if found := _ADDRESS.search(log.read_text()):
            return found[1], int(found[2])
        time.sleep(0.05)
    sys.exit(f"the service did not start: {log.read_text()[-2000:]}")


def load(host: str, port: int, seconds: int, connections: int) -> dict[str, Any]:
    """What wrk says of so many seconds with so many connections."""
    command = [find_wrk(), "-t1", f"-c{connections}", f"-d{seconds}s", "-s", str(SCRIPT)]
    done = subprocess.run(
        [*command, f"http://{host}:{port}"],
        env={**os.environ, "BENCH_KEY": KEY},
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def find_wrk() -> str:
    """Install wrk if it is missing and we may."""
    if not shutil.which("wrk") and (apt := shutil.which("apt-get")):
        subprocess.run([apt, "install", "-y", "wrk"], check=False)
    return shutil.which("wrk") or sys.exit("wrk is missing: run `apt-get install wrk` as root")


@contextmanager
def watched_health(host: str, port: int) -> Iterator[list[float]]:
    """How many milliseconds `/health` took, each time that it was asked until the block is left."""
    took: list[float] = []
    ended = Event()

    def ask() -> None:
        connection = HTTPConnection(host, port, timeout=START_SECONDS)
        while not ended.wait(HEALTH_SECONDS):
            began = time.perf_counter()
            connection.request("GET", "/health")
            reply = connection.getresponse()
            reply.read()
            took.append((time.perf_counter() - began) * 1000)
            if reply.status != 200:
                raise RuntimeError(f"/health answers {reply.status}")

    asking = Thread(target=ask)
    asking.start()
    try:
        yield took
    finally:
        ended.set()
        asking.join()


def memory_of(pid: int) -> float:
    """The most megabytes that a process has had so far."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def cpu_of(pid: int) -> float:
    """The seconds of CPU that a process has had so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def tell(found: Round) -> str:
    return (
        f"{found.accepted_per_second:,.0f} accepted/s, {found.cpu_ms:.2f} ms CPU each, "
        f"p99 {found.p99:.0f} ms, "
        f"health p95 {found.health_at(95):.0f} ms of {len(found.health)}"
    )


def render(options: Namespace, runs: dict[str, list[Round]]) -> str:
    return "\n\n".join(
        (
            f"{datetime.now(UTC):%Y-%m-%d}; {machine()}.",
            f"`POST /api/v1/scrape` over {options.connections} connections for "
            f"{options.seconds} s on one process with an empty SQLite store (synchronous=FULL: an "
            "accepted task is on disk), wrk on the same cores; `/health` asked every "
            f"{HEALTH_SECONDS * 1000:.0f} ms meanwhile; times in ms, medians of {options.rounds} "
            "rounds. `api` only takes tasks on; `up` also carries them out meanwhile (their hosts "
            "do not exist, so each is looked up, fails and is tried again).",
            render_table(HEADERS, [row(command, found) for command, found in runs.items()]),
        )
    )


def row(command: str, found: list[Round]) -> tuple[str, ...]:
    return (
        f"penstock {command}",
        f"{median(each.accepted_per_second for each in found):,.0f}",
        f"{median(each.cpu_ms for each in found):.2f}",
        *(f"{median(getattr(each, name) for each in found):.1f}" for name in ("p50", "p99")),
        *(f"{median(each.health_at(part) for each in found):.1f}" for part in (50, 95, 99)),
        f"{median(each.memory_mb for each in found):.0f}",
    )


if __name__ == "__main__":
    main()
