"""Content codings are undone whole, piece by piece, and never beyond the limit."""

import gzip
import zlib
from collections.abc import Callable, Iterable
from functools import partial

import brotli
import pytest
from backports import zstd
from hypothesis import given
from hypothesis.strategies import binary, integers, lists, sampled_from

from penstock.kernel.fetchers.decoding import (
    MAX_MEMBERS,
    PIECE,
    BadEncoding,
    Decoding,
    codings,
)

LIMIT = 10 * 1024 * 1024
CONTENT = b"<p>the same page in every coding</p>" * 500


def raw_deflate(content: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(content) + compressor.flush()


CODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": partial(brotli.compress, quality=5),
    "zstd": zstd.compress,
}
MEMBERS: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "zstd": zstd.compress}


def decode(names: list[str], chunks: Iterable[bytes], limit: int = LIMIT) -> bytes:
    decoding = Decoding(names, limit)
    body = b"".join(piece for chunk in chunks for piece in decoding.feed(chunk))
    decoding.finish()
    return body


@pytest.mark.parametrize("name", CODERS)
@pytest.mark.parametrize("size", [1, 7, 1000, 100_000])
def test_a_body_is_decoded_however_it_is_cut(name: str, size: int) -> None:
    coded = CODERS[name](CONTENT)
    chunks = [coded[at : at + size] for at in range(0, len(coded), size)]

    assert decode([name], chunks) == CONTENT


@pytest.mark.parametrize("name", CODERS)
@pytest.mark.parametrize("size", [1000, 1_000_000])
def test_a_long_body_is_decoded_to_its_end(name: str, size: int) -> None:
    content = b"".join(b"line %d of a long page\n" % number for number in range(40_000))
    coded = CODERS[name](content)
    chunks = [coded[at : at + size] for at in range(0, len(coded), size)]

    assert decode([name], chunks) == content


@given(binary(), lists(sampled_from(sorted(CODERS)), max_size=5), integers(1, 64))
def test_codings_are_undone_in_reverse_order(content: bytes, names: list[str], size: int) -> None:
    coded = content
    for name in names:
        coded = CODERS[name](coded)
    chunks = [coded[at : at + size] for at in range(0, len(coded), size)]

    assert decode(names, chunks) == content


def test_deflate_may_lack_its_header() -> None:
    assert decode(["deflate"], [raw_deflate(CONTENT)]) == CONTENT


@pytest.mark.parametrize("name", MEMBERS)
def test_several_members_are_one_body(name: str) -> None:
    coded = MEMBERS[name](b"one ") + MEMBERS[name](b"two ") + MEMBERS[name](b"three")

    assert decode([name], [coded]) == b"one two three"
    assert decode([name], [coded[:20], coded[20:]]) == b"one two three"


@pytest.mark.parametrize("name", MEMBERS)
def test_members_without_end_are_no_body(name: str) -> None:
    member = MEMBERS[name](b"")

    assert decode([name], [member * MAX_MEMBERS]) == b""
    with pytest.raises(BadEncoding, match="members"):
        decode([name], [member * (MAX_MEMBERS + 1)])


@pytest.mark.parametrize("name", CODERS)
def test_no_piece_is_large(name: str) -> None:
    decoding = Decoding([name], LIMIT)

    pieces = list(decoding.feed(CODERS[name](bytes(20 * PIECE))))

    assert sum(map(len, pieces)) == 20 * PIECE
    assert max(map(len, pieces)) <= PIECE


@pytest.mark.parametrize("name", CODERS)
def test_a_body_beyond_the_limit_is_not_decoded(name: str) -> None:
    coded = CODERS[name](bytes(20 * PIECE))

    assert len(decode([name], [coded], limit=20 * PIECE)) == 20 * PIECE
    with pytest.raises(OverflowError):
        decode([name], [coded], limit=20 * PIECE - 1)


def test_a_layer_in_between_has_the_same_limit() -> None:
    inner = gzip.compress(bytes(100 * PIECE), 0)

    with pytest.raises(OverflowError):
        decode(["gzip", "gzip"], [gzip.compress(inner)], limit=10 * PIECE)


def test_a_layer_that_gives_nothing_still_lets_others_have_a_turn() -> None:
    nothing = b"\x78\xda" + b"\x00\x00\x00\xff\xff" * 100_000
    decoding = Decoding(["deflate", "gzip"], LIMIT)

    pieces = list(decoding.feed(gzip.compress(nothing)))

    assert b"".join(pieces) == b""
    assert len(pieces) >= len(nothing) // PIECE


@pytest.mark.parametrize("name", CODERS)
def test_a_body_that_ends_too_early_is_no_body(name: str) -> None:
    with pytest.raises(BadEncoding):
        decode([name], [CODERS[name](CONTENT)[:-5]])


@pytest.mark.parametrize("name", CODERS)
def test_what_was_never_coded_is_no_body(name: str) -> None:
    with pytest.raises(BadEncoding):
        decode([name], [b"\xff\xfe this was never compressed"])


@pytest.mark.parametrize("name", CODERS)
def test_no_bytes_at_all_are_an_empty_body(name: str) -> None:
    assert decode([name], []) == b""
    assert decode([name], [b""]) == b""


@given(binary(max_size=200), sampled_from(sorted(CODERS)))
def test_garbage_never_raises_anything_else(garbage: bytes, name: str) -> None:
    try:
        decode([name], [garbage])
    except BadEncoding:
        return


def test_an_unknown_coding_is_named() -> None:
    with pytest.raises(BadEncoding, match="x-mystery"):
        Decoding(["gzip", "x-mystery"], LIMIT)


def test_a_zstd_window_larger_than_http_allows_is_refused() -> None:
    options = {int(zstd.CompressionParameter.window_log): 27}
    coded = zstd.compress(bytes(150 * 1024 * 1024), options=options)

    with pytest.raises(BadEncoding):
        decode(["zstd"], [coded])


def asking_for_a_window(log: int) -> bytes:
    """A small page in a frame that does not tell its size, only the window it may need."""
    options = {int(zstd.CompressionParameter.window_log): log}
    compressor = zstd.ZstdCompressor(options=options)
    return compressor.compress(CONTENT, zstd.ZstdCompressor.FLUSH_BLOCK) + compressor.flush()


def test_a_zstd_window_of_eight_megabytes_is_the_largest_allowed() -> None:
    assert decode(["zstd"], [asking_for_a_window(23)]) == CONTENT
    with pytest.raises(BadEncoding):
        decode(["zstd"], [asking_for_a_window(24)])


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([], []),
        (["gzip"], ["gzip"]),
        (["GZip , br"], ["gzip", "br"]),
        (["gzip", "br"], ["gzip", "br"]),
        (["identity"], []),
        ([" , identity,gzip,"], ["gzip"]),
    ],
)
def test_codings_are_read_from_the_headers(values: list[str], names: list[str]) -> None:
    assert codings(values) == names
