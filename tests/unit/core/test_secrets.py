"""Secrets at rest: who can read them again, and what is said when nobody can."""

import stat
from pathlib import Path

import pytest
from pydantic import SecretStr

from penstock.core.errors import SecretLost, SettingsError
from penstock.core.secrets import SecretBox

PASSWORD = "hunter2-päss"
OLD, NEW = "the old passphrase", "the new passphrase"


def box_of(*keys: str, file: Path | None = None) -> SecretBox:
    return SecretBox([SecretStr(key) for key in keys], "PENSTOCK_KEYS", file)


def test_what_is_sealed_can_be_opened_and_not_be_read() -> None:
    box = box_of(NEW)

    sealed = box.seal(PASSWORD)

    assert PASSWORD not in sealed
    assert sealed != box.seal(PASSWORD)
    assert box.open(sealed) == PASSWORD


def test_the_first_key_seals_and_all_open() -> None:
    sealed_before = box_of(OLD).seal(PASSWORD)
    both = box_of(NEW, OLD)

    assert both.open(sealed_before) == PASSWORD
    assert box_of(NEW).open(both.seal(PASSWORD)) == PASSWORD


@pytest.mark.parametrize("sealed", ["", "nonsense", "päss", None])
def test_what_no_key_opens_is_lost_with_the_name_of_the_setting(sealed: str | None) -> None:
    sealed = box_of(OLD).seal(PASSWORD) if sealed is None else sealed

    for box in (box_of(NEW), box_of()):
        with pytest.raises(SecretLost, match="PENSTOCK_KEYS") as error:
            box.open(sealed)
        assert PASSWORD not in repr(error.value)


def test_without_a_key_nothing_is_sealed() -> None:
    with pytest.raises(SettingsError, match=r"^PENSTOCK_KEYS is not set"):
        box_of().seal(PASSWORD)


def test_a_key_is_made_when_it_is_first_needed_and_kept(tmp_path: Path) -> None:
    file = tmp_path / "keys" / "key"
    box, other = box_of(file=file), box_of(file=file)
    with pytest.raises(SecretLost):
        other.open("nonsense")
    assert not file.exists()

    sealed = box.seal(PASSWORD)

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(file.parent.iterdir()) == [file]
    assert other.open(sealed) == PASSWORD
    assert box_of(NEW, file=file).open(sealed) == PASSWORD
    assert box_of(NEW).open(box_of(NEW, file=file).seal(PASSWORD)) == PASSWORD


def test_a_key_that_cannot_be_kept_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("a file, and no folder")

    with pytest.raises(SettingsError, match="or set PENSTOCK_KEYS"):
        box_of(file=tmp_path / "keys" / "key").seal(PASSWORD)
