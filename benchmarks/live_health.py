"""How long `/health` of live pages takes, whatever else the process and the machine do.

    python -m benchmarks.live_health [--asks 400] [--feeds 20] [--write]

`penstock live run` watches matches of the local site in pages that stay open. Meanwhile 64 clients
read feeds over kept connections as fast as they can, 100 follow one, and two read all metrics. In
the last case four more processes than there are cores compute as well. Everything is a process of
its own. A bare server that does nothing is asked in the same moments: so late is the machine.
"""

import argparse
import asyncio
import os
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from multiprocessing import get_context
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from statistics import median

import httpx

from benchmarks.live_soak import KEY, PENSTOCK, ROOT, running, settings_of, url_of
from benchmarks.report import machine, render_table
from tests.browsers import Place, new_place
from tests.site.live_pages import LIVE_HOSTS
from tools.provision.processes import free_port

FIGURES = ROOT / "docs" / "figures" / "live-health.md"
READERS, FOLLOWERS, COLLECTORS = 64, 100, 2
MORE_THAN_CORES = 4
#: What a bare server took in so many asks before and after is what the machine took.
AROUND = 10
PAUSE_SECONDS, WARM_UP_SECONDS = 0.02, 5.0
START_SECONDS, FRESH_SECONDS = 60.0, 120.0
MOST_MS = 100.0
FORK = get_context("fork")


@dataclass(slots=True)
class Case:
    """What was measured, in milliseconds; `looped` went through the process that does it all."""

    name: str
    health: list[float] = field(default_factory=list)
    looped: list[float] = field(default_factory=list)
    control: list[float] = field(default_factory=list)
    load: float = 0.0
    reads_per_second: float = 0.0

    @property
    def beyond(self) -> list[float]:
        """How much later than the machine answers were, by how late that was around then."""
        return [
            took - max(self.control[max(0, at - AROUND) : at + AROUND + 1])
            for at, took in enumerate(self.health)
        ]

    @property
    def latest(self) -> float:
        return max(self.beyond)

    def row(self) -> tuple[str, ...]:
        times = [_summary(each) for each in (self.health, self.looped, self.control)]
        about = self.name, f"{self.load:.1f}", f"{self.reads_per_second:,.0f}"
        return *about, *times, f"{self.latest:.1f}"


def _summary(times: Sequence[float]) -> str:
    ordered = sorted(times)
    high = ordered[int(0.99 * len(ordered))]
    return f"{median(ordered):.1f} / {high:.1f} / {ordered[-1]:.1f}"


# ── who asks


def ask(port: int, path: str = "/health") -> float:
    """Milliseconds from the first packet to the last byte, on a connection of its own."""
    began = time.perf_counter()
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while part := connection.recv(65536):
            answer += part
    if not answer.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(answer[:200].decode())
    return (time.perf_counter() - began) * 1000


def bare(listening: socket.socket) -> None:
    """Answer whoever asks, at once."""
    while True:
        connection, _ = listening.accept()
        with connection:
            connection.recv(4096)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")


# ── who keeps it busy


def load(port: int, key: str, reads: "Synchronized[int]") -> None:
    """Read and follow feeds, and all metrics, until ended."""
    asyncio.run(_load(port, key, reads))


async def _load(port: int, key: str, reads: "Synchronized[int]") -> None:
    def asking(path: str) -> bytes:
        return f"GET {path} HTTP/1.1\r\nHost: a\r\nX-Service-Key: {key}\r\n\r\n".encode()

    async with asyncio.TaskGroup() as tasks:
        for number in range(READERS):
            feed = LIVE_HOSTS[number % len(LIVE_HOSTS)]
            tasks.create_task(_read(port, asking(f"/api/v1/live/{feed}"), reads))
        for number in range(FOLLOWERS):
            feed = LIVE_HOSTS[number % len(LIVE_HOSTS)]
            tasks.create_task(_follow(port, asking(f"/api/v1/live/{feed}/events")))
        for _ in range(COLLECTORS):
            tasks.create_task(_read(port, asking("/metrics"), reads))


async def _read(port: int, request: bytes, reads: "Synchronized[int]") -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while True:
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
        await reader.readexactly(length)
        reads.value += 1


