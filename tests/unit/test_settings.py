"""Settings: where a value may come from, which source wins, and what an error names."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.core.errors import SettingsError
from penstock.settings import ALIASES, load_settings, unknown_variables

SetVariables = Callable[..., None]


@pytest.fixture(autouse=True)
def _clean_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder, and an environment without anything of ours."""
    for name in list(os.environ):
        if name.startswith("PENSTOCK_") or name.removesuffix("_FILE") in ALIASES:
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> SetVariables:
    """Set variables, without the prefix they all have."""

    def set_variables(**variables: Any) -> None:
        for name, value in variables.items():
            monkeypatch.setenv(f"PENSTOCK_{name}", str(value))

    return set_variables


def test_nothing_needs_to_be_set() -> None:
    settings = load_settings()

    assert (settings.log.level, settings.log.service_level) == ("WARNING", "INFO")
    assert settings.shared.url.get_secret_value() == ""


def test_environment_sets_a_key_of_a_section(environment: SetVariables) -> None:
    environment(PACING__MAX_CONCURRENT=7, HTTP__TIMEOUT_SECONDS=2.5, LOG__LEVEL="debug")

    settings = load_settings()

    assert settings.pacing.max_concurrent == 7
    assert settings.http.timeout_seconds == 2.5
    assert settings.log.level == settings.log.service_level == "debug"
    assert settings.pacing.request_delay_ms == 2000


def test_lists_and_pairs_in_the_environment_are_separated_by_commas(
    environment: SetVariables,
) -> None:
    environment(
        ADMISSION__DENY="a.test,b.test",
        ADMISSION__KNOWN_HOSTS="a=1.2.3.4:80,*.b=5.6.7.8",
        ADMISSION__EXTRA_PORTS="8000,9000",
        PROXIES__ENDPOINTS="http://a:1,socks5://jo:p%2Cw@b:2",
        POLICIES__FILES="one.yaml",
    )

    settings = load_settings()

    assert settings.admission.deny == ("a.test", "b.test")
    assert settings.admission.known_hosts == {"a": "1.2.3.4:80", "*.b": "5.6.7.8"}
    assert settings.admission.extra_ports == {8000, 9000}
    assert [proxy.get_secret_value() for proxy in settings.proxies.endpoints] == [
        "http://a:1",
        "socks5://jo:p%2Cw@b:2",
    ]
    assert settings.policies.files == (Path("one.yaml"),)


def test_configuration_file_in_the_folder_is_read() -> None:
    Path("penstock.yaml").write_text(
        "pacing: {max_concurrent: 7}\nadmission: {deny: [a.test], known_hosts: {b: 1.2.3.4}}\n"
    )

    settings = load_settings()

    assert settings.pacing.max_concurrent == 7
    assert settings.admission.deny == ("a.test",)
    assert settings.admission.known_hosts == {"b": "1.2.3.4"}


def test_configuration_file_may_stand_elsewhere(environment: SetVariables, tmp_path: Path) -> None:
    Path("penstock.yaml").write_text("pacing: {max_concurrent: 7}")
    other = tmp_path / "other.yaml"
    other.write_text("pacing: {max_concurrent: 9}")
    environment(CONFIG=other)

    assert load_settings().pacing.max_concurrent == 9


@pytest.mark.parametrize("content", ["", "# nothing yet\n"])
def test_empty_configuration_file_changes_nothing(content: str) -> None:
    before = load_settings()
    Path("penstock.yaml").write_text(content)

    assert load_settings() == before


def test_secret_may_stand_in_a_file(environment: SetVariables, tmp_path: Path) -> None:
    secret = tmp_path / "redis"
    secret.write_text("redis://:hunter2@redis:6379\n")
    environment(SHARED__URL_FILE=secret)

    assert load_settings().shared.url.get_secret_value() == "redis://:hunter2@redis:6379"


def test_list_of_secrets_may_stand_in_a_file(environment: SetVariables, tmp_path: Path) -> None:
    secret = tmp_path / "proxies"
    secret.write_text("http://jo:pw@a:1,http://b:2\n")
    environment(PROXIES__ENDPOINTS_FILE=secret)

    assert len(load_settings().proxies.endpoints) == 2


def test_setting_that_is_itself_a_file_name_is_not_read_as_a_secret(
    environment: SetVariables, tmp_path: Path
) -> None:
    environment(ADMISSION__OPT_OUT_FILE=tmp_path / "opted-out.txt")

    settings = load_settings()

    assert settings.admission.opt_out_file == tmp_path / "opted-out.txt"
    assert settings.admission.opt_out == ()


