"""What `penstock doctor` says of the page fetcher's servers."""

import asyncio

from penstock.app.stream_servers import check_page_events, check_url_queue
from penstock.cli.findings import Finding
from penstock.core.errors import PenstockError
from penstock.settings import Settings
from penstock.workloads.stream.settings import StreamSettings

REDIS, KAFKA = "stream: Redis", "stream: Kafka"
RUNBOOK = "see docs/operations/stream.md"


def examine_stream(settings: Settings) -> list[Finding]:
    """Redis and Kafka, if the page fetcher works with them."""
    if not settings.stream.uses_servers:
        return [Finding("stream", "ok", "queue, pages and events are in the store")]
    return [*_queue(settings.stream), _events(settings.stream)]


def _queue(stream: StreamSettings) -> list[Finding]:
    try:
        warnings = asyncio.run(check_url_queue(stream))
    except PenstockError as error:
        do = "start the server, or correct PENSTOCK_STREAM__REDIS_URL"
        return [Finding(REDIS, "problem", str(error), do)]
    if warnings:
        return [Finding(REDIS, "note", warning, RUNBOOK) for warning in warnings]
    return [Finding(REDIS, "ok", "answers, and keeps what it is given")]


def _events(stream: StreamSettings) -> Finding:
    try:
        found = asyncio.run(check_page_events(stream))
    except PenstockError as error:
        do = "start a broker, or correct PENSTOCK_STREAM__KAFKA_BOOTSTRAP_SERVERS"
        return Finding(KAFKA, "problem", str(error), do)
    topic = stream.webpage_log_topic
    if found.partitions is None:
        return Finding(KAFKA, "problem", f"has no topic {topic}", "run `penstock stream init`")
    says = f"brokers: {found.brokers}; partitions of {topic}: {found.partitions}"
    return Finding(KAFKA, "ok", says)
