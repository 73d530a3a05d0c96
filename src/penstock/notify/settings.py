"""The settings of webhooks and alerts."""

from typing import Literal

from pydantic import Field, SecretStr

from penstock.kernel.settings import Section

Severity = Literal["P1", "P2", "P3"]


class NotifySettings(Section):
    """How callbacks are signed and delivered, and who is told of alerts."""

    webhook_secret: SecretStr = Field(
        SecretStr(""), description="signs callbacks; empty: one is generated and kept"
    )
    timeout_seconds: float = Field(10, gt=0, description="for one delivery, DNS to answer")
    retries: int = Field(3, ge=0, description="after the first attempt; then it is parked")
    retry_seconds: float = Field(2, gt=0, description="before the first retry; doubles each time")
    at_once: int = Field(256, ge=1, description="deliveries under way at the same time")
    per_receiver: int = Field(4, ge=1, description="the same, to one receiver")

    alert_urls: SecretStr = Field(
        SecretStr(""),
        description="of services that Apprise knows, such as mailto://…; apart by spaces",
    )
    alert_webhook_url: str = Field("", description="is told of ops alerts, signed as callbacks")
    alert_severity: Severity = Field("P3", description="the least that goes to alert_urls")
    alert_seconds: float = Field(30, gt=0, description="for one message to one service")

    @property
    def pauses(self) -> tuple[float, ...]:
        """Seconds before each retry."""
        return tuple(self.retry_seconds * 2**retry for retry in range(self.retries))
