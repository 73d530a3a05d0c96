"""A file that only one process at a time can hold; the system lets go of it when that ends."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.core.errors import SettingsError


@contextmanager
def only_process(path: Path, complaint: str) -> Iterator[None]:
    """Hold the file, or say why not; the same process may hold it more than once."""
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise SettingsError(f"{path} cannot be locked: {error.strerror}") from error
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(file)
        raise SettingsError(complaint) from error
    try:
        yield
    finally:
        os.close(file)
