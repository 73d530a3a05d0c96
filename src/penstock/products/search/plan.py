"""How a query is answered: from one segment after the other.

A segment is a part of what is found that comes before the next part: the exact title before all
words in the name before all words in the head; what has a price before what has none. Inside of a
segment one column orders, and then `place`. So where a page ends is a segment, a value and a place,
and the next page begins right there, however many documents came or went before it.
"""

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import NamedTuple

from penstock.products.search.analysis import (
    ANYWHERE,
    AVAILABILITY,
    BRAND,
    CATEGORY,
    CURRENCY,
    DOMAIN,
    IN_HEAD,
    IN_NAME,
    title_token,
    value_token,
    wanted_words,
    words_of,
)
from penstock.products.search.ports import MOST_IN_A_PAGE, Filters, Query, Sort
from penstock.web.errors import invalid

LONGEST_QUERY, MOST_WORDS_WANTED = 500, 32
MOST_VALUES, LONGEST_VALUE = 50, 500
LARGEST_PRICE, LARGEST_RATING = Decimal("99999999.99"), Decimal("9.99")
SMALLEST = Decimal("0.01")

#: One of the tokens of a group is enough; all groups count.
Groups = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Match:
    """Tokens that a document has, and ones that it must not have all of."""

    groups: Groups = ()
    unless: tuple[Groups, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.groups)


@dataclass(frozen=True, slots=True)
class Ranges:
    """Numbers that a document has at least or at most."""

    price_min: Decimal | None = None
    price_max: Decimal | None = None
    rating_min: Decimal | None = None

    def __bool__(self) -> bool:
        return self != Ranges()


@dataclass(frozen=True, slots=True)
class Segment:
    """Documents that come together: what they match, and the column that orders them.

    Without a column `place` alone orders. `lacks` names a column that is empty in all of them.
    """

    match: Match
    column: str | None = None
    descending: bool = False
    lacks: str | None = None
    score: float | None = None


class Position(NamedTuple):
    """Where a page ends: the number of the segment, the value in its column, and the place."""

    segment: int
    value: int | str | None
    place: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What a query asks of a back end."""

    base: Match
    ranges: Ranges
    segments: tuple[Segment, ...]
    #: What to mark in what is found.
    stems: frozenset[str]


#: Columns of the sorts, whether the largest comes first, and whether it may be empty.
COLUMNS = {
    Sort.NEWEST: ("created_at", True, False),
    Sort.UPDATED: ("updated_at", True, False),
    Sort.PRICE_ASC: ("price", False, True),
    Sort.PRICE_DESC: ("price", True, True),
    Sort.RATING: ("rating", True, True),
    Sort.NAME: ("sort_name", False, False),
}


def plan_of(query: Query) -> Plan:
    """How to answer a query; raise `InvalidRequest` for one that makes no sense."""
    _check(query)
    stems = [word.stem for word in wanted_words(query.text)]
    if len(stems) > MOST_WORDS_WANTED:
        raise invalid("q", f"must have at most {MOST_WORDS_WANTED} words")
    filters = _filter_groups(query)
    base = Match((*filters, *all_of(ANYWHERE, stems)))
    ranges = _ranges(query.filters)
    if query.text.strip() and not stems:
        segments: tuple[Segment, ...] = ()
    elif query.order is Sort.RELEVANCE:
        segments = _by_relevance(query.text, stems, filters)
    else:
        segments = _by_column(query.order, base)
    return Plan(base, ranges, segments, frozenset(stems))


def all_of(where: str, stems: list[str]) -> Groups:
    """Groups of documents that have every stem somewhere."""
    return tuple((where + stem,) for stem in stems)


def any_of(where: str, stems: list[str]) -> Groups:
    """Groups of documents that have one of the stems somewhere."""
    return (tuple(where + stem for stem in stems),)


def _by_relevance(text: str, stems: list[str], filters: Groups) -> tuple[Segment, ...]:
    title: Groups = ((title_token(words_of(text)),),)
    grades = [title, all_of(IN_NAME, stems), all_of(IN_HEAD, stems)]
    if len(stems) > 1:
        # For one word they are the same as the two above.
        grades += [any_of(IN_NAME, stems), any_of(IN_HEAD, stems)]
    grades.append(())
    base = (*filters, *all_of(ANYWHERE, stems))
    return tuple(
        Segment(Match((*base, *grade), tuple(grades[:number])), score=1 - number / len(grades))
        for number, grade in enumerate(grades)
    )


def _by_column(sort: Sort, base: Match) -> tuple[Segment, ...]:
    column, descending, may_lack = COLUMNS[sort]
    segments = (Segment(base, column, descending),)
    return (*segments, Segment(base, lacks=column)) if may_lack else segments


def _filter_groups(query: Query) -> Groups:
    chosen = query.filters
    fields = {
        BRAND: chosen.brand,
        CATEGORY: chosen.category,
        DOMAIN: chosen.domain,
        AVAILABILITY: chosen.availability,
        CURRENCY: (chosen.currency,) if chosen.currency is not None else (),
    }
    return tuple(
        tuple(sorted({value_token(field, value) for value in values}))
        for field, values in fields.items()
        if values
    )


def _ranges(filters: Filters) -> Ranges:
    """The ranges in the digits that prices and ratings have."""
    return Ranges(
        _rounded(filters.price_min, ROUND_CEILING),
        _rounded(filters.price_max, ROUND_FLOOR),
        _rounded(filters.rating_min, ROUND_CEILING),
    )


def _rounded(number: Decimal | None, rounding: str) -> Decimal | None:
    return None if number is None else number.quantize(SMALLEST, rounding)


def _check(query: Query) -> None:
    if not 1 <= query.limit <= MOST_IN_A_PAGE:
        raise invalid("limit", f"must be between 1 and {MOST_IN_A_PAGE}")
    if len(query.text) > LONGEST_QUERY:
        raise invalid("q", f"must have at most {LONGEST_QUERY} characters")
    for name in ("brand", "category", "domain", "availability"):
        _check_values(name, getattr(query.filters, name))
    _check_number("price_min", query.filters.price_min, LARGEST_PRICE)
    _check_number("price_max", query.filters.price_max, LARGEST_PRICE)
    _check_number("rating_min", query.filters.rating_min, LARGEST_RATING)


def _check_values(name: str, values: tuple[str, ...]) -> None:
    if len(values) > MOST_VALUES:
        raise invalid(name, f"must be at most {MOST_VALUES} values")
    if any(len(value) > LONGEST_VALUE for value in values):
        raise invalid(name, f"must have at most {LONGEST_VALUE} characters")


def _check_number(name: str, number: Decimal | None, largest: Decimal) -> None:
    if number is not None and not (number.is_finite() and 0 <= number <= largest):
        raise invalid(name, f"must be between 0 and {largest}")
