"""The settings of the queue."""

from pydantic import Field

from penstock.kernel.settings import Section


class QueueSettings(Section):
    """How much waits, how much is claimed, and when a worker is taken for dead."""

    max_pending: int = Field(1_000_000, ge=1, description="items of one lane that are not over")
    max_pending_per_quota: int | None = Field(None, ge=1, description="of one run or owner")
    retry_after_seconds: float = Field(60, gt=0, description="told to who finds a lane full")
    capacity: int = Field(1024, ge=1, description="claims of one process")
    claim_at_once: int = Field(500, ge=1, le=5000)
    keep_seconds: float = Field(30, ge=0, description="longest wait of a claim in this process")
    grace_seconds: float = Field(30, ge=0, description="for what is under way at a shutdown")
    beat_seconds: float = Field(5, gt=0)
    silence_seconds: float = Field(20, gt=0, description="until a worker is taken for dead")
    keep_done_hours: float = Field(72, ge=0, description="until finished items are forgotten")
