"""extruct: structured data in every syntax it knows, as its manual calls it."""

import extruct

from benchmarks.contestants.page_lap import run


def read(body: bytes, url: str) -> object:
    return extruct.extract(body.decode("utf-8", "replace"), base_url=url, errors="ignore")


if __name__ == "__main__":
    run(read)
