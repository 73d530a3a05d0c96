"""Structured logs: one JSON object a line, nothing secret in it.

Every line has `timestamp`, `level`, `event` and `request_id`. Values under secret-sounding
names, credentials and URL queries are cut out wherever they stand, and JSON escaping keeps
a page or URL from forging a line of its own.
"""

import logging
import re
import sys
from collections.abc import Mapping
from typing import Any, TextIO

import structlog
from structlog.typing import EventDict, WrappedLogger

Logger = structlog.typing.FilteringBoundLogger

REDACTED = "[redacted]"
NO_REQUEST = "-"
MAX_VALUE_LENGTH = 2000
MAX_DEPTH = 6

_SECRET_NAME = re.compile(
    r"authorization|cookie|passw|secret|token|api[-_]?key|service[-_]?key|credential", re.I
)
_CREDENTIALS_IN_URL = re.compile(r"(\w[\w+.-]*://)[^/\s@]+@")
_QUERY_IN_URL = re.compile(r"(\w[\w+.-]*://[^\s?#\"'<>]+\?)[^\s#\"'<>]+")
_AUTHORIZATION_VALUE = re.compile(r"\b(bearer|basic)\s+[\w.~+/=-]+", re.I)


def configure(level: str = "WARNING", stream: TextIO | None = None) -> None:
    """Set up the process's logs; call once, at the start of a command."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _ensure_request_id,
            _redact_event,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level.upper())),
        logger_factory=structlog.PrintLoggerFactory(stream or sys.stderr),
        cache_logger_on_first_use=False,
    )


def get_logger() -> Logger:
    """A logger; cheap, so take one where it is needed."""
    logger: Logger = structlog.get_logger()
    return logger


def redact(value: Any, depth: int = 0) -> Any:
    """The value without what must not be written down: for logs, events and messages."""
    if isinstance(value, str):
        return _redact_text(value)
    if depth >= MAX_DEPTH:
        return REDACTED
    if isinstance(value, Mapping):
        return {
            str(key): REDACTED if _SECRET_NAME.search(str(key)) else redact(item, depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple | set | frozenset):
        return [redact(item, depth + 1) for item in value]
    if isinstance(value, int | float | bool | None):
        return value
    return _redact_text(str(value))


def _redact_text(text: str) -> str:
    text = text[:MAX_VALUE_LENGTH]
    if "://" in text:
        text = _CREDENTIALS_IN_URL.sub(rf"\1{REDACTED}@", text)
        text = _QUERY_IN_URL.sub(rf"\1{REDACTED}", text)
    return _AUTHORIZATION_VALUE.sub(rf"\1 {REDACTED}", text)


def _ensure_request_id(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    event.setdefault("request_id", NO_REQUEST)
    return event


def _redact_event(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    clean: EventDict = redact(event)
    return clean
