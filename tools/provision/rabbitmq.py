"""RabbitMQ without plugins, with its own helper for names."""

import shlex
from pathlib import Path

from tools.provision.answers import reply_to
from tools.provision.model import Server, Tool
from tools.provision.processes import free_port

RABBITMQ_SERVER = Tool(
    name="rabbitmq-server",
    variable="PENSTOCK_TEST_RABBITMQ_BINARY",
    program="rabbitmq-server",
    package="rabbitmq-server",
    folders=("/usr/lib/rabbitmq/bin",),  # the one on the PATH changes the user
)


def rabbitmq_arguments(program: str, folder: Path, port: int) -> list[str]:
    (folder / "enabled_plugins").write_text("[].")
    variables = {
        "HOME": folder,
        # Schedulers that wait without sleeping take the processor from the tests.
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+sbwt none +sbwtdcpu none +sbwtdio none",
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "ERL_EPMD_PORT": free_port(),
        "RABBITMQ_CONF_ENV_FILE": folder / "rabbitmq-env.conf",
        "RABBITMQ_CONFIG_FILE": folder / "rabbitmq",
        "RABBITMQ_DIST_PORT": free_port(),
        "RABBITMQ_ENABLED_PLUGINS_FILE": folder / "enabled_plugins",
        "RABBITMQ_LOG_BASE": folder / "log",
        "RABBITMQ_MNESIA_BASE": folder / "mnesia",
        "RABBITMQ_NODENAME": "penstock@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": port,
        "RABBITMQ_PID_FILE": folder / "pid",
    }
    # The epmd that Erlang starts by itself would outlive the server: one of the server's own group
    # is stopped with it.
    with_epmd = f"epmd & until epmd -names; do sleep 0.02; done; exec {shlex.quote(program)}"
    assignments = [f"{name}={value}" for name, value in variables.items()]
    return ["env", *assignments, "sh", "-c", with_epmd]


def rabbitmq_answers(address: str) -> bool:
    start_of_a_method_frame = b"\x01\0\0"
    return reply_to(b"AMQP\0\0\x09\x01", address, 5672).startswith(start_of_a_method_frame)


RABBITMQ = Server(
    name="rabbitmq",
    variable="PENSTOCK_TEST_RABBITMQ_URL",
    tool=RABBITMQ_SERVER,
    address="amqp://guest:guest@127.0.0.1:{port}//",
    arguments=rabbitmq_arguments,
    answers=rabbitmq_answers,
    compose_port=5672,
)
