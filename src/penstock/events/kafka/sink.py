"""The store's events, passed on to Kafka by the relay."""

from collections.abc import Sequence
from itertools import groupby

import orjson

from penstock.events.kafka.producers import Record
from penstock.events.kafka.publisher import KafkaPublisher
from penstock.events.ports import Event, Message


class KafkaSubscription:
    """Kafka is owed every event, in order per key."""

    name = "kafka"

    def wants(self, topic: str) -> bool:
        del topic
        return True

    def line_of(self, message: Message) -> str:
        return message.key


class KafkaSink(KafkaSubscription):
    """An event becomes a message of the topic of its name; may come twice, with the same id."""

    def __init__(self, publisher: KafkaPublisher, prefix: str = "") -> None:
        self._publisher = publisher
        self._prefix = prefix

    async def deliver(self, events: Sequence[Event]) -> None:
        for topic, group in groupby(events, key=lambda event: event.message.topic):
            records = [_record(event) for event in group]
            await self._publisher.publish_in_order(self._prefix + topic, records)


def _record(event: Event) -> Record:
    message = event.message
    headers = [("id", message.id.encode()), ("traceparent", message.traceparent.encode())]
    return Record(
        message.key.encode(),
        orjson.dumps(event.as_json()),
        [(name, value) for name, value in headers if value],
    )
