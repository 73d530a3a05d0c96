"""Events in Kafka: published, confirmed and read; topics made; the log passed on."""

from penstock.events.kafka.cluster import reach
from penstock.events.kafka.publisher import KafkaPublisher, open_publisher
from penstock.events.kafka.sink import KafkaSink, KafkaSubscription
from penstock.events.kafka.tail import KafkaTail, Written, open_tail
from penstock.events.kafka.topics import Standing, Topic, check, create_topic

__all__ = [
    "KafkaPublisher",
    "KafkaSink",
    "KafkaSubscription",
    "KafkaTail",
    "Standing",
    "Topic",
    "Written",
    "check",
    "create_topic",
    "open_publisher",
    "open_tail",
    "reach",
]
