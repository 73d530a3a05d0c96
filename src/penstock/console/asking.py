"""What visitors ask for and send, as services take it: the bodies of the API check it."""

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from penstock.console.pages import Ask
from penstock.store.schema import storable
from penstock.web.errors import InvalidRequest, NotFound
from penstock.web.problems import field_problems

E = TypeVar("E", bound=StrEnum)
B = TypeVar("B", bound=BaseModel)
LONGEST_WORD, LONGEST_NUMBER = 200, 18
ANSWERS = {"yes": True, "no": False}
_ID = re.compile(r"[0-9a-f]{32}")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")


def cursor(ask: Ask) -> str | None:
    """Where a list goes on, behind the id of the last one seen; None at its begin."""
    after = ask.get("after")
    return after if _ID.fullmatch(after) else None


def an_id(text: str, what: str) -> str:
    """An id of the store; there is nothing with any other."""
    if not _ID.fullmatch(text):
        raise NotFound(f"There is no such {what}")
    return text


def word(text: str) -> str | None:
    """Some text, as the store takes it; None without any."""
    return storable(text)[:LONGEST_WORD] or None


def one_of(kind: type[E], text: str) -> E | None:
    """One of some words; None for any other."""
    return kind(text) if text in {each.value for each in kind} else None


def truth(text: str) -> bool | None:
    """Yes or no; None for anything else."""
    return ANSWERS.get(text)


def number(text: str) -> int | float | str | None:
    """A number as a body takes it; what is none stays text, so that the body says so."""
    if not text:
        return None
    if not _NUMBER.fullmatch(text) or len(text) > LONGEST_NUMBER:
        return text
    return float(text) if "." in text else int(text)


def filled(body: type[B], values: Mapping[str, Any]) -> B:
    """A body of the API; raise `InvalidRequest`, which names the fields. None is not said."""
    try:
        return body.model_validate(
            {name: each for name, each in values.items() if each is not None}
        )
    except ValidationError as error:
        raise InvalidRequest(field_problems(error.errors(include_input=False))) from None


def problems_of(error: InvalidRequest) -> dict[str, str]:
    """What is wrong, by field; what is wrong with the whole has no name."""
    found: dict[str, str] = {}
    for field, message in _said(error):
        name = field.partition(".")[0]
        found[name] = f"{found[name]}; {message}" if name in found else message
    return found


def _said(error: InvalidRequest) -> Iterator[tuple[str, str]]:
    for each in (error.meta or {}).get("errors", []):
        yield each["field"], each["message"]
