"""Compressed zeros: little on the wire, as much as wanted when decompressed."""

import gzip
import struct
import zlib
from collections.abc import Callable
from functools import lru_cache

import brotli
from backports import zstd

BLOCK = 1024 * 1024
GZIP_HEAD = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
ZLIB_HEAD = b"\x78\xda"
EMPTY_LAST_BLOCK = b"\x03\x00"


@lru_cache(maxsize=16)
def bomb(coding: str, size: int) -> bytes:
    """Zeros compressed by `gzip`, `deflate`, `br`, `zstd` or `nested`; size in whole MiB."""
    return CODINGS[coding](size // BLOCK)


def _gzip(blocks: int) -> bytes:
    checksum = 0
    for _ in range(blocks):
        checksum = zlib.crc32(_zeros(), checksum)
    trailer = struct.pack("<II", checksum, blocks * BLOCK % 2**32)
    return GZIP_HEAD + _deflated_blocks(blocks) + trailer


def _deflate(blocks: int) -> bytes:
    adler_of_zeros = (blocks * BLOCK % 65521) << 16 | 1
    return ZLIB_HEAD + _deflated_blocks(blocks) + struct.pack(">I", adler_of_zeros)


def _deflated_blocks(blocks: int) -> bytes:
    # After a full flush nothing refers back, so the same bytes can be repeated.
    compressor = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    block = compressor.compress(_zeros()) + compressor.flush(zlib.Z_FULL_FLUSH)
    return block * blocks + EMPTY_LAST_BLOCK


def _br(blocks: int) -> bytes:
    # The first block brings the zeros, each further one only points back at them.
    compressor = brotli.Compressor(quality=5)
    first, again = (compressor.process(_zeros()) + compressor.flush() for _ in range(2))
    return bytes(first + again * (blocks - 1) + compressor.finish())


def _zstd(blocks: int) -> bytes:
    compressor = zstd.ZstdCompressor()
    first, again = (compressor.compress(_zeros(), compressor.FLUSH_BLOCK) for _ in range(2))
    return first + again * (blocks - 1) + compressor.flush()


def _nested(blocks: int) -> bytes:
    return gzip.compress(_gzip(blocks), mtime=0)


def _zeros() -> bytes:
    return bytes(BLOCK)


CODINGS: dict[str, Callable[[int], bytes]] = {
    "gzip": _gzip,
    "deflate": _deflate,
    "br": _br,
    "zstd": _zstd,
    "nested": _nested,
}
CONTENT_ENCODINGS = {coding: coding for coding in CODINGS} | {"nested": "gzip, gzip"}
