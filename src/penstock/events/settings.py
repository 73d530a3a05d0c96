"""The settings of events."""

from pathlib import Path

from pydantic import Field

from penstock.kernel.settings import Section


class EventsSettings(Section):
    """Who is told of events beside the log in the store, and for how long that is kept."""

    file: Path | None = Field(None, description="append every event to this file, one per line")
    kafka_prefix: str = Field(
        "",
        description="pass events on to Kafka (its address is a setting of the stream), to topics "
        "that begin so; empty: not at all",
    )
    keep_days: float = Field(30, gt=0, description="until events in the store are forgotten")
    max_attempts: int = Field(12, ge=1, description="deliveries that fail before one is parked")
