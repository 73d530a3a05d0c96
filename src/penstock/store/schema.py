"""What all tables share: one metadata, and column types that are alike on both engines.

Times are milliseconds since 1970. Text loses what PostgreSQL refuses (NUL, halves of
characters); JSON loses NaN; whole numbers beyond 64 bits are refused by both engines alike.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

import orjson
from sqlalchemy import BigInteger, Dialect, Index, MetaData, Numeric, Text, TypeDecorator, text
from sqlalchemy.types import TypeEngine

from penstock.core.errors import StoreError

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
LARGEST = 2**63 - 1
LARGEST_IN_JSON = 2**64 - 1
#: NUL as JSON writes it; behind an odd number of backslashes it is text that looks like it.
NUL_IN_JSON = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")


def partial_index(name: str, *columns: str, where: str, unique: bool = False) -> Index:
    """An index of those rows only for which something is true, on both engines."""
    condition = text(where)
    return Index(name, *columns, unique=unique, sqlite_where=condition, postgresql_where=condition)


def storable(text: str) -> str:
    """The text with a replacement for every character that one of the engines refuses."""
    if "\x00" in text:
        text = text.replace("\x00", REPLACEMENT)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join(REPLACEMENT if "\ud800" <= char <= "\udfff" else char for char in text)
    return text


def are_plain(texts: Sequence[str | None]) -> bool:
    """Whether all of some texts are stored just as they are, by one look at them together."""
    together = "".join(filter(None, texts))
    return together.isascii() and "\x00" not in together


class CleanText(TypeDecorator[str]):
    """Text from anywhere."""

    impl = Text
    cache_ok = True

    def process_column(
        self, values: Sequence[str | None], dialect: Dialect
    ) -> Sequence[str | None]:
        """As `process_bind_param` for each; nearly always one look at all of them is enough."""
        if are_plain(values):
            return values
        return [self.process_bind_param(value, dialect) for value in values]

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        del dialect
        return None if value is None else storable(value)


class Json(TypeDecorator[Any]):
    """Plain data, kept as text; what has no JSON form becomes null or loses its oddity."""

    impl = Text
    cache_ok = True

    def process_column(self, values: Sequence[Any], dialect: Dialect) -> Sequence[str | None]:
        """As `process_bind_param` for each."""
        del dialect
        return [None if value is None else dump(value) for value in values]

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        del dialect
        return None if value is None else dump(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        del dialect
        return None if value is None else orjson.loads(value)


class Whole(TypeDecorator[int]):
    """A whole number of at most 64 bits."""

    impl = BigInteger
    cache_ok = True

    def process_column(
        self, values: Sequence[int | None], dialect: Dialect
    ) -> Sequence[int | None]:
        """As `process_bind_param` for each: of those that follow, if any is, two are the worst."""
        known = [value for value in values if value is not None]
        for value in (min(known), max(known)) if known else ():
            self.process_bind_param(value, dialect)
        return values

    def process_bind_param(self, value: int | None, dialect: Dialect) -> int | None:
        del dialect
        if value is not None and not -LARGEST - 1 <= value <= LARGEST:
            raise StoreError(f"{value} is larger than any database column")
        return value


class Moment(Whole):
    """Milliseconds since 1970, UTC."""

    cache_ok = True


class Fixed(TypeDecorator[Decimal]):
    """A decimal number of so many digits, so many of them behind the point: exact, and sortable.

    SQLite has no such type and keeps it as a whole number of the last digit.
    """

    impl = Numeric
    cache_ok = True

    def __init__(self, precision: int, scale: int) -> None:
        super().__init__(precision, scale)
        self.precision, self.scale = precision, scale

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "sqlite":
            return dialect.type_descriptor(BigInteger())
        return dialect.type_descriptor(Numeric(self.precision, self.scale))

    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> Decimal | int | None:
        if value is None:
            return None
        unit = Decimal(1).scaleb(-self.scale)
        number = Decimal(value).quantize(unit, ROUND_HALF_EVEN)
        if abs(number) >= Decimal(1).scaleb(self.precision - self.scale):
            raise StoreError(f"{value} has more than {self.precision - self.scale} digits")
        return int(number.scaleb(self.scale)) if dialect.name == "sqlite" else number

    def process_result_value(self, value: Any, dialect: Dialect) -> Decimal | None:
        if value is None or dialect.name != "sqlite":
            return value  # type: ignore[no-any-return]
        return Decimal(value).scaleb(-self.scale)


def dump(value: Any) -> str:
    """The value as JSON that both engines take."""
    try:
        text = orjson.dumps(value).decode()
    except TypeError:
        # Half of a character or a number beyond 64 bits: the slow encoder copes with both.
        text = storable(json.dumps(_tame(value), ensure_ascii=False))
    return NUL_IN_JSON.sub(rf"\1{REPLACEMENT}", text) if "\\u0000" in text else text


def _tame(value: Any) -> Any:
    match value:
        case Mapping():
            return {str(key): _tame(each) for key, each in value.items()}
        case list() | tuple():
            return [_tame(each) for each in value]
        case float() if not math.isfinite(value):
            return None
        case int() if not -LARGEST - 1 <= value <= LARGEST_IN_JSON:
            return str(value)
        case _:
            return value
