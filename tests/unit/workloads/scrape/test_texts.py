"""Readable texts: found by processes of their own, within bounds."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from penstock.workloads.scrape.readable import MOST_SEARCHED, texts_of
from penstock.workloads.scrape.texts import TextMakers, TextTooSlow

URL = "http://shop01.test/"
ARTICLE = (
    "<!doctype html><html><head><title>Lamps</title></head><body><nav>Menu</nav><article>"
    "<h1>About lamps</h1><p>All our lamps are made by hand, and they last for many years.</p>"
    "<h2>Care</h2><p>Dust them <b>once a week</b> with a dry cloth, and never with water.</p>"
    "<p>Bulbs are replaced by our own people, who come to your house for a small fee.</p>"
    "</article></body></html>"
)
#: Takes the library seconds.
ENDLESS = "".join(
    f"<div><h2>{n}</h2><p>Some <a href='/{n}'>text</a></p></div>" for n in range(15_000)
)


@pytest.fixture
async def texts() -> AsyncIterator[TextMakers]:
    async with TextMakers(seconds=10, processes=1) as texts:
        yield texts


def children() -> list[int]:
    lists = Path("/proc/self/task").glob("*/children")
    return [int(pid) for file in lists for pid in file.read_text().split()]


async def test_text_and_markdown_of_a_page_are_found(texts: TextMakers) -> None:
    found = await texts.make(ARTICLE, URL, ["text", "markdown"])

    assert found["markdown"].startswith("# About lamps")
    assert "made by hand" in found["text"]


async def test_a_page_that_takes_too_long_is_given_up_and_the_next_is_not() -> None:
    assert len(ENDLESS) < MOST_SEARCHED
    async with TextMakers(seconds=0.5, processes=1) as texts:
        with pytest.raises(TextTooSlow):
            await texts.make(ENDLESS, URL, ["text"])

        assert await texts.make(ARTICLE, URL, ["text"])


async def test_a_text_costs_this_process_next_to_nothing(texts: TextMakers) -> None:
    before = time.process_time()
    found = await texts.make(ENDLESS[:200_000], URL, ["text"])

    assert found["text"]
    assert time.process_time() - before < 0.2


async def test_a_process_that_dies_is_replaced(texts: TextMakers) -> None:
    before = set(children())
    await texts.make(ARTICLE, URL, ["text"])
    (maker,) = set(children()) - before
    os.kill(maker, signal.SIGKILL)
    with pytest.raises(TextTooSlow):
        await texts.make(ARTICLE, URL, ["text"])

    assert await texts.make(ARTICLE, URL, ["text"])


async def test_nothing_is_left_behind() -> None:
    before = set(children())
    async with TextMakers(seconds=10) as texts:
        await asyncio.gather(*(texts.make(ARTICLE, URL, ["text"]) for _ in range(3)))
        assert len(set(children()) - before) == 2

    assert set(children()) - before == set()


def test_of_a_very_long_page_all_text_is_taken_as_it_stands() -> None:
    page = f"<script>no()</script><p>First</p>{ENDLESS * 2}<p>Last</p>"

    found = texts_of(page, URL, ["text", "markdown"])

    assert found["text"].startswith("First\n0\nSome text\n1\nSome text")
    assert found["text"].endswith("Last")
    assert found["markdown"] == found["text"]
