"""What requests have in common: ids, times, and lists that come in parts.

Ids are shown without dashes, and taken with and without. A list is asked for one row more than is
shown: then it is known whether there are more.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any
from uuid import UUID

from fastapi import Path, Query
from pydantic import BeforeValidator

from penstock.web.bodies import as_date
from penstock.web.errors import Forbidden
from penstock.web.keys import Key

MOST_LISTED = 200
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Id = Annotated[UUID, Path(description="Its id.")]
IdQuery = Annotated[UUID | None, Query()]
Limit = Annotated[int, Query(ge=1, le=MOST_LISTED)]
Word = Annotated[str | None, Query(min_length=1, max_length=200)]
Cursor = Annotated[
    str | None,
    Query(pattern=r"^[0-9a-f]{32}$", description="`meta.next_cursor` of the part before."),
]
Time = Annotated[
    datetime | None,
    BeforeValidator(as_date),
    Query(description="ISO 8601; without a zone it is UTC."),
]


def of_no_workspace(key: Key, what: str) -> Key:
    """A key that is not one of a workspace alone: `what` belongs to all of the platform."""
    if key.workspace_id is not None:
        raise Forbidden(f"{what} not for keys of one workspace")
    return key


def hex_of(identity: UUID | None) -> str | None:
    """An id as the store has it."""
    return identity.hex if identity else None


def one_page(
    rows: Sequence[Mapping[str, Any]], limit: int, name: str = "id"
) -> tuple[list[Mapping[str, Any]], dict[str, Any]]:
    """Rows of which one more than `limit` was asked for: those to show, and the meta of them."""
    shown = list(rows[:limit])
    has_more = len(rows) > limit
    return shown, {"limit": limit, "next_cursor": shown[-1][name] if has_more else None}


def milliseconds(at: datetime | None) -> int | None:
    """A time as the store has it; one without a zone is UTC."""
    if at is None:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return (at - EPOCH) // timedelta(milliseconds=1)
