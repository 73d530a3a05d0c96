"""Penstock: the whole product, judged; structured data, what is displayed and all."""

from benchmarks.contestants.page_lap import run
from penstock.app import open_reader
from penstock.kernel.model import Page
from penstock.settings import load_settings

READER = open_reader(load_settings())


def read(body: bytes, url: str) -> object:
    page = Page(url, 200, {"Content-Type": "text/html; charset=utf-8"}, body, 0.0)
    return READER.read(page, "product")


if __name__ == "__main__":
    run(read)
