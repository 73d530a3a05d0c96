"""Servers that chaos tests kill come back with what they had promised to keep."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from tests import postgres_server, rabbitmq_server
from tests.postgres_server import PrivatePostgres
from tests.private_server import is_alive
from tests.rabbitmq_server import PrivateRabbitMQ
from tools.provision import programs
from tools.provision.rabbitmq import rabbitmq_answers


@pytest.fixture
def postgres() -> Iterator[PrivatePostgres]:
    server = PrivatePostgres(postgres_server.find_program())
    yield server
    server.stop()


@pytest.fixture
def rabbitmq() -> Iterator[PrivateRabbitMQ]:
    server = PrivateRabbitMQ(rabbitmq_server.find_program())
    yield server
    server.stop()


@asynccontextmanager
async def connect(server: PrivatePostgres) -> AsyncIterator[AsyncConnection]:
    engine = create_async_engine(server.url.replace("postgresql:", "postgresql+asyncpg:"))
    try:
        async with engine.connect() as connection:
            yield connection
    finally:
        await engine.dispose()


async def ask(server: PrivatePostgres, query: str) -> Any:
    async with connect(server) as connection:
        return await connection.scalar(text(query))


async def insert_but_kill_before_commit(server: PrivatePostgres) -> None:
    async with connect(server) as connection:
        await connection.execute(text("INSERT INTO kept VALUES (2)"))
        server.kill()
        await connection.commit()


async def test_postgres_that_is_killed_comes_back_with_what_was_committed_and_nothing_else(
    postgres: PrivatePostgres,
) -> None:
    postgres.start()
    async with connect(postgres) as connection:
        await connection.execute(text("CREATE TABLE kept AS SELECT 1 AS n"))
        await connection.commit()

    with pytest.raises(DBAPIError):
        await insert_but_kill_before_commit(postgres)
    postgres.start()

    assert await ask(postgres, "SELECT sum(n) FROM kept") == 1


async def test_postgres_syncs_what_it_commits(postgres: PrivatePostgres) -> None:
    postgres.start()

    assert await ask(postgres, "SHOW fsync") == "on"


def test_rabbitmq_that_is_killed_comes_back_with_its_durable_queues(
    rabbitmq: PrivateRabbitMQ,
) -> None:
    kombu = pytest.importorskip("kombu")
    rabbitmq.start()
    confirmed = {"confirm_publish": True}
    sender = kombu.Connection(rabbitmq.url, transport_options=confirmed)
    with sender, sender.SimpleQueue("kept") as queue:
        queue.put("hello")

    rabbitmq.kill()
    assert not rabbitmq_answers(rabbitmq.url)
    rabbitmq.start()

    receiver = kombu.Connection(rabbitmq.url)
    with receiver, receiver.SimpleQueue("kept") as queue:
        assert queue.get(timeout=5).payload == "hello"


def test_nothing_is_left_of_a_server_that_was_stopped(postgres: PrivatePostgres) -> None:
    postgres.start()
    processes = postgres.processes()

    postgres.stop()

    assert len(processes) > 1
    assert not [pid for pid in processes if is_alive(pid)]


def test_absent_server_fails_in_ci_instead_of_being_skipped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CI", "true")
    monkeypatch.setattr(programs, "find", lambda _tool: None)
    monkeypatch.delenv("PENSTOCK_TEST_POSTGRES_BINARY", raising=False)

    with pytest.raises(pytest.fail.Exception, match="PENSTOCK_TEST_POSTGRES_BINARY"):
        postgres_server.find_program()
