"""What an optional back end says when its client is missing."""

import sys

import pytest

from penstock.app.extras import needed
from penstock.core.errors import SettingsError


def test_a_back_end_whose_client_is_there_is_its_module() -> None:
    assert needed("penstock.events.kafka", "kafka", "A").__name__ == "penstock.events.kafka"


def test_a_missing_client_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith(("penstock.blobs.s3", "obstore"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "obstore", None)

    with pytest.raises(SettingsError, match=r"PENSTOCK_BLOBS__URL needs: .*penstock\[s3\]"):
        needed("penstock.blobs.s3", "s3", "PENSTOCK_BLOBS__URL")


def test_a_module_of_ours_that_is_missing_is_our_own_mistake() -> None:
    with pytest.raises(ModuleNotFoundError):
        needed("penstock.no_such_module", "s3", "PENSTOCK_BLOBS__URL")
