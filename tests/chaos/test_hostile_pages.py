"""Whatever a page does to stall or fill a parser, every adapter is soon done with it.

The adapters run in a process of their own (this file, as a program) with little memory.
"""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.extract.adapters import ADAPTERS
from penstock.extract.page.document import Document
from tests.unit.extract.page.test_taming import BOMBS

ROOT = Path(__file__).resolve().parents[2]
MEMORY = 2 * 1024**3
SECONDS = 60
URL = "https://shop.example/product/1"

#: What stands before a bomb, so that adapters look further than at an empty page.
HEAD = (
    '<html lang="en"><head><title>Lamp</title>'
    '<script type="application/ld+json">{"@type": "Product", "name": "Lamp"}</script></head>'
    '<body itemscope itemtype="http://schema.org/Product"><h1 itemprop="name">Lamp</h1>'
)


@pytest.mark.timeout(SECONDS + 30)
def test_every_adapter_survives_every_bomb_in_bounded_time_and_memory() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "tests.chaos.test_hostile_pages"],
        cwd=ROOT,
        timeout=SECONDS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-500:] + run.stderr[-2000:]
    assert run.stdout.count("\n") == len(BOMBS) * len(ADAPTERS)


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for name, make in BOMBS.items():
        text = HEAD + make()
        for adapter in ADAPTERS:
            extraction = adapter.read(Document(text, URL))
            print(name, adapter.id, extraction.reason, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
