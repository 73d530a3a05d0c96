"""Processes as /proc shows them: who belongs to a browser, what memory it takes, how to end it."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
CGROUP = Path("/sys/fs/cgroup")
KIB = 1024
PAGE_SIZE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")
RENDERER = "--type=renderer"
#: Begins the argument by which a browser of ours is known; its profile is in its worker's folder.
BROWSER_MARK = "--penstock-browser="
PROFILE = "--user-data-dir="
KEEPER, DRIVER = "keeper.py", "run-driver"


@dataclass(frozen=True, slots=True)
class Cost:
    """What a process takes: bytes now, and processor time since it was started."""

    memory: int
    cpu_seconds: float


def find_marked(mark: str) -> int | None:
    """The process that was started with an argument."""
    return next((pid for pid in _all() if is_marked(pid, mark)), None)


def is_marked(pid: int, mark: str) -> bool:
    """Whether a process was started with an argument; a number may be another's by now."""
    return mark in _arguments(pid)


def started_at(pid: int) -> str:
    """When a process was started, in ticks since the machine was; empty if there is none."""
    with suppress(OSError, IndexError):
        return _stat(pid)[19]
    return ""


def family_of(pid: int) -> list[int]:
    """A process and all below it."""
    family = [pid]
    for member in family:
        with suppress(OSError):
            for thread in os.listdir(f"{PROC}/{member}/task"):  # noqa: PTH208
                family += map(int, _read(member, f"task/{thread}/children").split())
    return family


def renderers_of(pid: int) -> frozenset[int]:
    """Those processes of a browser that show pages."""
    return frozenset(member for member in family_of(pid) if _is_renderer(member))


def _is_renderer(pid: int) -> bool:
    # It writes its arguments anew, as one line.
    return any(RENDERER in argument for argument in _arguments(pid))


def memory_of(pid: int) -> int:
    """Bytes that a process and all below it take; what they share is counted once."""
    return sum(_proportional(member) for member in family_of(pid))


def costs_of(pid: int) -> dict[int, Cost]:
    """What a process and all below it take, each by itself."""
    return {member: Cost(_proportional(member), _cpu_seconds(member)) for member in family_of(pid)}


def _cpu_seconds(pid: int) -> float:
    with suppress(OSError, IndexError, ValueError):
        user, system = _stat(pid)[11:13]
        return (int(user) + int(system)) / TICKS
    return 0.0


def _proportional(pid: int) -> int:
    try:
        for line in _read(pid, "smaps_rollup").splitlines():
            if line.startswith(b"Pss:"):
                return int(line.split()[1]) * KIB
    except PermissionError:
        # Sandboxed processes may hide it from their own user: at least what is theirs alone.
        with suppress(OSError, ValueError):
            _, resident, shared, *_ = map(int, _read(pid, "statm").split())
            return (resident - shared) * PAGE_SIZE
    except (OSError, ValueError):
        pass
    return 0


def kill_family(pid: int) -> None:
    """End a process and all below it at once; frozen ones, too."""
    for member in family_of(pid):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(member, signal.SIGKILL)


def end_orphans(folder: Path, mark: str = BROWSER_MARK) -> int:
    """Kill browsers, drivers and keepers whose worker is gone; how many there were.

    `folder` is where workers have their folders, by whose names they are known. Processes of
    another container are left alone: here its workers have other numbers.
    """
    found = 0
    for pid in list(_all()):
        worker = _worker_of(pid, folder, mark)
        if worker and _is_gone(worker) and _is_in_our_namespace(pid):
            kill_family(pid)
            found += 1
    return found


def _worker_of(pid: int, folder: Path, mark: str) -> str:
    """The name of the worker's folder that a process belongs to; empty for any other process."""
    arguments = _arguments(pid)
    if any(argument.startswith(mark) for argument in arguments):
        places = [argument.removeprefix(PROFILE) for argument in arguments]
    elif any(Path(argument).name == KEEPER for argument in arguments):
        places = arguments
    elif DRIVER in arguments:
        places = [_current_folder(pid)]
    else:
        return ""
    inside = f"{folder}{os.sep}"
    names = [place.removeprefix(inside) for place in places if place.startswith(inside)]
    return names[0].partition(os.sep)[0] if names else ""


def _is_gone(worker: str) -> bool:
    pid, _, rest = worker.partition(".")
    started = rest.partition("-")[0]
    return pid.isdigit() and started.isdigit() and started_at(int(pid)) != started


def _is_in_our_namespace(pid: int) -> bool:
    with suppress(OSError):
        return (PROC / str(pid) / "ns/pid").readlink() == (PROC / "self/ns/pid").readlink()
    return False


def _current_folder(pid: int) -> str:
    with suppress(OSError):
        return str((PROC / str(pid) / "cwd").readlink())
    return ""


def _all() -> Iterator[int]:
    return (int(folder.name) for folder in PROC.iterdir() if folder.name.isdigit())


def _arguments(pid: int) -> list[str]:
    with suppress(OSError):
        return os.fsdecode(_read(pid, "cmdline")).split("\0")
    return []


def _stat(pid: int) -> list[str]:
    """The fields of a process after its name, which may have any character in it."""
    return os.fsdecode(_read(pid, "stat")).rpartition(")")[2].split()


def _read(pid: int, name: str) -> bytes:
    """A file of a process.

    Not by a Path, which is slower and interns each of its parts: Python's table of these would
    grow with the number of processes that ever were.
    """
    with open(f"{PROC}/{pid}/{name}", "rb") as file:  # noqa: PTH123
        return file.read()


def free_memory() -> int:
    """Bytes that are left on this machine, or in the container if that has less."""
    left = [_of_machine()]
    with suppress(OSError, ValueError):
        limit = int((CGROUP / "memory.max").read_text())
        used = int((CGROUP / "memory.current").read_text())
        left.append(limit - used + _reclaimable())
    return min(left)


def total_memory() -> int:
    """Bytes that this machine has, or the container if that may have less."""
    total = [_of_machine("MemTotal")]
    with suppress(OSError, ValueError):
        total.append(int((CGROUP / "memory.max").read_text()))
    return min(total)


def _of_machine(name: str = "MemAvailable") -> int:
    for line in (PROC / "meminfo").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * KIB
    return 0


def _reclaimable() -> int:
    for line in (CGROUP / "memory.stat").read_text().splitlines():
        if line.startswith("inactive_file "):
            return int(line.split()[1])
    return 0
