"""What commands print: people on a terminal, JSON for programs."""

import json
import sys
from collections.abc import Collection, Mapping, Sequence
from enum import IntEnum
from typing import Any

import orjson
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

CONTROL = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}
#: Halves of characters, which no encoding of a terminal has bytes for.
HALVES = {code: f"\\u{code:04x}" for code in range(0xD800, 0xE000)}
UNSAFE = {**CONTROL, **HALVES}


class ExitCode(IntEnum):
    """How a command ended."""

    OK = 0
    TROUBLE = 1
    USAGE = 2
    INTERRUPTED = 130


def stdout() -> Console:
    """The console for results."""
    return Console(file=sys.stdout, highlight=False, soft_wrap=True)


def stderr() -> Console:
    """The console for progress and complaints."""
    return Console(file=sys.stderr, highlight=False, soft_wrap=True)


def complain(message: str) -> None:
    """Say what is wrong, in one line, where results do not go."""
    stderr().print(Text.assemble(("error: ", "bold red"), safe(message)))


def safe(text: str) -> str:
    """Text from outside, unable to move the cursor or colour the terminal."""
    return text.translate(UNSAFE)


def write_json(value: Mapping[str, Any]) -> None:
    """One object on one line of standard output."""
    sys.stdout.buffer.write(to_line(value))


def to_line(value: Mapping[str, Any]) -> bytes:
    """One object on one line."""
    try:
        return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        # Half of a character, from a page or a file name: JSON has an escape for it.
        return json.dumps(value).encode() + b"\n"


def print_table(
    title: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    whole: Collection[str] = (),
) -> None:
    """A table for people; what stands under the headings of `whole` is never folded."""
    # Folded, not cut: a URL without its end is of no use.
    columns = (
        Column(Text(heading), overflow="fold", no_wrap=heading in whole) for heading in headings
    )
    table = Table(*columns, title=title, title_justify="left", header_style="bold", box=None)
    for row in rows:
        # As text: what a page says in brackets is no markup of ours.
        table.add_row(*(Text(safe(cell)) for cell in row))
    stdout().print(table)
