"""The settings of the monitor."""

import pytest
from pydantic import ValidationError

from penstock.workloads.monitor.settings import MonitorSettings


@pytest.mark.parametrize(
    ("requests_per_second", "tokens", "interval"), [(0.5, 1, 2.0), (1, 1, 1.0), (2.5, 2, 0.8)]
)
def test_a_rate_becomes_tokens_in_an_interval(
    requests_per_second: float, tokens: int, interval: float
) -> None:
    policy = MonitorSettings(requests_per_second=requests_per_second).as_policy()
    assert (policy.tokens_per_interval, policy.interval_seconds) == (tokens, interval)


def test_the_defaults_are_those_of_the_monitor() -> None:
    settings = MonitorSettings()
    policy = settings.as_policy()
    assert (policy.request_delay_ms, policy.max_concurrent) == (2000, 1)
    limits = (settings.max_pending_per_adapter, settings.max_pending_total, settings.max_age_hours)
    assert limits == (1000, 10_000, 24)


def test_a_default_schedule_must_be_one() -> None:
    with pytest.raises(ValidationError, match="no schedule"):
        MonitorSettings(default_schedule="sometimes")
