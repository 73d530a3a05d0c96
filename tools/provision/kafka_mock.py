"""A mock cluster of librdkafka, in a process of its own: prints its address and plays on."""

from confluent_kafka import Producer

if __name__ == "__main__":
    producer = Producer({"bootstrap.servers": "unused:1", "test.mock.num.brokers": 1})
    brokers = producer.list_topics(timeout=10).brokers.values()
    print(",".join(f"{broker.host}:{broker.port}" for broker in brokers), flush=True)
    while True:
        producer.poll(1)
