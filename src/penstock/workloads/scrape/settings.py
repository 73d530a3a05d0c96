"""The settings of the scrape service."""

from pydantic import Field, SecretStr

from penstock.kernel.policy import PolicyEntry
from penstock.kernel.settings import Section


class ScrapeSettings(Section):
    """How much is taken on, how long a task may take, and how long its result is kept."""

    max_queue_depth: int = Field(500, ge=1, description="tasks that are not over")
    max_per_workspace: int | None = Field(None, ge=1, description="the same, of one workspace")
    retry_after_seconds: float = Field(10, gt=0, description="told to who finds the queue full")
    task_timeout_seconds: float = Field(60, gt=0, description="of contact with the site")
    patience_hours: float = Field(48, gt=0, description="for a turn, hours or a site's Retry-After")
    rate_limit_tokens: int = Field(2, ge=1, description="requests to a domain per interval")
    rate_limit_interval_seconds: float = Field(10, gt=0, le=86400)
    default_webhook_url: str = Field("", description="for jobs and tasks that name no callback")
    retention_hours: float = Field(168, gt=0, description="until results are forgotten")
    profile_retention_hours: float = Field(
        168, gt=0, description="the same, for profiles of people"
    )
    inline_bytes: int = Field(64 * 1024, ge=0, description="longer texts of pages become files")
    text_seconds: float = Field(10, gt=0, description="of a processor, for a readable text")
    poll_seconds: float = Field(1, gt=0, description="looks for what other processes finished")
    keep_alive_seconds: float = Field(15, gt=0, description="between signs of life of a stream")
    backend_api_url: str = Field("", description="where credentials are asked for")
    backend_service_key: SecretStr = SecretStr("")
    credential_cache_ttl_seconds: float = Field(300, ge=0)
    credential_max_retries: int = Field(3, ge=0)

    def as_policy(self) -> PolicyEntry:
        """The pace of domains on which no policy has a word."""
        return PolicyEntry(
            tokens_per_interval=self.rate_limit_tokens,
            interval_seconds=self.rate_limit_interval_seconds,
        )
