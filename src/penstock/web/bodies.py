"""What the bodies of requests have in common."""

import re
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from penstock.core.urls import MAX_URL_LENGTH

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Body(BaseModel):
    """What is sent; names that are not known are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def as_date(value: Any) -> Any:
    """A date and time as text: a number could be seconds or milliseconds."""
    if isinstance(value, datetime) or (isinstance(value, str) and _DATE.match(value)):
        return value
    raise ValueError("must be a date and time")


def _as_number(value: Any) -> Any:
    if isinstance(value, str | bool):
        raise ValueError("must be a number")
    return value


def named(what: str) -> Any:
    """The name of something; `what` says in the document of which kind."""
    return Field(min_length=1, max_length=200, json_schema_extra={"format": what})


Id = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
Address = Annotated[
    str,
    Field(min_length=1, max_length=MAX_URL_LENGTH, json_schema_extra={"format": "uri"}),
]
AdapterName = Annotated[str, named("adapter")]
Domain = Annotated[str, named("domain")]
Moment = Annotated[datetime, BeforeValidator(as_date)]
#: Makes of an `int` a number as JSON has it, 10.0 too, but no text and no truth value. Bounds come
#: before it: else the document does not know of them.
JSON_NUMBER = BeforeValidator(_as_number)
Number = Annotated[int, JSON_NUMBER]
