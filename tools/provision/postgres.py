"""PostgreSQL with one database, `postgres`, whose users need no password."""

import os
import shutil
import signal
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tools.provision.answers import reply_to
from tools.provision.model import Server, Tool
from tools.provision.processes import READY_SECONDS, call, unprivileged

POSTGRES_SERVER = Tool(
    name="postgres",
    variable="PENSTOCK_TEST_POSTGRES_BINARY",
    program="postgres",
    package="postgresql",
    folders=("/usr/lib/postgresql/*/bin",),
)


def postgres_arguments(program: str, folder: Path, port: int) -> list[str]:
    user = unprivileged("postgres")
    data = folder / "data"
    if not data.exists():
        make_folder_for_postgres(data)
        flags = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8"]
        initdb = str(Path(program).with_name("initdb"))
        call([*user, initdb, "--pgdata", str(data), "--no-sync", *flags], READY_SECONDS)
    listen = ["-p", str(port), "-c", "listen_addresses=127.0.0.1"]
    return [*user, program, "-D", str(data), *listen, "-c", f"unix_socket_directories={data}"]


def make_folder_for_postgres(folder: Path) -> None:
    folder.mkdir()
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres", "postgres")
        folder.parent.chmod(0o711)  # its user passes through


def postgres_answers(address: str) -> bool:
    url = urlsplit(address)
    user, database = unquote(url.username or "postgres"), url.path.strip("/") or "postgres"
    parameters = f"user\0{user}\0database\0{database}\0\0".encode()
    hello = (len(parameters) + 8).to_bytes(4, "big") + b"\0\x03\0\0" + parameters
    # It asks for a password or for none; while it starts up or recovers, it answers with an error.
    return reply_to(hello, address, 5432).startswith(b"R")


POSTGRES = Server(
    name="postgresql",
    variable="PENSTOCK_TEST_POSTGRES_URL",
    tool=POSTGRES_SERVER,
    address="postgresql://postgres@127.0.0.1:{port}/postgres",
    arguments=postgres_arguments,
    answers=postgres_answers,
    compose_port=5432,
    ending=signal.SIGQUIT,
    careless=("-c", "fsync=off", "-c", "full_page_writes=off"),
)
