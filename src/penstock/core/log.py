"""Structured logs: one JSON object a line, nothing secret in it.

Every line has `timestamp`, `level`, `event` and `request_id`. Values under secret-sounding
names, credentials and URL queries are cut out wherever they stand, and JSON escaping keeps
a page or URL from forging a line of its own. Who reads them without a machine may have plain
lines instead, of which the same holds.
"""

import json
import logging
import math
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TextIO

import structlog
from structlog.typing import EventDict, WrappedLogger

Logger = structlog.typing.FilteringBoundLogger
#: JSON for machines, or lines for people.
Form = Literal["json", "lines"]

REDACTED = "[redacted]"
NO_REQUEST = "-"
MAX_VALUE_LENGTH = 2000
MAX_DEPTH = 6

_SECRET_NAME = re.compile(
    r"authorization|cookie|passw|passphrase|pwd|secret|token|credential|signature|session[-_]?id"
    r"|(api|service|private)[-_]?key",
    re.I,
)
#: Browsers read `https:/user:password@host` and `https:\\…` as URLs, so one slash is enough.
_CREDENTIALS_IN_URL = re.compile(r"(:[/\\]*)[^\s/\\?#]*@")
_CUT_CREDENTIALS = re.compile(r"(:[/\\]*)[^\s/\\?#]*$")
#: What follows a user's colon and is no port is a password, whatever stands in it.
_UP_TO_HOST = r"(:[/\\]+)[^\s/\\?#:@\[]*:(?!\d+[/\\?#])\S*"
_PASSWORD_IN_URL = re.compile(rf"{_UP_TO_HOST}@")
_CUT_PASSWORD = re.compile(rf"{_UP_TO_HOST}$")
_QUERY_IN_URL = re.compile(r"(:[/\\]+[^\s?#]*[?#])\S+")
#: A value that is a URL may have spaces in its query.
_QUERY_OF_URL = re.compile(r"\A(\s*[a-z][a-z0-9+.-]*:[/\\]+[^?#]*[?#]).+", re.I | re.S)
_AUTHORIZATION_VALUE = re.compile(r"\b(bearer|basic)\s+\S+", re.I)
#: What stands for itself in a line for people.
_WORD = re.compile(r'[^\s"=]+')
_SECRET_HEADER = re.compile(r"((?:authorization|cookie)[\"']?\s*[:=]\s*)[^\r\n]+", re.I)


def configure(level: str = "WARNING", stream: TextIO | None = None, form: Form = "json") -> None:
    """Set up the process's logs; call once, at the start of a command."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _ensure_request_id,
            _redact_event,
            structlog.processors.JSONRenderer() if form == "json" else _as_line,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level.upper())),
        # Standard error may be another by the time something is logged.
        logger_factory=lambda *_: structlog.PrintLogger(stream or sys.stderr),
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
            _redact_text(str(key)): REDACTED if _is_secret(key) else redact(item, depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return _redact_sequence(value, depth)
    if isinstance(value, set | frozenset):
        return [redact(item, depth + 1) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        # JSON has no word for it.
        return str(value)
    if isinstance(value, int | float | bool | None):
        return value
    return _redact_text(str(value))


def _is_secret(name: object) -> bool:
    return _SECRET_NAME.search(str(name)) is not None


def _redact_sequence(values: Sequence[Any], depth: int) -> list[Any]:
    """Headers come as pairs of name and value, too."""
    match values:
        case [str() as name, _] if _is_secret(name):
            return [_redact_text(name), REDACTED]
    return [redact(value, depth + 1) for value in values]


def _redact_text(text: str) -> str:
    if len(text) > MAX_VALUE_LENGTH:
        text = _CUT_PASSWORD.sub(rf"\1{REDACTED}", text[:MAX_VALUE_LENGTH])
        text = _CUT_CREDENTIALS.sub(rf"\1{REDACTED}", text)
    if ":" in text:
        text = _PASSWORD_IN_URL.sub(rf"\1{REDACTED}@", text)
        text = _CREDENTIALS_IN_URL.sub(rf"\1{REDACTED}@", text)
        text = _QUERY_OF_URL.sub(rf"\1{REDACTED}", text)
        text = _QUERY_IN_URL.sub(rf"\1{REDACTED}", text)
    text = _SECRET_HEADER.sub(rf"\1{REDACTED}", text)
    return _AUTHORIZATION_VALUE.sub(rf"\1 {REDACTED}", text)


def _ensure_request_id(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    event.setdefault("request_id", NO_REQUEST)
    return event


def _redact_event(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    clean: EventDict = redact(event)
    return clean


def _as_line(_: WrappedLogger, __: str, event: EventDict) -> str:
    """A line for people; a traceback follows it, moved in, so that nothing passes for a line."""
    start = f"{event.pop('timestamp')} {event.pop('level'):<8} {_one_line(event.pop('event'))}"
    trace = str(event.pop("exception", "")).splitlines()
    rest = (f"{_word(name)}={_word(value)}" for name, value in event.items())
    return "\n    ".join([" ".join([start, *rest]), *map(_one_line, trace)])


def _one_line(value: Any) -> str:
    return value if isinstance(value, str) and value.isprintable() else json.dumps(value)


def _word(value: Any) -> str:
    is_word = isinstance(value, str) and _WORD.fullmatch(value) and value.isprintable()
    return value if is_word else json.dumps(value)
