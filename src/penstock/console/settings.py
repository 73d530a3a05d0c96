"""The settings of the console."""

from pydantic import Field

from penstock.kernel.settings import Section


class ConsoleSettings(Section):
    """Whether there is a console, and for how long one is signed in."""

    enabled: bool = Field(True, description="whether the API serves the console, at /console")
    session_hours: float = Field(12, gt=0, description="until one has to sign in again")
    idle_minutes: float = Field(60, gt=0, description="the same, without a request")
    refresh_seconds: float = Field(2, gt=0, description="between looks of a page that is live")
    keep_audit_days: float = Field(365, gt=0, description="who changed what")
