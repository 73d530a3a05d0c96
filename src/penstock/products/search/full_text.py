"""How the two engines of the store find documents by their tokens."""

from dataclasses import dataclass
from typing import Protocol

from sqlalchemy import (
    Column,
    ColumnElement,
    FromClause,
    Integer,
    Text,
    and_,
    cast,
    column,
    func,
    or_,
    table,
    true,
    type_coerce,
)
from sqlalchemy.dialects.postgresql import TSQUERY

from penstock.products.search.plan import Groups, Match
from penstock.products.search.tables import FULL_TEXT, product_search

_fts = table(FULL_TEXT, column("rowid", Integer), column(FULL_TEXT))


@dataclass(frozen=True, slots=True)
class Drawn:
    """Where rows come from, which of them, and the column with their place."""

    origin: FromClause
    where: ColumnElement[bool]
    place: ColumnElement[int] | Column[int]


class FullText(Protocol):
    """What an engine knows of tokens."""

    #: Whether what has some tokens comes in the order of its places, without being sorted.
    is_ordered: bool

    def draw(self, match: Match, *, with_row: bool) -> Drawn:
        """What has some tokens; with the row of `product_search` if it is needed."""
        ...

    def check(self, match: Match) -> ColumnElement[bool]:
        """Whether a row of `product_search` has some tokens."""
        ...


class Fts5:
    """SQLite: a full-text table whose row numbers are the places."""

    is_ordered = True

    def draw(self, match: Match, *, with_row: bool) -> Drawn:
        if not match:
            return Drawn(product_search, true(), product_search.c.place)
        origin = _fts.join(product_search, product_search.c.place == _fts.c.rowid)
        return Drawn(origin if with_row else _fts, _matches(match), _fts.c.rowid)

    def check(self, match: Match) -> ColumnElement[bool]:
        """By the text of the tokens: to ask the full-text table for one row takes much longer."""
        wanted = [_has_all(match.groups), *(~_has_all(groups) for groups in match.unless)]
        return and_(*wanted)


class TextSearch:
    """PostgreSQL: a column of lexemes with an index."""

    is_ordered = False

    def draw(self, match: Match, *, with_row: bool) -> Drawn:
        del with_row
        return Drawn(product_search, self.check(match), product_search.c.place)

    def check(self, match: Match) -> ColumnElement[bool]:
        if not match:
            return true()
        wanted = [_all(match.groups, "'", "&", "|")]
        wanted += [f"!({_all(groups, chr(39), '&', '|')})" for groups in match.unless]
        found: ColumnElement[bool] = product_search.c.words.op("@@", is_comparison=True)(
            cast(" & ".join(wanted), TSQUERY)
        )
        return found


def full_text_of(engine: str) -> FullText:
    """What `sqlite` or `postgresql` knows."""
    return Fts5() if engine == "sqlite" else TextSearch()


def _matches(match: Match) -> ColumnElement[bool]:
    unless = "".join(f" NOT ({_all(groups, chr(34), 'AND', 'OR')})" for groups in match.unless)
    wanted = f"({_all(match.groups, chr(34), 'AND', 'OR')}){unless}"
    found: ColumnElement[bool] = _fts.c[FULL_TEXT].op("MATCH", is_comparison=True)(wanted)
    return found


def _has_all(groups: Groups) -> ColumnElement[bool]:
    words = type_coerce(product_search.c.words, Text)
    held = [or_(*(func.instr(words, f" {token} ") > 0 for token in group)) for group in groups]
    return and_(true(), *held)


def _all(groups: Groups, quote: str, both: str, either: str) -> str:
    """Groups in the language of an engine; in a token nothing has a meaning there."""
    return f" {both} ".join(
        "(" + f" {either} ".join(f"{quote}{token}{quote}" for token in group) + ")"
        for group in groups
    )
