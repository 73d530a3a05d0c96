"""The settings of the price monitor."""

from pydantic import Field, field_validator

from penstock.core.errors import SettingsError
from penstock.kernel.policy import PolicyEntry
from penstock.kernel.settings import Section
from penstock.workloads.monitor.schedules import DEFAULT_SCHEDULE, timing_of


class MonitorSettings(Section):
    """How much is read at once, how often, how politely, and how long pages are kept."""

    default_schedule: str = Field(
        DEFAULT_SCHEDULE, description="of targets without one: a span or a cron expression"
    )
    tick_seconds: float = Field(10, gt=0, description="between two looks for what is due")
    max_pending_per_adapter: int = Field(1000, ge=1, description="targets of an adapter in runs")
    max_pending_total: int = Field(10_000, ge=1, description="targets of all adapters in runs")
    max_age_hours: float = Field(24, gt=0, description="until a waiting target is STALE")
    retry_after_seconds: float = Field(60, gt=0, description="told to who finds the queue full")
    requests_per_second: float = Field(0.5, gt=0, le=1000, description="to a domain")
    request_delay_ms: int = Field(2000, ge=0, le=3_600_000, description="between two requests")
    max_concurrent: int = Field(1, ge=1, description="requests to a domain at a time")
    canary_targets: int = Field(3, ge=1, description="in the first run of an enabled adapter")
    recheck_days: float = Field(7, gt=0, description="until a BROKEN target is tried again")
    keep_pages_days: float = Field(14, ge=0, description="for replay and diagnosis")
    keep_results_days: float = Field(90, gt=0, description="what became of targets in runs")
    keep_runs_days: float = Field(90, gt=0, description="runs, and what was decided in them")
    import_lines: int = Field(500_000, ge=1, description="of one import")
    shadow: dict[str, str] = Field(
        default_factory=dict, description="adapters and the candidates that read beside them"
    )

    @field_validator("default_schedule")
    @classmethod
    def _is_schedule(cls, schedule: str) -> str:
        try:
            timing_of(schedule)
        except SettingsError as error:
            raise ValueError(str(error)) from error
        return schedule

    def as_policy(self) -> PolicyEntry:
        """The pace of domains on which no policy has a word."""
        # One request in any window of so many seconds, or several in one of a second.
        several = max(1, int(self.requests_per_second))
        return PolicyEntry(
            tokens_per_interval=several,
            interval_seconds=several / self.requests_per_second,
            request_delay_ms=self.request_delay_ms,
            max_concurrent=self.max_concurrent,
        )
