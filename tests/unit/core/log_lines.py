"""Logs as a reader of them sees them: configured like a command does, one parsed line each."""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import structlog

from penstock.core import log


class LogLines:
    """What was written while the logs were captured."""

    def __init__(self) -> None:
        self.stream = io.StringIO()

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    def parsed(self) -> list[dict[str, Any]]:
        """Every line as strict JSON, which knows neither NaN nor Infinity."""
        lines = self.text.removesuffix("\n").split("\n") if self.text else []
        return [json.loads(line, parse_constant=_refuse) for line in lines]

    def forget(self) -> None:
        """Look only at what is written from now on."""
        self.stream.seek(0)
        self.stream.truncate()

    def only(self) -> dict[str, Any]:
        """The one line that was written."""
        (line,) = self.parsed()
        return line


@contextmanager
def captured_logs(level: str = "DEBUG", form: log.Form = "json") -> Iterator[LogLines]:
    lines = LogLines()
    log.configure(level, lines.stream, form)
    try:
        yield lines
    finally:
        structlog.reset_defaults()


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
