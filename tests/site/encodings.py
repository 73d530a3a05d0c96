"""charset.test and encodings.test: one text in many spellings."""

import gzip
import zlib
from collections.abc import Callable

import brotli
from backports import zstd

from tests.site.answers import HTML, Plan, Reply
from tests.site.pages import html
from tests.site.shops import product_page

CHARSET_TEXTS = {
    "/header": "Цена: сто рублей",
    "/bom": "Prix: très élevé €",
    "/meta": "価格は千円です",
    "/none": "Größe: übergroß",
}
"""The text that each page of charset.test shows when it is decoded rightly."""


def _spelt(path: str, charset: str, content_type: str, head: str = "", start: bytes = b"") -> Reply:
    body = start + html("Charset", f'<p id="text">{CHARSET_TEXTS[path]}</p>', head).encode(charset)
    return Reply(200, body, {"Content-Type": content_type})


CHARSETS: dict[str, Plan] = {
    "/header": _spelt("/header", "windows-1251", "text/html; charset=windows-1251"),
    "/bom": _spelt("/bom", "utf-8", "text/html; charset=iso-8859-1", start=b"\xef\xbb\xbf"),
    "/meta": _spelt("/meta", "shift_jis", "text/html", head='<meta charset="shift_jis">'),
    "/none": _spelt("/none", "utf-8", "text/html"),
}


def encoded_page() -> bytes:
    """What every page of encodings.test but `/unknown` says once it is decoded."""
    return product_page("shop01.test", 1).encode()


def _gzip(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


def _raw_deflate(content: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(content) + compressor.flush()


def _encoded(content_encoding: str, compress: Callable[[bytes], bytes]) -> Reply:
    headers = {"Content-Type": HTML, "Content-Encoding": content_encoding}
    return Reply(200, compress(encoded_page()), headers)


CODINGS: dict[str, Plan] = {
    "/identity": _encoded("identity", bytes),
    "/gzip": _encoded("gzip", _gzip),
    "/deflate": _encoded("deflate", zlib.compress),
    "/rawdeflate": _encoded("deflate", _raw_deflate),
    "/br": _encoded("br", brotli.compress),
    "/zstd": _encoded("zstd", zstd.compress),
    "/gzip-gzip": _encoded("gzip, gzip", lambda content: _gzip(_gzip(content))),
    "/unknown": _encoded("x-mystery", lambda content: content[::-1]),
}
