"""pgbouncer in front of a PostgreSQL server: the tests start it themselves."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tools.provision.model import Server, Tool
from tools.provision.postgres import make_folder_for_postgres, postgres_answers
from tools.provision.processes import unprivileged

PGBOUNCER = Tool(
    name="pgbouncer",
    variable="PENSTOCK_TEST_PGBOUNCER",
    program="pgbouncer",
    package="pgbouncer",
    folders=("/usr/sbin",),  # not on the PATH of everybody
)

#: Fewer connections to the server than the tests open to it: they have to share.
CONFIGURATION = """\
[databases]
* = {server}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
default_pool_size = 8
max_client_conn = 1000
{more}
"""
#: Each transaction is on another connection than the last one, if there is another.
TRANSACTIONS = {"pool_mode": "transaction", "server_round_robin": "1"}


def in_front_of(url: str, options: Mapping[str, str]) -> Server:
    """The server that hands out connections to another one, whichever the database."""
    return Server(
        name="pgbouncer",
        variable="",
        tool=PGBOUNCER,
        address="postgresql://postgres@127.0.0.1:{port}/postgres",
        arguments=partial(pgbouncer_arguments, url, options),
        answers=postgres_answers,
        compose_port=None,
    )


def pgbouncer_arguments(
    url: str, options: Mapping[str, str], program: str, folder: Path, port: int
) -> list[str]:
    home = folder / "home"
    if not home.exists():
        make_folder_for_postgres(home)
    file = home / "pgbouncer.ini"
    more = "\n".join(f"{name} = {value}" for name, value in options.items())
    file.write_text(CONFIGURATION.format(server=_server_of(url), port=port, more=more))
    return [*unprivileged("postgres"), program, str(file)]


def _server_of(url: str) -> str:
    parts = urlsplit(url)
    values = {
        "host": parts.hostname or "127.0.0.1",
        "port": str(parts.port or 5432),
        "user": unquote(parts.username or "postgres"),
        "password": unquote(parts.password or ""),
    }
    quoted = {name: value.replace("'", "''") for name, value in values.items() if value}
    return " ".join(f"{name}='{value}'" for name, value in quoted.items())
