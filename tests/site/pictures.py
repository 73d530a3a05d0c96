"""Pictures of one colour in any size and four formats, made without an imaging library."""

import struct
import zlib
from collections.abc import Callable, Mapping
from typing import NamedTuple

PNG_START = b"\x89PNG\r\n\x1a\n"
#: With codes of eight bits the table is full after so many pixels of a GIF.
GIF_RUN = 126
GIF_CLEAR, GIF_END = 128, 129


class Colour(NamedTuple):
    red: int
    green: int
    blue: int


def png(width: int, height: int, colour: Colour, *, note: bytes = b"") -> bytes:
    """A PNG; with a note, it is larger by that."""
    row = b"\0" + bytes(colour) * width
    notes = [(b"tEXt", b"Comment\0" + note)] if note else []
    chunks = [
        png_header(width, height),
        *notes,
        (b"IDAT", zlib.compress(row * height)),
        (b"IEND", b""),
    ]
    return png_of(*chunks)


def png_header(width: int, height: int) -> tuple[bytes, bytes]:
    return b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)


def png_of(*chunks: tuple[bytes, bytes]) -> bytes:
    return PNG_START + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


def jpeg(width: int, height: int, colour: Colour) -> bytes:
    """A grey one: all blocks but the first say that they are like the one before.

    The two tables of codes have room for that alone: `0` is "no difference" and "no more", `10`
    stands before a difference of six bits.
    """
    blocks = -(-width // 8) * -(-height // 8)
    bits = f"10{colour.green >> 2:06b}0" + "00" * (blocks - 1)
    bits += "1" * (-len(bits) % 8)
    segments = (
        (0xFE, f"{colour.red:02x}{colour.green:02x}{colour.blue:02x}".encode()),
        (0xDB, b"\0" + bytes([16] * 64)),
        (0xC0, struct.pack(">BHHBBBB", 8, height, width, 1, 1, 0x11, 0)),
        (0xC4, b"\x00" + bytes([1, 1, *[0] * 14]) + b"\x00\x06"),
        (0xC4, b"\x10" + bytes([1, *[0] * 15]) + b"\x00"),
        (0xDA, b"\x01\x01\x00\x00\x3f\x00"),
    )
    head = b"".join(
        struct.pack(">BBH", 0xFF, kind, len(data) + 2) + data for kind, data in segments
    )
    return b"\xff\xd8" + head + int(bits, 2).to_bytes(len(bits) // 8, "big") + b"\xff\xd9"


def gif(width: int, height: int, colour: Colour) -> bytes:
    """One that is not packed: the table of codes is cleared before a code gets longer."""
    whole, rest = divmod(width * height, GIF_RUN)
    run = bytes([GIF_CLEAR, *[0] * GIF_RUN])
    codes = run * whole + bytes([GIF_CLEAR, *[0] * rest, GIF_END])
    blocks = (codes[start : start + 255] for start in range(0, len(codes), 255))
    palette = bytes(colour) + bytes(127 * 3)
    return b"".join(
        (
            b"GIF89a" + struct.pack("<HHBBB", width, height, 0x86, 0, 0) + palette,
            b"," + struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\x07",
            *(bytes([len(block)]) + block for block in blocks),
            b"\0;",
        )
    )


def webp(width: int, height: int, colour: Colour) -> bytes:
    """A lossless one whose codes have one sign each, so that its pixels take no room."""
    fields = [(width - 1, 14), (height - 1, 14), (0, 1), (0, 3), (0, 1), (0, 1), (0, 1)]
    for value in (colour.green, colour.red, colour.blue, 255):
        fields += [(1, 1), (0, 1), (1, 1), (value, 8)]
    fields += [(1, 1), (0, 1), (0, 1), (0, 1)]
    number = size = 0
    for value, bits in fields:
        number |= value << size
        size += bits
    data = b"\x2f" + number.to_bytes(-(-size // 8), "little")
    padded = data + b"\0" * (len(data) % 2)
    chunk = b"WEBPVP8L" + struct.pack("<I", len(data)) + padded
    return b"RIFF" + struct.pack("<I", len(chunk)) + chunk


Draw = Callable[[int, int, Colour], bytes]
FORMATS: Mapping[str, Draw] = {"png": png, "jpeg": jpeg, "gif": gif, "webp": webp}


def bomb() -> bytes:
    """A PNG of a few bytes that says it is 50,000 pixels wide and as high."""
    return png_of(png_header(50_000, 50_000), (b"IDAT", zlib.compress(bytes(3))), (b"IEND", b""))
