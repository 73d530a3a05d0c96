"""Where a store is, said to people."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from penstock.core.errors import SettingsError
from penstock.store.postgres import place_of
from penstock.store.settings import StoreSettings


@pytest.mark.parametrize(
    "password", ["plain", "with/slash", "with#hash", "with?mark", "a:b", "not@escaped", "a@b@c"]
)
def test_the_place_of_a_server_is_named_without_the_password(password: str) -> None:
    url = f"postgresql://ann:{password}@db.example:5433/penstock?password=other&sslkey=secret"
    place = place_of(StoreSettings(url=SecretStr(url)))
    assert place == "postgresql://ann:***@db.example:5433/penstock"


def test_the_place_of_an_embedded_store_is_its_folder(tmp_path: Path) -> None:
    assert place_of(StoreSettings(folder=tmp_path)) == str(tmp_path)


def test_what_is_no_url_is_not_repeated() -> None:
    with pytest.raises(SettingsError) as caught:
        place_of(StoreSettings(url=SecretStr("my-secret")))
    assert "my-secret" not in str(caught.value)
