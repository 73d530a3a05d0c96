"""Secrets that are kept: encrypted with keys of the settings, of which the first encrypts.

Any passphrase is a key. Where none is set and there is a folder for it, one is made and kept.
"""

import base64
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from pydantic import SecretStr

from penstock.core.errors import SecretLost, SettingsError

BYTES = 32
PURPOSE = b"penstock: secrets at rest"


class SecretBox:
    """Seals secrets with the first key, and opens what any of the keys sealed.

    `setting` is where keys are set, for those who are told that one is missing; `file` is where
    one may be made that is used while none is set, and opens what it sealed for ever.
    """

    def __init__(self, keys: Sequence[SecretStr], setting: str, file: Path | None = None) -> None:
        self._set = [_fernet(key.get_secret_value()) for key in keys]
        self._setting = setting
        self._file = file
        self._made: Fernet | None = None

    def seal(self, text: str) -> str:
        """The text as nobody without the key can read it."""
        if not self._set and self._file:
            keep_secret(self._file, self._setting)
        if not (keys := self._keys()):
            raise SettingsError(
                f"{self._setting} is not set: without a key no password can be kept"
            )
        return keys[0].encrypt(text.encode()).decode()

    def open(self, sealed: str) -> str:
        """The text again."""
        try:
            return MultiFernet(self._keys()).decrypt(sealed.encode()).decode()
        except (InvalidToken, ValueError):
            raise SecretLost(
                f"no key opens it: put the one that sealed it into {self._setting}, or set the "
                "password anew"
            ) from None

    def _keys(self) -> list[Fernet]:
        if self._made is None and self._file and self._file.exists():
            self._made = _fernet(keep_secret(self._file, self._setting))
        return [*self._set, self._made] if self._made else self._set


def keep_secret(path: Path, setting: str) -> str:
    """The secret in a file, which is made if there is none."""
    try:
        if not path.exists():
            _write_new(path)
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"{path} cannot be used: let Penstock write there, or set {setting}"
        ) from error


def _write_new(path: Path) -> None:
    """Write a secret whole, unless another process was faster."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    file = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(file, secrets.token_hex(BYTES).encode())
        os.fsync(file)
        with suppress(FileExistsError):
            path.hardlink_to(unfinished)
    finally:
        os.close(file)
        unfinished.unlink()


def _fernet(passphrase: str) -> Fernet:
    derived = HKDF(SHA256(), BYTES, salt=None, info=PURPOSE).derive(
        passphrase.encode(errors="surrogatepass")
    )
    return Fernet(base64.urlsafe_b64encode(derived))
