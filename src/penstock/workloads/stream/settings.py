"""The settings of the page fetcher."""

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, SecretStr

from penstock.kernel.policy import PolicyEntry
from penstock.kernel.settings import BreakerSettings, RetrySettings, Section

LOCAL_KAFKA = "localhost:9092"


class StreamSettings(Section):
    """Where URLs come from and pages go to, how politely, and what is done in an outage."""

    redis_url: SecretStr = Field(
        SecretStr(""), description="redis://… of queue and cache; empty: the store, without Kafka"
    )
    kafka_bootstrap_servers: str = Field(LOCAL_KAFKA, description="host:port, with commas")
    kafka_user: str = Field("", description="for SASL; empty: none")
    kafka_password: SecretStr = SecretStr("")
    kafka_scram: bool = Field(False, description="SCRAM-SHA-256 instead of PLAIN, for SASL")
    kafka_tls: bool = Field(False, description="whether connections to Kafka are encrypted")
    input_queue: str = Field("crawler_queue", min_length=1, description="a list of plain URLs")
    dlq_queue: str = Field("page_fetcher_dlq", min_length=1, description="URLs that failed")
    webpage_log_topic: str = Field("webpage_log", min_length=1)
    topic_partitions: int = Field(6, ge=1, description="of a topic that `stream init` creates")
    cache_ttl_seconds: int = Field(3600, ge=1, description="until the body of a page is forgotten")
    rate_limit_per_second: float = Field(1.0, gt=0, le=1000, description="requests to a domain")
    max_retries: int = Field(3, ge=1, description="attempts at a URL that fails by itself")
    retry_backoff_base_seconds: float = Field(2.0, ge=0)
    circuit_breaker_failure_threshold: int = Field(5, ge=1, description="failures in a row")
    circuit_breaker_initial_backoff_seconds: float = Field(30.0, gt=0)
    circuit_breaker_max_backoff_seconds: float = Field(300.0, gt=0)
    circuit_breaker_backoff_multiplier: float = Field(2.0, ge=1)
    poll_timeout_seconds: float = Field(
        5.0, gt=0, description="an empty queue is looked at so often, and every second"
    )
    workers: int = Field(256, ge=1, le=10_000, description="pages under way at a time")
    port: int = Field(8002, ge=0, le=65535, description="of health and metrics of `stream run`")
    max_undelivered_mb: int = Field(
        256, ge=1, description="of pages that wait for cache or Kafka; then no more are begun"
    )
    seeds_file: Path | None = Field(
        None, description="a YAML file of seeds that are pushed beside the fetching"
    )
    max_waiting: int = Field(
        100_000, ge=1, description="URLs in the queue; then seeds and links push no more"
    )
    links_depth: int = Field(3, ge=0, description="links away from a page that was pushed")
    links_per_site: int = Field(10_000, ge=0, description="links that are followed in a week")
    links_same: Literal["domain", "host"] = Field(
        "domain", description="what links of a page may lead to: its registrable domain or host"
    )

    @property
    def uses_servers(self) -> bool:
        """Whether Redis and Kafka carry the work, and not the store."""
        return bool(self.redis_url.get_secret_value())

    @property
    def kafka_options(self) -> dict[str, Any]:
        """What Kafka's client has to know to be let in."""
        way = "SSL" if self.kafka_tls else "PLAINTEXT"
        if not self.kafka_user:
            return {"security_protocol": way}
        return {
            "security_protocol": f"SASL_{way}",
            "sasl_mechanism": "SCRAM-SHA-256" if self.kafka_scram else "PLAIN",
            "sasl_plain_username": self.kafka_user,
            "sasl_plain_password": self.kafka_password.get_secret_value(),
        }

    def as_policy(self) -> PolicyEntry:
        """The pace of domains on which no policy has a word."""
        several = max(1, int(self.rate_limit_per_second))
        return PolicyEntry(
            tokens_per_interval=several,
            interval_seconds=several / self.rate_limit_per_second,
            # Evenly: many in a second do not come all at its beginning.
            request_delay_ms=round(1000 / self.rate_limit_per_second),
        )

    def as_retry(self) -> RetrySettings:
        """How often a URL is tried; of a site that is down each one goes back at once."""
        base = round(self.retry_backoff_base_seconds * 1000)
        return RetrySettings(
            max_attempts=self.max_retries,
            initial_delay_ms=base,
            max_delay_ms=max(base, 60_000),
            backoff_multiplier=2,
            site_wide=False,
        )

    def as_breaker(self) -> BreakerSettings:
        """When a domain counts as down: after so many failures in a row, until a HEAD succeeds."""
        return BreakerSettings(
            rules="stream",
            trip="consecutive",
            threshold=self.circuit_breaker_failure_threshold,
            cooldown_seconds=self.circuit_breaker_initial_backoff_seconds,
            max_cooldown_seconds=self.circuit_breaker_max_backoff_seconds,
            cooldown_factor=self.circuit_breaker_backoff_multiplier,
            probe="head",
        )
