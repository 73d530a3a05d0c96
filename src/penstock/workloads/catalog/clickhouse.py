"""The catalogue in ClickHouse, over its HTTP interface.

Batches arrive at least once. The tables keep the latest row of each id (ReplacingMergeTree by
`updated_at`); whoever must not see the others meanwhile asks with FINAL. The watermark stands in a
table beside them: where somebody empties the database, everything is sent again.
"""

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import httpx
import orjson
from pydantic import Field, SecretStr, field_validator

from penstock.core.clock import Clock
from penstock.core.errors import SettingsError
from penstock.core.log import get_logger
from penstock.kernel.settings import Section
from penstock.products.exporting import (
    COLUMNS,
    ExportLost,
    ExportRefused,
    Row,
    Span,
    Subject,
)

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
FIRST_PAUSE = 1.0
#: Refusals that pass by themselves.
BUSY = frozenset({408, 425, 429})
TIME = "DateTime64(3, 'UTC')"
#: Columns by what stands in them; all others are texts that may be absent.
TYPES = {
    "id": "String",
    "source_product_id": "String",
    "price": "Nullable(Decimal(10, 2))",
    "price_as_seen": "Nullable(Decimal(10, 2))",
    "shipping": "Nullable(Decimal(10, 2))",
    "rating": "Nullable(Decimal(3, 2))",
    "review_count": "Nullable(Int32)",
    "tax_included": "Nullable(Bool)",
    "is_hidden": "Bool",
    "created_at": TIME,
    "updated_at": TIME,
    "observed_at": TIME,
    "archived_at": f"Nullable({TIME})",
}
TEXT = "Nullable(String)"
#: How the rows of a table are sorted, which also says which of them are the same.
SORTED_BY = {
    Subject.PRODUCTS: "ORDER BY id",
    Subject.PRICES: (
        "PARTITION BY toYYYYMM(observed_at) ORDER BY (source_product_id, observed_at, id)"
    ),
}


class ClickHouseSettings(Section):
    """Where the catalogue is sent to."""

    url: SecretStr = Field(SecretStr(""), description="http(s)://user:password@host:8123")
    database: str = Field("default", description="exists already")
    table_prefix: str = Field("catalog_", description="of the names of our tables")
    timeout_seconds: float = Field(60, gt=0)
    tries: int = Field(5, ge=1, description="of each batch")

    @field_validator("database", "table_prefix")
    @classmethod
    def _is_a_name(cls, value: str) -> str:
        if not NAME.fullmatch(value):
            raise ValueError("must be letters, digits and _, and not begin with a digit")
        return value


class ClickHouse:
    """A receiver of exports; to be closed."""

    def __init__(self, settings: ClickHouseSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._http = _connect(settings)
        self._is_prepared = False

    async def close(self) -> None:
        """Give up the connections."""
        await self._http.aclose()

    async def watermark(self, subject: Subject) -> int:
        """Everything before this time is there; 0 if nothing is."""
        await self._prepare()
        query = f"SELECT max(at) FROM {self._table('watermarks')} WHERE subject = '{subject}'"  # noqa: S608 - names are checked
        return int(await self._ask(f"{query} FORMAT TabSeparated"))

    async def receive(
        self, subject: Subject, span: Span, pages: AsyncIterator[Sequence[Row]]
    ) -> int:
        """Take rows and, once they are safe, remember the watermark; how many there were."""
        await self._prepare()
        number = 0
        async for rows in pages:
            await self._ask(self.insertion(subject), lines_of(subject, rows))
            number += len(rows)
        into = f"INSERT INTO {self._table('watermarks')} (subject, at) FORMAT JSONEachRow"
        await self._ask(into, orjson.dumps({"subject": subject, "at": span.watermark}))
        return number

    def insertion(self, subject: Subject) -> str:
        """The statement before rows."""
        names = ", ".join(COLUMNS[subject])
        return f"INSERT INTO {self._table(subject)} ({names}) FORMAT JSONEachRow"

    def creations(self) -> list[str]:
        """The statements that make the tables what they should be, wherever they are not."""
        made = [
            f"CREATE TABLE IF NOT EXISTS {self._table('watermarks')} (subject String, at Int64)"
            " ENGINE = ReplacingMergeTree ORDER BY (subject, at)"
        ]
        for subject, order in SORTED_BY.items():
            columns = [f"{name} {TYPES.get(name, TEXT)}" for name in COLUMNS[subject]]
            made += [
                f"CREATE TABLE IF NOT EXISTS {self._table(subject)} ({', '.join(columns)})"
                f" ENGINE = ReplacingMergeTree(updated_at) {order}",
                # One that an older Penstock made lacks what came later.
                f"ALTER TABLE {self._table(subject)} "
                + ", ".join(f"ADD COLUMN IF NOT EXISTS {column}" for column in columns),
            ]
        return made

    def _table(self, name: str) -> str:
        return f"{self._settings.database}.{self._settings.table_prefix}{name}"

    async def _prepare(self) -> None:
        if not self._is_prepared:
            for statement in self.creations():
                await self._ask(statement)
            self._is_prepared = True

    async def _ask(self, statement: str, body: bytes = b"") -> str:
        """Send a statement until it is taken; the rows behind it are the body."""
        pause = FIRST_PAUSE
        for left in reversed(range(self._settings.tries)):
            try:
                return await self._send(statement, body)
            except ExportLost as error:
                if not left:
                    raise
                get_logger().warning("ClickHouse: trying again", error=str(error))
            await self._clock.sleep(pause)
            pause *= 2
        raise AssertionError("there is one try at least")

    async def _send(self, statement: str, body: bytes) -> str:
        # The answer is complete and true only at the end of the query.
        asked = (
            {"query": statement, "wait_end_of_query": "1"} if body else {"wait_end_of_query": "1"}
        )
        try:
            answer = await self._http.post("/", params=asked, content=body or statement.encode())
        except httpx.HTTPError as error:
            raise ExportLost(f"ClickHouse does not answer: {type(error).__name__}") from error
        if answer.is_success:
            return answer.text
        said = f"ClickHouse answers {answer.status_code}: {_first_line(answer.text)}"
        if answer.is_server_error or answer.status_code in BUSY:
            raise ExportLost(said)
        raise ExportRefused(f"{said}; check its address, user and database")


def lines_of(subject: Subject, rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Rows as ClickHouse takes them: one JSON object a line, amounts and times exact."""
    names = COLUMNS[subject]
    return b"".join(
        orjson.dumps({name: _value(name, row[name]) for name in names}) + b"\n" for row in rows
    )


def _value(name: str, value: Any) -> Any:
    match value:
        case Decimal():
            return f"{value:f}"
        case int() if name.endswith("_at"):
            at = datetime.fromtimestamp(value // 1000, UTC)
            return f"{at:%Y-%m-%d %H:%M:%S}.{value % 1000:03}"
        case _:
            return value


def _connect(settings: ClickHouseSettings) -> httpx.AsyncClient:
    """A client whose credentials are in headers, so that no error shows them."""
    try:
        url = httpx.URL(settings.url.get_secret_value())
    except httpx.InvalidURL as error:
        raise SettingsError("the address of ClickHouse is not a URL") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise SettingsError("the address of ClickHouse must begin with http:// or https://")
    credentials = {"X-ClickHouse-User": url.username, "X-ClickHouse-Key": url.password}
    return httpx.AsyncClient(
        base_url=url.copy_with(username=None, password=None),
        headers={name: value for name, value in credentials.items() if value},
        timeout=settings.timeout_seconds,
        trust_env=False,
    )


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:500]
