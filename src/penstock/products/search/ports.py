"""The port of search: documents go in, and queries find them.

Every back end finds the same documents in the same order. A document is found by a text if it has
all words of it, in any form, in its name, brand, category and description together.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple, Protocol

from penstock.core.errors import PenstockError

#: More found documents than this are not counted.
MOST_COUNTED = 10_000
MOST_IN_A_PAGE = 100


class SearchLost(PenstockError):
    """The search server does not answer, or not now; the same may succeed later."""


class SearchRefused(PenstockError):
    """The search server does not do what it is asked for, however often; says why."""


class Sort(StrEnum):
    """Orders of what is found; what has no price or no rating comes last."""

    RELEVANCE = "relevance"
    NEWEST = "newest"
    UPDATED = "updated"
    PRICE_ASC = "price_asc"
    PRICE_DESC = "price_desc"
    RATING = "rating"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class Document:
    """A product as it is found; times are milliseconds since 1970."""

    product_id: str
    product_name: str
    domain_name: str
    url: str
    created_at: int
    updated_at: int
    description: str | None = None
    brand: str | None = None
    category: str | None = None
    price: Decimal | None = None
    currency: str | None = None
    availability: str | None = None
    rating: Decimal | None = None
    image_url: str | None = None


@dataclass(frozen=True, slots=True)
class Filters:
    """What a document must have; of several values one, of what is not said anything."""

    price_min: Decimal | None = None
    price_max: Decimal | None = None
    currency: str | None = None
    availability: tuple[str, ...] = ()
    brand: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    domain: tuple[str, ...] = ()
    rating_min: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for; without a sort, by relevance if there is a text, else the newest."""

    text: str = ""
    filters: Filters = Filters()
    sort: Sort | None = None
    cursor: str | None = None
    limit: int = 20

    @property
    def order(self) -> Sort:
        """The order that counts; without a text nothing is more relevant than anything else."""
        if not self.text.strip():
            return Sort.NEWEST if self.sort in (None, Sort.RELEVANCE) else self.sort
        return self.sort or Sort.RELEVANCE


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that was found.

    `score` is for a search by relevance only. `highlights` are HTML, by field: the words that were
    looked for are in `<em>`, and everything else is escaped.
    """

    product_id: str
    score: float | None
    highlights: Mapping[str, str] = field(default_factory=dict)


class Total(NamedTuple):
    """How many documents a query finds; there are more of them than that if `more` says so."""

    number: int
    more: bool


@dataclass(frozen=True, slots=True)
class Found:
    """A page of what a query finds."""

    hits: tuple[Hit, ...]
    next_cursor: str | None
    total: Total


#: Documents in parts, as they are read from the store.
Pages = AsyncIterator[Sequence[Document]]


class SearchIndex(Protocol):
    """Finds documents; a `SearchLost` or a `StoreLost` says that it cannot at the moment."""

    async def prepare(self) -> None:
        """Make what is needed to put documents; what is there stays."""
        ...

    async def put(self, documents: Sequence[Document]) -> None:
        """Keep documents, each instead of the one with its id."""
        ...

    async def remove(self, ids: Sequence[str]) -> None:
        """Forget documents, if they are there."""
        ...

    async def search(self, query: Query) -> Found:
        """A page of documents; raise `InvalidRequest` for a query that makes no sense."""
        ...

    async def rebuild(self, pages: Pages) -> int:
        """Keep these documents and no others, how many; all along, searches find what they did.

        What is put or removed meanwhile may have to be put or removed once more.
        """
        ...

    async def ids(self, after: str, limit: int) -> list[str]:
        """The ids of documents behind one, in order."""
        ...

    async def count(self) -> int:
        """How many documents there are."""
        ...
