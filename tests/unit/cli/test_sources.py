"""Reading URLs from a pipe."""

import asyncio

import pytest

from penstock.cli.sources import TOO_LONG, read_line


@pytest.mark.parametrize("chunk", [1, 7, 16, 64, 1000])
@pytest.mark.parametrize("length", [9, 10, 11, 40, 200])
async def test_overlong_line_takes_no_other_with_it(chunk: int, length: int) -> None:
    reader = asyncio.StreamReader(limit=10)
    data = b"one\n" + b"x" * length + b"\ntwo\nthree"
    reading = asyncio.create_task(read_all(reader))
    for start in range(0, len(data), chunk):
        reader.feed_data(data[start : start + chunk])
        await asyncio.sleep(0)
    reader.feed_eof()

    first, second, *others = await reading
    assert first == b"one\n"
    assert second in (TOO_LONG, b"x" * length + b"\n")
    assert (second == TOO_LONG) is (length > 10)
    assert others == [b"two\n", b"three"]


async def read_all(reader: asyncio.StreamReader) -> list[bytes]:
    lines = []
    while line := await read_line(reader):
        lines.append(line)
    return lines
