"""Runs a command and tells what it took with all its children.

    python -m benchmarks.tree REPORT COMMAND...

CPU is exact: who loses its parent becomes a child of ours and is waited for. Memory is looked at
several times a second; what processes share is counted once.
"""

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

from penstock.kernel.fetchers.browser.processes import family_of, memory_of

PR_SET_CHILD_SUBREAPER = 36
LOOK_SECONDS = 0.25
ORPHAN_SECONDS = 5.0
MIB = 1024 * 1024


def main(report: Path, command: list[str]) -> int:
    """The command's exit code; the report is written when all its children are gone, too."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    process = subprocess.Popen(command)
    peak = watch(process)
    end_orphans()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = {"cpu_seconds": usage.ru_utime + usage.ru_stime, "peak_mb": peak / MIB}
    report.write_text(json.dumps(found))
    return process.returncode


def watch(process: "subprocess.Popen[bytes]") -> int:
    """The most bytes that were seen until the command ended."""
    peak, ended = 0, Event()

    def look() -> None:
        nonlocal peak
        while not ended.wait(LOOK_SECONDS):
            peak = max(peak, memory_of(process.pid))

    looking = Thread(target=look)
    looking.start()
    process.wait()
    ended.set()
    looking.join()
    return peak


def end_orphans() -> None:
    """Wait for whoever outlived the command, and kill who takes too long."""
    deadline = time.monotonic() + ORPHAN_SECONDS
    with suppress(ChildProcessError):
        while True:
            if not os.waitpid(-1, os.WNOHANG)[0]:
                time.sleep(0.02)
            if time.monotonic() > deadline:
                for pid in family_of(os.getpid())[1:]:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
