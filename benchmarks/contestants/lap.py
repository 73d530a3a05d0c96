"""What every contestant takes and what it reports: the same in all of them, and cheap."""

import json
import resource
import sys
import time
from argparse import ArgumentParser
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Course:
    """The URLs to fetch, the file for the results and the number of requests at once.

    `manner` tells a contestant that runs in several ways which one it is to be.
    """

    urls: list[str]
    out: Path
    concurrency: int
    manner: str = ""


@dataclass(slots=True, weakref_slot=True, eq=False)
class Lap:
    """The clock of one crawl; make it, or restart it, when the set-up is done."""

    started: float = field(default_factory=time.perf_counter)
    pages: int = 0
    errors: int = 0

    def restart(self) -> None:
        self.started = time.perf_counter()

    def report(self) -> None:
        """Print the one line that the runner reads."""
        seconds = time.perf_counter() - self.started
        usage = resource.getrusage(resource.RUSAGE_SELF)
        line = {
            "pages": self.pages,
            "errors": self.errors,
            "seconds": round(seconds, 4),
            "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 4),
            "peak_rss_mb": round(usage.ru_maxrss / 1024, 1),
        }
        sys.stdout.write(json.dumps(line) + "\n")


def read_course() -> Course:
    """The command line of a contestant."""
    parser = ArgumentParser()
    parser.add_argument("--urls", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--concurrency", type=int, required=True)
    parser.add_argument("--manner", default="")
    options = parser.parse_args()
    urls = options.urls.read_text().split()
    return Course(urls, options.out, options.concurrency, options.manner)
