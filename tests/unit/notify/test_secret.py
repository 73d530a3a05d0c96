"""The secret of webhooks: the operator's, or one that is made once."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pydantic import SecretStr

from penstock.core.errors import SettingsError
from penstock.notify.secret import FILE_NAME, find_secret

NONE = SecretStr("")


def test_the_configured_secret_wins_and_nothing_is_written(tmp_path: Path) -> None:
    found = find_secret(SecretStr("mine"), tmp_path / "keys")

    assert (found.key, found.is_new) == (b"mine", False)
    assert not (tmp_path / "keys").exists()


def test_a_missing_one_is_made_once_and_kept_for_nobody_else_to_read(tmp_path: Path) -> None:
    first = find_secret(NONE, tmp_path / "keys")
    second = find_secret(NONE, tmp_path / "keys")

    assert (first.is_new, second.is_new) == (True, False)
    assert first.key == second.key
    assert len(first.key) == 64
    file = tmp_path / "keys" / FILE_NAME
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [path.name for path in file.parent.iterdir()] == [FILE_NAME]


def test_processes_that_start_together_have_one_secret(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda _: find_secret(NONE, tmp_path), range(64)))

    assert len({each.key for each in found}) == 1
    assert sum(each.is_new for each in found) == 1


def test_it_is_not_printed_by_accident(tmp_path: Path) -> None:
    found = find_secret(NONE, tmp_path)

    assert found.key.decode() not in repr(found)


def test_a_folder_that_cannot_be_used_names_the_setting(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("a file")

    with pytest.raises(SettingsError, match="PENSTOCK_NOTIFY__WEBHOOK_SECRET"):
        find_secret(NONE, tmp_path / "keys")
