"""Penstock as in `penstock fetch --json`: the outcome of every page is written, to a file."""

from typing import TextIO

import orjson
import uvloop

from benchmarks.contestants.lap import Course, Lap, read_course
from benchmarks.contestants.penstock_fetch import Writer, crawl
from penstock.core.log import configure
from penstock.core.memory import prepare_memory
from penstock.kernel.model import Outcome


class DocumentWriter(Writer):
    """Writes what a store would keep of an outcome, too."""

    def __init__(self, out: TextIO, documents: TextIO) -> None:
        super().__init__(out)
        self._documents = documents

    def take(self, outcome: Outcome) -> None:
        self._documents.write(orjson.dumps(outcome.as_json()).decode() + "\n")
        super().take(outcome)


async def crawl_with_documents(course: Course) -> Lap:
    with course.out.with_suffix(".documents").open("w") as documents:
        return await crawl(course, lambda out: DocumentWriter(out, documents))


def main() -> None:
    configure()
    prepare_memory()
    uvloop.run(crawl_with_documents(read_course())).report()


if __name__ == "__main__":
    main()
