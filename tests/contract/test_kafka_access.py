"""A real Kafka that asks for a name and a password."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.core.errors import EventsLost
from penstock.events.kafka import check, create_topic, open_publisher
from tests.kafka_server import find_program, unused_name
from tests.private_server import PrivateServer
from tools.provision.answers import reply_to
from tools.provision.kafka import KAFKA, kafka_arguments

PASSWORD = "open sesame"
LISTENER = "listener.name.sasl_plaintext"
GUARD = f"""
listener.security.protocol.map=CONTROLLER:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT
security.inter.broker.protocol=SASL_PLAINTEXT
sasl.mechanism.inter.broker.protocol=PLAIN
sasl.enabled.mechanisms=PLAIN
{LISTENER}.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
username="ali" password="{PASSWORD}" user_ali="{PASSWORD}";
"""


def guarded_arguments(program: str, folder: Path, port: int) -> list[str]:
    arguments = kafka_arguments(program, folder, port)
    settings = folder / "server.properties"
    settings.write_text(settings.read_text().replace("=PLAINTEXT://", "=SASL_PLAINTEXT://") + GUARD)
    return arguments


def asks_who_is_there(address: str) -> bool:
    """Whether it tells a stranger what it speaks, which it does before it wants a password."""
    return bool(reply_to(b"\0\0\0\x0a\0\x12\0\0\0\0\0\1\xff\xff", f"kafka://{address}", 9092))


class GuardedKafka(PrivateServer):
    """Lets in whoever is Ali and knows the password."""

    def __init__(self, java: str) -> None:
        guarded = dataclasses.replace(KAFKA, arguments=guarded_arguments, answers=asks_who_is_there)
        super().__init__(guarded, java)


@pytest.fixture(scope="module")
def guarded() -> Iterator[GuardedKafka]:
    server = GuardedKafka(find_program())
    server.start()
    yield server
    server.stop()


def signed(password: str) -> dict[str, Any]:
    return {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": "ali",
        "sasl_plain_password": password,
    }


async def test_whoever_knows_the_password_may_publish(guarded: GuardedKafka) -> None:
    topic = unused_name()
    await create_topic(guarded.url, topic, **signed(PASSWORD))

    async with open_publisher(guarded.url, patience=10.0, **signed(PASSWORD)) as publisher:
        await publisher.publish(topic, b"k", b"v")

    assert (await check(guarded.url, topic, **signed(PASSWORD))).partitions == 6


@pytest.mark.parametrize("options", [{}, signed("open barley")], ids=["nobody", "mistaken"])
async def test_others_are_told_to_look_at_their_password_and_it_is_not_shown(
    guarded: GuardedKafka, options: dict[str, Any]
) -> None:
    async with open_publisher(guarded.url, patience=1.0, **options) as publisher:
        with pytest.raises(EventsLost, match="user and password") as caught:
            await publisher.publish("topic", b"k", b"v")
    with pytest.raises(EventsLost):
        await check(guarded.url, "topic", **options)
    assert "barley" not in str(caught.value)
