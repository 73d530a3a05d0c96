"""A pgbouncer of the tests' own, in front of a PostgreSQL server."""

from collections.abc import Mapping

from tests import private_server
from tools.provision.pgbouncer import PGBOUNCER, TRANSACTIONS, in_front_of


class PrivatePgbouncer(private_server.PrivateServer):
    """Has the databases that the server has, also those that are made later."""

    def __init__(self, program: str, url: str, options: Mapping[str, str] = TRANSACTIONS) -> None:
        super().__init__(in_front_of(url, options), program)


def find_program() -> str:
    """The path of `pgbouncer`; without one the test is skipped, in CI it fails."""
    return private_server.find_program(PGBOUNCER)
