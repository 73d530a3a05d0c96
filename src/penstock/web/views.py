"""Rows as callers of an API see them: times in ISO 8601, amounts as text."""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from pydantic import BaseModel

#: Examples for the OpenAPI document.
A_TIME = "2026-03-04T12:00:00.000Z"
AN_ID = "019570c251f07c3a9c1e2f6f0a3b4c5d"


def moment(milliseconds: int | None) -> str | None:
    """A time of the store as ISO 8601 in UTC."""
    if milliseconds is None:
        return None
    at = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def view(model: type[BaseModel], row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with the fields of a model, as plain data."""
    return {name: plain(name, row[name]) for name in model.model_fields}


def plain(name: str, value: Any) -> Any:
    """A value of a row as JSON has it."""
    if name.endswith("_at") and isinstance(value, int):
        return moment(value)
    return f"{value:f}" if isinstance(value, Decimal) else value
