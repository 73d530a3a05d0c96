"""A PostgreSQL server of the tests' own: what was committed survives its being killed."""

from tests import private_server
from tools.provision.postgres import POSTGRES, POSTGRES_SERVER


class PrivatePostgres(private_server.PrivateServer):
    """Has one database, `postgres`, and syncs what it commits."""

    def __init__(self, program: str) -> None:
        super().__init__(POSTGRES, program)


def find_program() -> str:
    """The path of `postgres`; without one the test is skipped, in CI it fails."""
    return private_server.find_program(POSTGRES_SERVER)
