"""A RabbitMQ server of the tests' own: durable queues survive its being killed."""

from tests import private_server
from tools.provision.rabbitmq import RABBITMQ, RABBITMQ_SERVER


class PrivateRabbitMQ(private_server.PrivateServer):
    """Knows the user guest and the virtual host /."""

    def __init__(self, program: str) -> None:
        super().__init__(RABBITMQ, program)


def find_program() -> str:
    """The path of `rabbitmq-server`; without one the test is skipped, in CI it fails."""
    return private_server.find_program(RABBITMQ_SERVER)
