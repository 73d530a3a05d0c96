"""Processes as /proc shows them: who belongs to a browser, what memory it takes, how to end it."""

import os
import signal
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")
CGROUP = Path("/sys/fs/cgroup")
KIB = 1024
PAGE_SIZE = os.sysconf("SC_PAGE_SIZE")


def find_marked(mark: str) -> int | None:
    """The process that was started with an argument."""
    pids = (int(folder.name) for folder in PROC.iterdir() if folder.name.isdigit())
    return next((pid for pid in pids if is_marked(pid, mark)), None)


def is_marked(pid: int, mark: str) -> bool:
    """Whether a process was started with an argument; a number may be another's by now."""
    with suppress(OSError):
        return mark.encode() in (PROC / str(pid) / "cmdline").read_bytes().split(b"\0")
    return False


def started_at(pid: int) -> str:
    """When a process was started, in ticks since the machine was; empty if there is none."""
    with suppress(OSError, IndexError):
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[19]
    return ""


def family_of(pid: int) -> list[int]:
    """A process and all below it."""
    family = [pid]
    for member in family:
        with suppress(OSError):
            for file in (PROC / str(member) / "task").glob("*/children"):
                family += map(int, file.read_text().split())
    return family


def memory_of(pid: int) -> int:
    """Bytes that a process and all below it take; what they share is counted once."""
    return sum(_proportional(member) for member in family_of(pid))


def _proportional(pid: int) -> int:
    folder = PROC / str(pid)
    try:
        for line in (folder / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * KIB
    except PermissionError:
        # Sandboxed processes may hide it from their own user: at least what is theirs alone.
        with suppress(OSError, ValueError):
            _, resident, shared, *_ = map(int, (folder / "statm").read_text().split())
            return (resident - shared) * PAGE_SIZE
    except (OSError, ValueError):
        pass
    return 0


def kill_family(pid: int) -> None:
    """End a process and all below it at once; frozen ones, too."""
    for member in family_of(pid):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(member, signal.SIGKILL)


def free_memory() -> int:
    """Bytes that are left on this machine, or in the container if that has less."""
    left = [_of_machine()]
    with suppress(OSError, ValueError):
        limit = int((CGROUP / "memory.max").read_text())
        used = int((CGROUP / "memory.current").read_text())
        left.append(limit - used + _reclaimable())
    return min(left)


def _of_machine() -> int:
    for line in (PROC / "meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * KIB
    return 0


def _reclaimable() -> int:
    for line in (CGROUP / "memory.stat").read_text().splitlines():
        if line.startswith("inactive_file "):
            return int(line.split()[1])
    return 0
