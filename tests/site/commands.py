"""Penstock's commands, run as a person would who watches the demo."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

PENSTOCK = Path(sys.executable).with_name("penstock")


async def run(arguments: list[str], settings: Mapping[str, str]) -> AsyncIterator[dict[str, Any]]:
    """The lines of a penstock command, as they come."""
    process = await start(arguments, settings)
    assert process.stdout
    async for line in process.stdout:
        yield json.loads(line)
    await process.wait()


async def start(
    arguments: list[str], settings: Mapping[str, str], *, stderr: int | None = None
) -> asyncio.subprocess.Process:
    """A penstock command that runs; what it prints can be read."""
    return await asyncio.create_subprocess_exec(
        PENSTOCK,
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=stderr,
        env={**os.environ, **settings},
    )


async def output_of(arguments: list[str], settings: Mapping[str, str]) -> tuple[int, str]:
    """The exit code of a penstock command, and what it printed."""
    process = await start(arguments, settings)
    out, _ = await process.communicate()
    return process.returncode or 0, out.decode()
