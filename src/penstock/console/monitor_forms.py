"""What was typed into a form: checked as the API checks it, and shown again with what is wrong."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from penstock.console.pages import Form
from penstock.web.errors import ApiError, InvalidRequest

B = TypeVar("B", bound=BaseModel)
#: Where a problem stands that is of no one field.
WHOLE = ""
MOST_NAMES = 500
#: Longer numbers are none that anybody means.
DIGITS = 6


def typed(form: Form, *names: str) -> dict[str, str]:
    """Fields as they were typed."""
    return {name: form.get(name) for name in names}


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """What was filled in; a number is one."""
    found = {name: value for name, value in values.items() if value not in ("", None)}
    if "priority" in found:
        found["priority"] = whole(found["priority"])
    return found


def whole(text: str) -> int | str:
    """A whole number, if it is one: whoever checks it says what is wrong with anything else."""
    digits = text.removeprefix("-")
    return int(text) if digits.isdecimal() and len(digits) <= DIGITS else text


def checked(body: type[B], values: Mapping[str, Any]) -> B:
    """What the API would have been sent; `InvalidRequest` says what is wrong with it."""
    try:
        return body.model_validate(values)
    except ValidationError as error:
        raise InvalidRequest(
            [
                {"field": ".".join(map(str, each["loc"])), "message": each["msg"]}
                for each in error.errors(include_url=False)
            ]
        ) from None


def problems(error: ApiError) -> dict[str, str]:
    """What is wrong, by field."""
    if not isinstance(error, InvalidRequest) or not error.meta:
        return {WHOLE: str(error)}
    return {each["field"]: each["message"] for each in error.meta["errors"]}
