"""ClickHouse for tests: the real engine in this process, behind a small HTTP server of our own.

The server hands statements, and the very bytes behind them, to chdb; it can be told to fail.
"""

import json
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest
from chdb.session import Session

ROWS = " FORMAT JSONEachRow"


class Engine:
    """The one engine that a process can have, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._session = Session(str(folder / "data"))
        self._lock = threading.Lock()

    def run(self, statement: str, rows: bytes = b"") -> str:
        with self._lock:
            if rows:
                file = self._folder / "rows"
                file.write_bytes(rows)
                statement = statement.replace(ROWS, f" FROM INFILE '{file}'{ROWS}")
            return str(self._session.query(statement))

    def close(self) -> None:
        self._session.close()


class ClickHouseServer:
    """A database of the test's own, and what was asked of it."""

    def __init__(self, engine: Engine) -> None:
        self.database = f"test_{uuid4().hex}"
        self.failing: list[int] = []
        self.after_taking: list[int] = []
        self.headers: list[dict[str, str]] = []
        self.inserted: list[bytes] = []
        self._engine = engine
        self.port = 0
        engine.run(f"CREATE DATABASE {self.database}")

    @property
    def url(self) -> str:
        return f"http://ann:s%40cret@127.0.0.1:{self.port}"

    def rows(self, columns: str, table: str, rest: str = "") -> list[dict[str, Any]]:
        """What a table of ours has, as it is once rows have replaced each other."""
        chosen = f"SELECT {columns} FROM {self.table(table)} FINAL {rest}"  # noqa: S608 - ours
        said = self._engine.run(f"{chosen} {ROWS} SETTINGS {QUOTED}")
        return [json.loads(line) for line in said.splitlines()]

    def table(self, name: str) -> str:
        """The name of a table of ours in the test's database."""
        return f"{self.database}.catalog_{name}"

    def run(self, statement: str) -> None:
        self._engine.run(statement)

    def answer(self, statement: str, body: bytes, headers: dict[str, str]) -> tuple[int, str]:
        self.headers.append(headers)
        if self.failing:
            return self.failing.pop(0), "Code: 999. out of luck"
        try:
            said = self._engine.run(statement, body)
        except Exception as error:
            return 400, str(error)
        if body:
            self.inserted.append(body)
            if self.after_taking:
                return self.after_taking.pop(0), "the answer is lost"
        return 200, said


#: Decimals as they are, and not as floating point numbers.
QUOTED = "output_format_json_quote_decimals=1, output_format_decimal_trailing_zeros=1"


@contextmanager
def serving(engine: Engine) -> Iterator[ClickHouseServer]:
    """A server on a free port."""
    clickhouse = ClickHouseServer(engine)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            query = parse_qs(urlsplit(self.path).query).get("query")
            statement, rows = (query[0], body) if query else (body.decode(), b"")
            status, said = clickhouse.answer(statement, rows, dict(self.headers))
            self.send_response(status)
            self.send_header("Content-Length", str(len(said.encode())))
            self.end_headers()
            self.wfile.write(said.encode())

        def log_message(self, *_: Any) -> None:
            """Nobody reads it."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        clickhouse.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=[0.01])
        thread.start()
        try:
            yield clickhouse
        finally:
            server.shutdown()
            thread.join()
            engine.run(f"DROP DATABASE {clickhouse.database}")


@pytest.fixture(scope="session")
def clickhouse_engine() -> Iterator[Engine]:
    with tempfile.TemporaryDirectory(prefix="penstock-clickhouse-") as folder:
        engine = Engine(Path(folder))
        yield engine
        engine.close()


@pytest.fixture
def clickhouse(clickhouse_engine: Engine) -> Iterator[ClickHouseServer]:
    with serving(clickhouse_engine) as server:
        yield server
