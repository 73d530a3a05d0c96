"""What every service and store of the tests would make anew, and all alike, made once in a process.

A test has a service of its own, with all routes and pages, on a store of its own. Much of the time
that this takes goes to what says nothing of them: validators of parameters, templates in Python,
statements in SQL.
"""

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from typing import Any

import pytest
from fastapi._compat import v2
from jinja2 import BytecodeCache, Environment
from jinja2.bccache import Bucket
from pydantic import TypeAdapter
from sqlalchemy import URL, Connection, Engine, create_engine
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from penstock.console import pages
from penstock.store import postgres, sqlite

#: More than all tests together have, so that none is forgotten.
MOST_STATEMENTS = 5_000


class Validators:
    """Stands for pydantic's `TypeAdapter`: the same one for all that is declared alike."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, str], TypeAdapter[Any]] = {}

    def __call__(self, kind: Any, *, config: Any = None) -> TypeAdapter[Any]:
        # Of what is declared beside the type nothing can be looked up but what it prints.
        key = kind.__origin__, repr((kind.__metadata__, config))
        if key not in self._known:
            self._known[key] = TypeAdapter(kind, config=config)
        return self._known[key]


class Templates(BytecodeCache):
    """What templates became, for every environment that comes after the first."""

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._known.get(bucket.key)

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._known[bucket.key] = bucket.code


class Statements:
    """Stands for `create_engine`: what a statement is in SQL is known to all engines after one."""

    def __init__(self) -> None:
        self._alike = create_engine("sqlite+pysqlite://", query_cache_size=MOST_STATEMENTS)
        # What a dialect learns of its database is the same of each of them.
        self._alike.connect().close()

    def __call__(self, url: str, **options: Any) -> Engine:
        engine = create_engine(url, **options)
        engine.dialect = engine.pool._dialect = self._alike.dialect
        engine._compiled_cache = self._alike._compiled_cache
        return engine

    def close(self) -> None:
        self._alike.dispose()


class ServerStatements:
    """Stands for `create_async_engine`, as `Statements` does: for all engines on PostgreSQL.

    The first that connects learns what server it is: it is the same one for all tests.
    """

    def __init__(self) -> None:
        self._alike: Engine | None = None

    def __call__(self, url: URL, **options: Any) -> AsyncEngine:
        alike = self._alike
        if alike is None or not alike.dialect.server_version_info:
            engine = create_async_engine(url, query_cache_size=MOST_STATEMENTS, **options)
            self._alike = engine.sync_engine
            return engine
        engine = create_async_engine(url, **options)
        knows = engine.sync_engine
        # Connections are prepared as ever; only that nothing is asked again.
        knows.dialect.initialize = _learn_nothing  # type: ignore[method-assign]
        knows.dialect = knows.pool._dialect = alike.dialect
        knows._compiled_cache = alike._compiled_cache
        return engine


def _learn_nothing(connection: Connection) -> None:
    """Stands for a dialect's first questions to its server."""


@pytest.fixture(scope="session", autouse=True)
def _once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch, closing(Statements()) as statements:
        patch.setattr(v2, "TypeAdapter", Validators())
        patch.setattr(sqlite, "create_engine", statements)
        patch.setattr(postgres, "create_async_engine", ServerStatements())
        patch.setattr(pages, "Environment", partial(Environment, bytecode_cache=Templates()))
        yield
