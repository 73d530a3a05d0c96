"""Who may ask the crawler, and for what.

Whatever steers it wants an admin's key that is not one of a workspace alone. Products are for
everybody who may read.
"""

from typing import Annotated

from fastapi import Depends, Path, Query

from penstock.web.asking import of_no_workspace
from penstock.web.guard import Admin
from penstock.web.keys import Key

#: What a domain can be called, by name or id; others there are none of.
_NAME = r"^[!-~]+$"


async def _operator(key: Admin) -> Key:
    return of_no_workspace(key, "The crawler is")


Operator = Annotated[Key, Depends(_operator)]
DomainName = Annotated[
    str | None,
    Query(min_length=1, max_length=255, pattern=_NAME, description="A domain, by name or id."),
]
DomainPath = Annotated[
    str,
    Path(min_length=1, max_length=255, pattern=_NAME, description="A domain, by name or id."),
]
DomainCursor = Annotated[
    str | None,
    Query(max_length=255, pattern=_NAME, description="`meta.next_cursor` of the part before."),
]