async def _follow(port: int, request: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    while await reader.read(65536):
        pass


def burn() -> None:
    """Compute until ended."""
    while True:
        sum(range(10_000))


@contextmanager
def beside(do: Callable[..., None], *arguments: object) -> Iterator[None]:
    """Something that is done by another process until the block is left."""
    process = FORK.Process(target=do, args=arguments, daemon=True)
    process.start()
    try:
        yield
    finally:
        process.kill()
        process.join()


@contextmanager
def bare_server() -> Iterator[int]:
    """The port of a server that does nothing else."""
    with socket.create_server(("127.0.0.1", 0)) as listening, beside(bare, listening):
        yield listening.getsockname()[1]


# ── the measurement


def ask_often(case: Case, port: int, control: int, asks: int) -> Case:
    """Ask for health, and a bare server in the same moments."""
    for _ in range(asks):
        case.control.append(ask(control))
        case.health.append(ask(port))
        time.sleep(PAUSE_SECONDS)
    return case


def measure(case: Case, port: int, control: int, asks: int, reads: "Synchronized[int]") -> Case:
    time.sleep(WARM_UP_SECONDS)
    began, before = time.perf_counter(), reads.value
    ask_often(case, port, control, asks)
    case.looped = [ask(port, "/readiness") for _ in range(asks)]
    case.reads_per_second = (reads.value - before) / (time.perf_counter() - began)
    case.load = os.getloadavg()[0]
    sys.stdout.write(f"{case.row()}\n")
    return case


def run(feeds: int, asks: int, folder: Path, place: Place) -> list[Case]:
    """Every case, on one service."""
    site_port, port = free_port(), free_port()
    reads = FORK.Value("L", 0, lock=False)
    with ExitStack() as stack:
        control = stack.enter_context(bare_server())
        site = [sys.executable, "-m", "tests.site", "--port", str(site_port)]
        stack.enter_context(running(site, {}, folder / "site.log"))
        service = [str(PENSTOCK), "live", "run", "--port", str(port)]
        settings = settings_of(site_port, folder, place)
        stack.enter_context(running(service, settings, folder / "service.log"))
        _watch(port, feeds)
        found = [measure(Case("feeds alone"), port, control, asks, reads)]
        stack.enter_context(beside(load, port, KEY, reads))
        found.append(measure(Case("and clients"), port, control, asks, reads))
        for _ in range((os.cpu_count() or 1) + MORE_THAN_CORES):
            stack.enter_context(beside(burn))
        found.append(measure(Case("and a busy machine"), port, control, asks, reads))
    return found


def _watch(port: int, feeds: int) -> None:
    """Start all feeds, and wait until each has been seen."""
    headers = {"X-Service-Key": KEY}
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=30) as client:
        _until(lambda: client.get("/health").is_success, START_SECONDS)
        for host in LIVE_HOSTS[:feeds]:
            body = {"match_id": host, "url": url_of(host, 10), "adapter": "cricket"}
            client.post("/api/v1/live/feeds", json=body).raise_for_status()
        for host in LIVE_HOSTS[:feeds]:
            _until(lambda: client.get(f"/api/v1/live/{host}").is_success, FRESH_SECONDS)  # noqa: B023


def _until(is_so: Callable[[], bool], seconds: float) -> None:
    give_up_at = time.monotonic() + seconds
    while True:
        try:
            if is_so():
                return
        except httpx.TransportError:
            pass
        if time.monotonic() > give_up_at:
            raise TimeoutError
        time.sleep(0.2)


def render(found: Sequence[Case], feeds: int) -> str:
    """The figures in Markdown."""
    about = (
        f"{datetime.now(UTC):%Y-%m-%d}; {machine()}; {feeds} feeds, "
        f"{len(found[0].health)} asks in each case. Times in ms: median / p99 / most."
    )
    columns = ("", "load", "reads/s", "/health", "through the loop", "bare server", "later than it")
    text = __doc__ or ""
    _, _, legend = text.partition("[--write]\n\n")
    parts = (
        "# Health of live pages",
        "Made by `python -m benchmarks.live_health --write`.",
        about,
        render_table(columns, [case.row() for case in found]),
        legend.strip(),
        "**Through the loop** is `/readiness`, which is as cheap, but answered by the event loop "
        "that does everything else. **Later than it** is the most that an answer took beyond what "
        f"the bare server did in {AROUND} asks before and after: under {MOST_MS:g} is promised.",
    )
    return "\n\n".join(parts) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.live_health", description=__doc__)
    parser.add_argument("--asks", type=int, default=400)
    parser.add_argument("--feeds", type=int, default=20, help=f"at most {len(LIVE_HOSTS)}")
    parser.add_argument("--write", action="store_true", help=f"to {FIGURES.name}")
    options = parser.parse_args()
    with new_place() as place, tempfile.TemporaryDirectory(prefix="penstock-health-") as folder:
        found = run(options.feeds, options.asks, Path(folder), place)
        sys.stdout.write((Path(folder) / "service.log").read_text()[-3000:])
    text = render(found, options.feeds)
    sys.stdout.write(text)
    if options.write:
        FIGURES.write_text(text)
    return 0 if max(case.latest for case in found) < MOST_MS else 1


if __name__ == "__main__":
    sys.exit(main())
