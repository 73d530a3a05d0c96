"""Times one reader on saved pages, in a process of its own: `reader(body, url)` per page."""

import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

TRIES = 3


def run(reader: Callable[[bytes, str], object]) -> None:
    """Read the pages of the manifest named on the command line; print milliseconds for each."""
    lines = Path(sys.argv[1]).read_text().splitlines()
    print(json.dumps([time_page(reader, json.loads(line)) for line in lines]))


def time_page(reader: Callable[[bytes, str], object], line: dict[str, str]) -> float:
    """The best of a few tries: the rest is what else the machine did."""
    body = gzip.decompress(Path(line["path"]).read_bytes())
    best = float("inf")
    for _ in range(TRIES):
        began = perf_counter()
        reader(body, line["url"])
        best = min(best, perf_counter() - began)
    return best * 1000
