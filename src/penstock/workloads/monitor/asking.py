"""What requests to the monitor have in common: who may ask, for how much, and behind which place.

What changes something wants an admin's key, and so does what shows prices that consumers must not
see. Keys of one workspace are for none of it: the monitor belongs to all of the platform.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Path, Query

from penstock.web.errors import Forbidden
from penstock.web.guard import Admin, Reader
from penstock.web.keys import Key

MOST_LISTED = 200
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NOT_OF_A_WORKSPACE = "The monitor is not for keys of one workspace"


async def _onlooker(key: Reader) -> Key:
    if key.workspace_id is not None:
        raise Forbidden(NOT_OF_A_WORKSPACE)
    return key


async def _operator(key: Admin) -> Key:
    if key.workspace_id is not None:
        raise Forbidden(NOT_OF_A_WORKSPACE)
    return key


Onlooker = Annotated[Key, Depends(_onlooker)]
Operator = Annotated[Key, Depends(_operator)]
#: Ids are shown without dashes, and taken with and without.
Id = Annotated[UUID, Path(description="Its id.")]
IdQuery = Annotated[UUID | None, Query()]
Limit = Annotated[int, Query(ge=1, le=MOST_LISTED)]
Word = Annotated[str | None, Query(min_length=1, max_length=200)]
Cursor = Annotated[
    str | None,
    Query(pattern=r"^[0-9a-f]{32}$", description="`meta.next_cursor` of the part before."),
]


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