def test_environment_wins_over_secret_file_over_configuration_file(
    environment: SetVariables, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("from-secret")
    Path("penstock.yaml").write_text(
        "shared: {url: from-yaml, prefix: from-yaml}\nlog: {level: info}"
    )
    environment(SHARED__URL="from-environment", SHARED__URL_FILE=secret)
    environment(SHARED__PREFIX_FILE=secret)

    settings = load_settings()

    assert settings.shared.url.get_secret_value() == "from-environment"
    assert settings.shared.prefix == "from-secret"
    assert settings.log.level == "info"


def test_override_in_code_wins_over_everything(environment: SetVariables) -> None:
    environment(PACING__MAX_CONCURRENT=7)

    assert load_settings(pacing={"max_concurrent": 9}).pacing.max_concurrent == 9


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PACING__MAX_CONCURRENT", "many"),
        ("PACING__MAX_CONCURRENT", "0"),
        ("PACING__NO_SUCH_KEY", "1"),
        ("ADMISSION__OPEN_RANGES", "10.0.0.0/8,nonsense"),
        ("ADMISSION__EXTRA_PORTS", "80,web"),
        ("BREAKER__TRIP", "sometimes"),
        ("LOG__LEVEL", "loud"),
        ("IDENTITY__PRODUCT", "Not a token"),
        ("POLICIES__SHIPPED", "perhaps"),
        ("LOG", "debug"),
        ("CONFIG", "/no/such/file.yaml"),
        ("SHARED__URL_FILE", "/no/such/file"),
    ],
)
def test_error_names_the_variable(environment: SetVariables, name: str, value: str) -> None:
    environment(**{name: value})

    with pytest.raises(SettingsError) as error:
        load_settings()

    assert str(error.value).startswith((f"PENSTOCK_{name}: ", f"{value} "))


def test_error_does_not_repeat_a_secret(environment: SetVariables) -> None:
    environment(PROXIES__ENDPOINTS="http://jo:hunter2@p:1", PROXIES__DOMAIN_COOLDOWN_SECONDS="x")

    with pytest.raises(SettingsError, match="PENSTOCK_PROXIES__DOMAIN_COOLDOWN_SECONDS") as error:
        load_settings()

    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"pacing: {", "penstock.yaml is not YAML"),
        (b"- pacing", "penstock.yaml must map sections to settings"),
        (b"false", "penstock.yaml must map sections to settings"),
        (b"1: {}", "penstock.yaml must map sections to settings"),
        (b"\xff\xfe", "penstock.yaml cannot be read: it is not UTF-8"),
        (b"pacin: {}", "PENSTOCK_PACIN: "),
        (b"pacing: {max_concurent: 1}", "PENSTOCK_PACING__MAX_CONCURENT: "),
        (b"pacing: fast", "PENSTOCK_PACING: "),
        (b"pacing: 5", "PENSTOCK_PACING: "),
        (b"live: {memory_soft_limit_mb: 4096}", "PENSTOCK_LIVE: "),
    ],
)
def test_mistake_in_the_configuration_file_is_named(content: bytes, problem: str) -> None:
    Path("penstock.yaml").write_bytes(content)

    with pytest.raises(SettingsError) as error:
        load_settings()

    assert str(error.value).startswith(problem)


def test_secret_file_that_is_not_text_is_named(environment: SetVariables, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"\xff\xfe")
    environment(SHARED__URL_FILE=secret)

    with pytest.raises(SettingsError, match=r"PENSTOCK_SHARED__URL_FILE: .*not UTF-8"):
        load_settings()


def test_variables_that_are_most_likely_misspelt_are_found() -> None:
    environment = {
        "PENSTOCK_PACING__MAX_CONCURENT": "misspelt key",
        "PENSTOCK_PACIN__MAX_CONCURRENT": "misspelt section",
        "PENSTOCK_PACING_MAX_CONCURRENT": "one underscore missing",
        "PENSTOCK_SHARED__ULR_FILE": "misspelt secret",
        "PENSTOCK_PACING__MAX_CONCURRENT": "known",
        "PENSTOCK_SHARED__URL_FILE": "known secret",
        "PENSTOCK_ADMISSION__OPT_OUT_FILE": "known",
        "PENSTOCK_CONFIG": "known",
        "PENSTOCK_TEST_REDIS": "for the tests",
        "HOME": "not ours",
    }

    assert unknown_variables(environment) == [
        "PENSTOCK_PACING_MAX_CONCURRENT",
        "PENSTOCK_PACING__MAX_CONCURENT",
        "PENSTOCK_PACIN__MAX_CONCURRENT",
        "PENSTOCK_SHARED__ULR_FILE",
    ]
