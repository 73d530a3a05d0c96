"""Whether a server answers at an address."""

import socket
from urllib.parse import urlsplit

from tools.provision.model import Server, UnavailableError
from tools.provision.output import without_password


def require_answer(server: Server, address: str) -> str:
    if not server.answers(address):
        raise UnavailableError(f"{without_password(address)} does not answer")
    return address


def reply_to(greeting: bytes, address: str, default_port: int) -> bytes:
    """What a server says first to a greeting; nothing if there is none."""
    url = urlsplit(address)
    try:
        with socket.create_connection(
            (url.hostname or "127.0.0.1", url.port or default_port), 2
        ) as connection:
            connection.sendall(greeting)
            return connection.recv(64)
    except (OSError, ValueError):
        return b""
