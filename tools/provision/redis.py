"""Redis, which keeps nothing on disk."""

import socket
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tools.provision.model import Server, Tool

REDIS_SERVER = Tool("redis-server", "PENSTOCK_TEST_REDIS_BINARY", "redis-server", "redis-server")


def redis_arguments(program: str, folder: Path, port: int) -> list[str]:
    listen = ["--port", str(port), "--bind", "127.0.0.1"]
    return [program, *listen, "--save", "", "--appendonly", "no", "--dir", str(folder)]


def redis_answers(address: str) -> bool:
    url = urlsplit(address)
    commands = [b"PING\r\n"]
    if url.password:
        credentials = f"{unquote(url.username or 'default')} {unquote(url.password)}"
        commands.insert(0, f"AUTH {credentials}\r\n".encode())
    try:
        with socket.create_connection(
            (url.hostname or "127.0.0.1", url.port or 6379), 2
        ) as connection:
            connection.sendall(b"".join(commands))
            replies = connection.makefile("rb")
            return [replies.readline() for _ in commands][-1] == b"+PONG\r\n"
    except (OSError, ValueError):
        return False


REDIS = Server(
    name="redis",
    variable="PENSTOCK_TEST_REDIS_URL",
    tool=REDIS_SERVER,
    address="redis://127.0.0.1:{port}/0",
    arguments=redis_arguments,
    answers=redis_answers,
    compose_port=6379,
)
