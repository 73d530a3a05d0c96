"""What an address is, and whether data is what its address says."""

import hashlib
import re

from penstock.core.errors import BlobError

_ADDRESS = re.compile(r"[0-9a-f]{64}")


def address_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def is_address(text: str) -> bool:
    return _ADDRESS.fullmatch(text) is not None


def require_address(text: str) -> str:
    """The address itself; a `BlobError` if it is none, so that it is safe as a name of a file."""
    if not is_address(text):
        raise BlobError(f"{text[:80]!r} is no address of a blob: that is 64 hex digits, lower case")
    return text


def require_intact(address: str, data: bytes) -> bytes:
    """The data itself; a `BlobError` if it is not what the address says."""
    if address_of(data) != address:
        raise BlobError(f"blob {address} is damaged: delete it, then fetch or restore it again")
    return data
