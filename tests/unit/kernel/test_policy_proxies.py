"""Proxies in policies: whether they are used and how often are two questions."""

from pathlib import Path

import pytest

from penstock.core.errors import PolicyError
from penstock.kernel.policy import PolicyEntry, ProxyChoice, dump, load
from tests.unit.kernel.test_policy import PolicyFile

CATALOG = PolicyEntry(proxy=ProxyChoice(requests_per_second=1))


@pytest.fixture
def file(tmp_path: Path) -> PolicyFile:
    return PolicyFile(tmp_path / "policies.yaml")


@pytest.mark.parametrize(
    ("default", "shop", "wanted"),
    [
        ("", "", ("never", None, 1.0)),
        ("proxy: {use: always}", "", ("always", None, 1.0)),
        ("proxy: {region: us}", "proxy: {requests_per_second: 4}", ("always", "us", 0.25)),
        ("", "proxy: {region: de, requests_per_second: 2}", ("always", "de", 0.5)),
        ("proxy: {region: us}", "proxy: {}", ("always", None, 1.0)),
        ("proxy: {use: always}", "proxy: {use: never}", ("never", None, 1.0)),
    ],
)
def test_a_limit_alone_does_not_say_whether_proxies_are_used(
    file: PolicyFile, default: str, shop: str, wanted: tuple[str, str | None, float]
) -> None:
    file.domains(default=default, shop__test=shop)

    choice = file.look_up("shop.test", "catalog", catalog=CATALOG).proxy

    assert (choice.use, choice.region, choice.rest_seconds) == wanted


def test_without_a_limit_the_settings_say_how_long_a_proxy_rests(file: PolicyFile) -> None:
    file.domains(default="proxy: {use: always}")

    assert file.look_up("shop.test").proxy == ProxyChoice(use="always")
    assert file.look_up("shop.test").proxy.rest_seconds is None


@pytest.mark.parametrize("limit", ["0.5", "6", "fast"])
def test_a_limit_is_one_to_five_a_second(file: PolicyFile, limit: str) -> None:
    file.domains(shop__test=f"proxy: {{requests_per_second: {limit}}}")

    with pytest.raises(PolicyError, match=r"proxy\.requests_per_second"):
        load(file.path)


def test_a_limit_survives_writing_and_reading(file: PolicyFile) -> None:
    entries = load(file.domains(shop__test="proxy: {requests_per_second: 2}"))

    file.write(dump(entries))

    assert load(file.path) == entries
    assert file.look_up("shop.test").proxy.use == "never"
