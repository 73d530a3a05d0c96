"""Content codings, undone piece by piece, so that a bomb never becomes more than a piece."""

import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import brotli

if sys.version_info >= (3, 14):
    from compression.zstd import DecompressionParameter, ZstdDecompressor, ZstdError
else:
    from backports.zstd import DecompressionParameter, ZstdDecompressor, ZstdError

PIECE = 64 * 1024
#: brotli gives more than it is asked for: twice this, where half a piece would be three times.
BROTLI_PIECE = PIECE // 4
#: What HTTP allows a zstd frame to ask for: a window of 8 MB.
ZSTD_WINDOW_LOG = 23
GZIP, ZLIB, RAW_DEFLATE = 31, 15, -15
#: Each gzip member or zstd frame costs a new decoder, and an empty one takes only a few bytes.
MAX_MEMBERS = 256


class BadEncoding(Exception):
    """The body is not what its Content-Encoding says."""


class Decoder(Protocol):
    """Undoes one coding."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decode some more; each piece is at most `PIECE` long."""
        ...

    def finish(self) -> None:
        """Complain if the data ended too early."""
        ...


class _Inflater:
    """gzip and deflate; several gzip members in a row are one body."""

    def __init__(self, wbits: int) -> None:
        self._wbits = wbits
        self._inflate = zlib.decompressobj(wbits)
        self._begun = False
        self._members = 1

    def feed(self, data: bytes) -> Iterator[bytes]:
        if not self._begun and data:
            self._begin(data)
        piece = b""
        while data or len(piece) == PIECE:
            if self._inflate.eof:
                if self._wbits != GZIP or not data:
                    return
                self._members = _one_more(self._members)
                self._inflate = zlib.decompressobj(self._wbits)
            try:
                piece = self._inflate.decompress(data, PIECE)
            except zlib.error as error:
                raise BadEncoding(str(error)) from error
            data = self._inflate.unconsumed_tail or self._inflate.unused_data
            if piece:
                yield piece

    def finish(self) -> None:
        if self._begun and not self._inflate.eof:
            raise BadEncoding("the compressed data ends too early")

    def _begin(self, data: bytes) -> None:
        """Many servers send deflate without the zlib header it should have."""
        self._begun = True
        if self._wbits == ZLIB and data[0] & 0x0F != zlib.DEFLATED:
            self._wbits = RAW_DEFLATE
            self._inflate = zlib.decompressobj(RAW_DEFLATE)


class _Brotli:
    def __init__(self) -> None:
        self._brotli = brotli.Decompressor()
        self._begun = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        self._begun = self._begun or bool(data)
        while True:
            try:
                piece: bytes = self._brotli.process(data, output_buffer_limit=BROTLI_PIECE)
            except brotli.error as error:
                raise BadEncoding(str(error)) from error
            data = b""
            if piece:
                yield piece
            # It says that it can accept more even while it has more to give.
            if not piece and self._brotli.can_accept_more_data():
                return
            if self._brotli.is_finished():
                return

    def finish(self) -> None:
        if self._begun and not self._brotli.is_finished():
            raise BadEncoding("the compressed data ends too early")


class _Zstd:
    def __init__(self) -> None:
        self._zstd = self._fresh()
        self._begun = False
        self._frames = 1

    def feed(self, data: bytes) -> Iterator[bytes]:
        self._begun = self._begun or bool(data)
        while data or not (self._zstd.needs_input or self._zstd.eof):
            if self._zstd.eof:
                self._frames = _one_more(self._frames)
                self._zstd = self._fresh()
            try:
                piece = self._zstd.decompress(data, PIECE)
            except ZstdError as error:
                raise BadEncoding(str(error)) from error
            data = self._zstd.unused_data if self._zstd.eof else b""
            if piece:
                yield piece

    def finish(self) -> None:
        if self._begun and not self._zstd.eof:
            raise BadEncoding("the compressed data ends too early")

    @staticmethod
    def _fresh() -> ZstdDecompressor:
        return ZstdDecompressor(options={DecompressionParameter.window_log_max: ZSTD_WINDOW_LOG})


def _one_more(members: int) -> int:
    if members >= MAX_MEMBERS:
        raise BadEncoding(f"the compressed data has more than {MAX_MEMBERS} members")
    return members + 1


_DECODERS: dict[str, Callable[[], Decoder]] = {
    "gzip": lambda: _Inflater(GZIP),
    "x-gzip": lambda: _Inflater(GZIP),
    "deflate": lambda: _Inflater(ZLIB),
    "br": _Brotli,
    "zstd": _Zstd,
}


def codings(header_values: Sequence[str]) -> list[str]:
    """The codings that were applied to a body, in that order, without `identity`."""
    names = (name.strip().lower() for value in header_values for name in value.split(","))
    return [name for name in names if name not in ("", "identity")]


class Decoding:
    """A chain of decoders; every layer's output is counted, so no layer can explode unseen."""

    def __init__(self, names: Sequence[str], max_bytes: int) -> None:
        unknown = [name for name in names if name not in _DECODERS]
        if unknown:
            raise BadEncoding(f"unknown content coding '{unknown[0][:40]}'")
        self._decoders = [_DECODERS[name]() for name in reversed(names)]
        self._room = [max_bytes] * len(self._decoders)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decode some more of the body; raise `OverflowError` when it gets too large.

        A piece may be empty: a layer can swallow much and give nothing, and between two
        pieces is where the caller can let others have a turn.
        """
        return self._through(data, 0)

    def finish(self) -> None:
        """Complain if any layer ended too early."""
        for decoder in self._decoders:
            decoder.finish()

    def _through(self, data: bytes, layer: int) -> Iterator[bytes]:
        if layer == len(self._decoders):
            yield data
            return
        for piece in self._decoders[layer].feed(data):
            self._room[layer] -= len(piece)
            if self._room[layer] < 0:
                raise OverflowError
            yield b""
            yield from self._through(piece, layer + 1)
