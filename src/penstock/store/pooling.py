"""What stands between the store and its server: nothing, or a pgbouncer, and of which kind."""

from enum import StrEnum
from typing import Any

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine
from sqlalchemy.pool import NullPool

from penstock.core.errors import StoreLost
from penstock.store.dialect import first_line
from penstock.store.postgres import SHARING, place_of, server_url
from penstock.store.settings import StoreSettings


class Pooling(StrEnum):
    """Who gets which connection to the server."""

    NONE = "none"
    SESSIONS = "sessions"
    TRANSACTIONS = "transactions"


async def look_for_pooler(settings: StoreSettings) -> Pooling:
    """Whether transactions share the server's connections; asked of the server itself."""
    engine = create_async_engine(server_url(settings), poolclass=NullPool, connect_args=SHARING)
    try:
        async with engine.connect() as one, engine.connect() as other:
            return await _compare(one, other)
    except (SQLAlchemyError, OSError, TimeoutError) as error:
        raise StoreLost(f"{place_of(settings)} does not answer: {first_line(error)}") from error
    finally:
        await engine.dispose()


async def _compare(one: AsyncConnection, other: AsyncConnection) -> Pooling:
    """A process of the server that serves two connections in turn, or one that changes, is shared.

    A pooler that takes its connections in turn changes them from one transaction to the next; one
    that takes what was used last gives the other connection the process that this one just had.
    """
    first = await _process_of(one)
    second = await _process_of(one)
    if first != second or await _process_of(other) == second:
        return Pooling.TRANSACTIONS
    said: Any = (await one.get_raw_connection()).driver_connection
    return Pooling.NONE if said.get_server_pid() == second else Pooling.SESSIONS


async def _process_of(connection: AsyncConnection) -> int:
    """The server's process that has just carried out a transaction."""
    found: int = (await connection.execute(text("SELECT pg_backend_pid()"))).scalar_one()
    await connection.rollback()
    return found
