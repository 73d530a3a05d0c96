"""Identity: honest by default, and a browser that fits its region where a policy wants one."""

import random

import pytest

from penstock import __version__
from penstock.kernel.identity import BROWSER_AGENTS, Identities
from penstock.kernel.settings import IdentitySettings


def identities(contact: str = "", product: str = "Penstock") -> Identities:
    return Identities(IdentitySettings(contact=contact, product=product), random.Random(7))


def test_honest_agent_names_product_version_and_contact() -> None:
    ours = identities(contact="mailto:ops@shop.test", product="ShopBot")

    agent = ours.honest()["User-Agent"]
    assert agent == f"ShopBot/{__version__} (+mailto:ops@shop.test)"
    assert ours.product == "ShopBot"


def test_honest_agent_without_a_contact_is_product_and_version() -> None:
    assert identities().honest()["User-Agent"] == f"Penstock/{__version__}"


def test_honest_identity_takes_the_codings_that_can_be_undone() -> None:
    assert identities().honest()["Accept-Encoding"] == "gzip, deflate, br, zstd"


@pytest.mark.parametrize(
    ("region", "language"),
    [
        ("de", "de-DE"),
        ("DE", "de-DE"),
        ("se", "sv-SE"),
        ("br", "pt-BR"),
        ("gb", "en-GB"),
        ("atlantis", "en-US"),
        (None, "en-US"),
    ],
)
def test_browser_speaks_the_language_of_its_region(region: str | None, language: str) -> None:
    headers = identities().browser_like(region)

    assert headers["Accept-Language"].startswith(f"{language},")


def test_browser_does_not_name_penstock() -> None:
    headers = identities(contact="ops@shop.test").browser_like("de")

    assert headers["User-Agent"] in BROWSER_AGENTS
    assert "Penstock" not in repr(headers)
    assert "ops@shop.test" not in repr(headers)


def test_browsers_vary() -> None:
    ours = identities()

    assert {ours.browser_like("us")["User-Agent"] for _ in range(100)} == set(BROWSER_AGENTS)
