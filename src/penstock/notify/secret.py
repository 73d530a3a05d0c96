"""The secret that signs webhooks: the operator's, else one that is generated once and kept."""

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from pydantic import SecretStr

from penstock.core.errors import SettingsError

FILE_NAME = "webhook-secret"
BYTES = 32


class WebhookSecret(NamedTuple):
    """What signs webhooks; a new one has to be shown to somebody, once."""

    value: SecretStr
    is_new: bool = False

    @property
    def key(self) -> bytes:
        """The bytes that sign."""
        return self.value.get_secret_value().encode()


def find_secret(configured: SecretStr, folder: Path) -> WebhookSecret:
    """The configured secret, else the one in the folder, which is made if there is none."""
    if configured.get_secret_value():
        return WebhookSecret(configured)
    path = folder / FILE_NAME
    try:
        is_new = not path.exists() and _write_new(path)
        return WebhookSecret(SecretStr(path.read_text(encoding="ascii").strip()), is_new)
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"{path} cannot be used: let Penstock write there, or set "
            "PENSTOCK_NOTIFY__WEBHOOK_SECRET"
        ) from error


def _write_new(path: Path) -> bool:
    """Write a secret whole, unless another process was faster; whether it is ours."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    file = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(file, secrets.token_hex(BYTES).encode())
        os.fsync(file)
        with suppress(FileExistsError):
            path.hardlink_to(unfinished)
            return True
        return False
    finally:
        os.close(file)
        unfinished.unlink()
