"""Topics in a real Kafka: made once, and looked at."""

import pytest

from penstock.core.errors import EventsLost, SettingsError
from penstock.events.kafka import Standing, Topic, check, create_topic
from tests.kafka_server import plays, unused_name
from tools.provision.processes import free_port

pytestmark = pytest.mark.skipif(plays(), reason="a mock cluster makes topics as it likes")


async def test_a_topic_is_made_once_and_stays_as_it_is(kafka: str) -> None:
    name = unused_name()

    assert await create_topic(kafka, name, partitions=5) == Topic(name, 5, created=True)
    assert await create_topic(kafka, name, partitions=9) == Topic(name, 5, created=False)


async def test_a_look_at_a_topic_says_what_is_there(kafka: str) -> None:
    name = unused_name()
    assert await check(kafka, name) == Standing(brokers=1, partitions=None)

    await create_topic(kafka, name)

    assert await check(kafka, name) == Standing(brokers=1, partitions=6)


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ({"topic": "no spaces, please"}, "no spaces, please"),
        ({"partitions": -3}, "artitions"),
        ({"replication": 3}, "replica"),
        ({"config": {"retention.ms": "for ever"}}, "retention.ms"),
        ({"config": {"no.such.setting": "1"}}, "no.such.setting"),
    ],
)
async def test_a_topic_that_cannot_be_is_refused_with_the_reason(
    kafka: str, wanted: dict[str, object], why: str
) -> None:
    with pytest.raises(SettingsError, match=why):
        await create_topic(kafka, **{"topic": unused_name(), **wanted})  # type: ignore[arg-type]


async def test_brokers_that_are_away_are_lost() -> None:
    nowhere = f"127.0.0.1:{free_port()}"
    with pytest.raises(EventsLost, match="is it running"):
        await check(nowhere, "topic")
    with pytest.raises(EventsLost, match=nowhere):
        await create_topic(nowhere, "topic")
