"""The kernel's sections: polite and safe where nothing is set, and strict about what is."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from penstock.kernel.policy import SHIPPED_FILE
from penstock.kernel.settings import (
    AdmissionSettings,
    BreakerSettings,
    HttpSettings,
    IdentitySettings,
    PacingSettings,
    PoliciesSettings,
    ProxySettings,
    RetrySettings,
    RobotsSettings,
    Section,
    SharedSettings,
)

SECTIONS: tuple[type[Section], ...] = (
    AdmissionSettings,
    BreakerSettings,
    HttpSettings,
    IdentitySettings,
    PacingSettings,
    PoliciesSettings,
    ProxySettings,
    RetrySettings,
    RobotsSettings,
    SharedSettings,
)


@pytest.mark.parametrize("section", SECTIONS)
def test_section_needs_nothing_and_takes_nothing_unknown(section: type[Section]) -> None:
    section()

    with pytest.raises(ValidationError):
        section.model_validate({"no_such_key": 1})


@pytest.mark.parametrize("section", SECTIONS)
def test_section_cannot_be_changed(section: type[Section]) -> None:
    settings = section()
    name = next(iter(section.model_fields))

    with pytest.raises(ValidationError, match="frozen"):
        setattr(settings, name, getattr(settings, name))


def test_defaults_are_those_of_the_design() -> None:
    assert PacingSettings().requests_per_second == 0.5
    assert PacingSettings().request_delay_ms == 2000
    assert PacingSettings().max_concurrent == 1
    assert PacingSettings().backoff_seconds == 300
    assert BreakerSettings().model_dump(include={"window", "threshold", "cooldown_seconds"}) == {
        "window": 10,
        "threshold": 5,
        "cooldown_seconds": 120,
    }
    assert RobotsSettings().lifetime_seconds == 24 * 3600
    assert RobotsSettings().max_bytes >= 500 * 1024
    assert HttpSettings().max_bytes == 10 * 1024 * 1024
    assert (HttpSettings().max_redirects, HttpSettings().max_encodings) == (5, 5)
    assert ProxySettings().domain_cooldown_seconds == 30


def test_nothing_private_is_open_by_default() -> None:
    settings = AdmissionSettings()

    assert (settings.open_ranges, settings.extra_ports) == ((), frozenset())
    assert settings.known_hosts == {}


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.3, 0.5, 1.0, 2.5, 7.0, 100_000.0])
def test_pace_of_the_platform_keeps_its_rate_exactly(rate: float) -> None:
    entry = PacingSettings(requests_per_second=rate).as_entry()

    assert entry.tokens_per_interval is not None
    assert entry.interval_seconds is not None
    assert entry.tokens_per_interval / entry.interval_seconds == pytest.approx(rate)


def test_pace_of_the_platform_answers_every_question_about_pace() -> None:
    entry = PacingSettings(request_delay_ms=7, max_concurrent=3).as_entry()

    assert (entry.request_delay_ms, entry.max_concurrent) == (7, 3)


@pytest.mark.parametrize(
    ("text", "words"),
    [("", ()), ("a.test", ("a.test",)), (" a.test , ,b.test,", ("a.test", "b.test"))],
)
def test_list_may_be_written_with_commas(text: str, words: tuple[str, ...]) -> None:
    assert AdmissionSettings.model_validate({"deny": text}).deny == words


def test_pairs_ports_ranges_and_files_may_be_written_with_commas() -> None:
    admission = AdmissionSettings.model_validate(
        {
            "known_hosts": "a.test=192.0.2.1:80, *.b.test = 192.0.2.2",
            "extra_ports": "8000, 9000",
            "open_ranges": "10.0.0.0/8,fd00::/8",
        }
    )
    policies = PoliciesSettings.model_validate({"files": "one.yaml,two.yaml"})

    assert admission.known_hosts == {"a.test": "192.0.2.1:80", "*.b.test": "192.0.2.2"}
    assert admission.extra_ports == {8000, 9000}
    assert [str(network) for network in admission.open_ranges] == ["10.0.0.0/8", "fd00::/8"]
    assert policies.files == (Path("one.yaml"), Path("two.yaml"))


def test_printed_settings_do_not_show_the_passwords_of_proxies() -> None:
    settings = ProxySettings.model_validate({"endpoints": "http://jo:hunter2@p.test:1"})

    assert "hunter2" not in repr(settings)
    assert "hunter2" not in str(settings)
    assert settings.endpoints[0].get_secret_value() == "http://jo:hunter2@p.test:1"


def test_files_of_the_operator_come_after_the_shipped_one() -> None:
    own = Path("own.yaml")

    assert PoliciesSettings(files=(own,)).all_files == (SHIPPED_FILE, own)
    assert PoliciesSettings(files=(own,), shipped=False).all_files == (own,)


@pytest.mark.parametrize("product", ["Pen stock", "Penstock/2", "", "Pen\nstock", "Pén"])
def test_product_is_a_token_that_robots_files_can_name(product: str) -> None:
    with pytest.raises(ValidationError):
        IdentitySettings(product=product)


def test_robots_file_is_read_at_least_as_far_as_the_rfc_asks() -> None:
    with pytest.raises(ValidationError):
        RobotsSettings(max_bytes=500 * 1024 - 1)
