"""Settings of live pages: numbers that contradict each other are refused."""

import pytest
from pydantic import ValidationError

from penstock.workloads.live.settings import LiveSettings


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (
            {"memory_soft_limit_mb": 2049},
            "memory_soft_limit_mb is above memory_hard_limit_mb",
        ),
        (
            {"retry_base_delay_seconds": 17},
            "retry_base_delay_seconds is above retry_max_delay_seconds",
        ),
        ({"feeds_per_browser": 11}, "less than or equal to 10"),
        ({"polling_interval_seconds": 0}, "greater than 0"),
        ({"prometheus_port": 70000}, "less than or equal to 65535"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(values: dict[str, float], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        LiveSettings.model_validate(values)


def test_limits_may_be_the_same() -> None:
    settings = LiveSettings(memory_soft_limit_mb=2048, memory_hard_limit_mb=2048)

    assert settings.memory_soft_limit_mb == settings.memory_hard_limit_mb


def test_the_breaker_rests_as_long_each_time() -> None:
    breaker = LiveSettings(
        circuit_breaker_threshold=3,
        circuit_breaker_timeout_seconds=20,
        circuit_breaker_success_threshold=2,
    ).as_breaker()

    assert (breaker.trip, breaker.threshold, breaker.probes_to_close) == ("consecutive", 3, 2)
    assert breaker.cooldown_seconds == breaker.max_cooldown_seconds == 20
