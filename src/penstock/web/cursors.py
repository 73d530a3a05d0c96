"""Cursors: where the next part of a list begins. They are ids, which nobody needs to know."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import Query

Cursor = Annotated[
    str | None,
    Query(pattern=r"^[0-9a-f-]{36}$", description="`meta.next_cursor` of the part before."),
]


def one_page(rows: Sequence[Mapping[str, Any]], limit: int) -> tuple[list[Any], dict[str, Any]]:
    """Rows of which one more than `limit` was asked for: those to show, and the meta of them."""
    shown = list(rows[:limit])
    has_more = len(rows) > limit
    return shown, {"limit": limit, "next_cursor": shown[-1]["id"] if has_more else None}
