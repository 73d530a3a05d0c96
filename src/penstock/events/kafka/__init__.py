"""Events in Kafka: messages are published and confirmed, topics made, the log passed on."""

from penstock.events.kafka.publisher import KafkaPublisher, open_publisher
from penstock.events.kafka.sink import KafkaSink, KafkaSubscription
from penstock.events.kafka.topics import Standing, Topic, check, create_topic

__all__ = [
    "KafkaPublisher",
    "KafkaSink",
    "KafkaSubscription",
    "Standing",
    "Topic",
    "check",
    "create_topic",
    "open_publisher",
]
