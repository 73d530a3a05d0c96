"""Sitemaps: the URLs that a site says it has, read piece by piece and within bounds.

`urlset` and `sitemapindex`, RSS and Atom, plain lists of URLs, each also packed with gzip. Nothing
outside the file is looked up, and a file that declares entities of its own is refused.
"""

import codecs
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol
from xml.parsers import expat

from penstock.core.errors import UrlError
from penstock.core.urls import MAX_URL_LENGTH, Url, parse
from penstock.extract.page.lastmod import Lastmod, read_lastmod
from penstock.kernel.fetchers.decoding import BadEncoding, Decoding
from penstock.kernel.model import Broken, Failure, UrlSpecific

#: What the protocol allows a file to have.
MAX_BYTES = 50 * 1024 * 1024
MAX_ENTRIES = 50_000
MAX_NESTING = 32
MAX_ROBOTS_LINES = 100
PIECE = 64 * 1024

_GZIP = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_WIDE = (b"\xff\xfe", b"\xfe\xff", b"<\x00", b"\x00<")
_WEB = ("http://", "https://")
#: The sign that many sites forget to escape in the query of a URL.
_BARE_AMPERSAND = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9a-fA-F]{1,6});)")
_LONGEST_REFERENCE = len(b"&#x10ffff;")
_ROBOTS_LINE = re.compile(r"^[ \t]*sitemap[ \t]*:[ \t]*([^\s#]+)", re.I | re.M)


@dataclass(frozen=True, slots=True)
class Entry:
    """A URL that a site lists, parsed, and when it says that the page last changed."""

    url: Url
    lastmod: Lastmod | None = None


@dataclass(frozen=True, slots=True)
class Sitemap:
    """What a file lists: pages, or other files. `failure` says why there is no more than this."""

    kind: str
    entries: tuple[Entry, ...] = ()
    children: tuple[Entry, ...] = ()
    #: How many URLs were none.
    unusable: int = 0
    bytes_read: int = 0
    failure: Failure | None = None


def sitemaps_in_robots(text: str, base: Url) -> tuple[Url, ...]:
    """The sitemaps that a robots.txt names, wherever in it they stand; each once."""
    found: dict[str, Url] = {}
    for line in _ROBOTS_LINE.finditer(text):
        if len(found) == MAX_ROBOTS_LINES:
            break
        if url := _read_url(line[1], base):
            found.setdefault(url.href, url)
    return tuple(found.values())


def read_sitemap(
    body: bytes, base: Url, *, max_bytes: int = MAX_BYTES, max_entries: int = MAX_ENTRIES
) -> Sitemap:
    """Read a whole file at once."""
    reader = SitemapReader(base, max_bytes=max_bytes, max_entries=max_entries)
    for _ in reader.read(body):
        pass
    return reader.result


class SitemapReader:
    """Reads one file; whoever has other things to do, too, does them between two pieces."""

    def __init__(
        self, base: Url, *, max_bytes: int = MAX_BYTES, max_entries: int = MAX_ENTRIES
    ) -> None:
        self._max_bytes = max_bytes
        self._sheet = _Sheet(base, max_entries)
        self._bytes = 0
        self._failure: Failure | None = None

    @property
    def result(self) -> Sitemap:
        """What has been read so far."""
        sheet = self._sheet
        is_index = sheet.kind == "sitemapindex"
        return Sitemap(
            kind=sheet.kind,
            entries=() if is_index else tuple(sheet.entries),
            children=tuple(sheet.entries) if is_index else (),
            unusable=sheet.unusable,
            bytes_read=self._bytes,
            failure=self._failure,
        )

    def read(self, body: bytes) -> Iterator[None]:
        """Read the file piece by piece."""
        try:
            yield from self._read(body)
        except _Enough as reason:
            self._failure = reason.failure
        except OverflowError:
            self._failure = Broken("too_large", f"it unpacks to more than {self._max_bytes} bytes")
        except BadEncoding as error:
            self._failure = Broken("bad_encoding", f"the packed file is damaged: {error}")
        except (expat.ExpatError, ValueError, LookupError) as error:
            self._failure = self._damage(str(error))

    def _damage(self, problem: str) -> Failure:
        if self._sheet.kind:
            return Broken("bad_xml", f"the file is damaged: {problem}")
        return UrlSpecific("not_a_sitemap", f"it is no XML: {problem}")

    def _read(self, body: bytes) -> Iterator[None]:
        form: _Form | None = None
        for piece in _unpack(body, self._max_bytes):
            self._bytes += len(piece)
            form = form or _form_of(piece, self._sheet)
            if form:
                form.feed(piece)
            yield
        if form is None:
            raise _Enough(UrlSpecific("not_a_sitemap", "it is empty"))
        form.finish()


def _unpack(body: bytes, max_bytes: int) -> Iterator[bytes]:
    if body.startswith(_GZIP):
        decoding = Decoding(["gzip"], max_bytes)
        yield from decoding.feed(body)
        decoding.finish()
        return
    if len(body) > max_bytes:
        raise _Enough(Broken("too_large", f"it has more than {max_bytes} bytes"))
    for at in range(0, len(body), PIECE):
        yield body[at : at + PIECE]


class _Enough(Exception):
    """Nothing more is read, for this reason."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.reason)
        self.failure = failure


class _Sheet:
    """Where a form writes down what it finds, up to a number of entries."""

    def __init__(self, base: Url, max_entries: int) -> None:
        self.kind = ""
        self.entries: list[Entry] = []
        self.unusable = 0
        self._base = base
        self._max_entries = max_entries

    def add(self, address: str, date: str = "") -> None:
        url = _read_url(address, self._base)
        if url is None:
            self.unusable += 1
            return
        if len(self.entries) == self._max_entries:
            detail = f"it lists more than {self._max_entries} URLs"
            raise _Enough(Broken("too_many_urls", detail))
        self.entries.append(Entry(url, read_lastmod(date)))


def _read_url(text: str, base: Url) -> Url | None:
    """An absolute URL, or a path on the site of the file; words are no URL."""
    # Some sites escape twice.
    text = text.strip().replace("&amp;", "&")
    if not text.lower().startswith((*_WEB, "/")):
        return None
    try:
        return parse(text, base)
    except UrlError:
        return None


class _Form(Protocol):
    """One way in which a file can be written."""

    def feed(self, piece: bytes) -> None: ...

    def finish(self) -> None: ...


def _form_of(piece: bytes, sheet: _Sheet) -> _Form | None:
    """How a file is written, by its first piece; None as long as there is nothing in it."""
    start = piece.removeprefix(_BYTE_ORDER_MARK).lstrip()
    if not start:
        return None
    if start.startswith(_WIDE):
        return _Xml(sheet, is_wide=True)
    return _Xml(sheet, is_wide=False) if start.startswith(b"<") else _Lines(sheet)


class _Lines:
    """A URL a line."""

    def __init__(self, sheet: _Sheet) -> None:
        self._sheet = sheet
        self._sheet.kind = "text"
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        self._rest = ""

    def feed(self, piece: bytes) -> None:
        *lines, rest = (self._rest + self._decoder.decode(piece)).splitlines(keepends=True) or [""]
        if rest.endswith(("\n", "\r")):
            lines, rest = [*lines, rest], ""
        # A line that is too long stays too long when it is cut.
        self._rest = rest[: MAX_URL_LENGTH + 1]
        for line in lines:
            self._take(line.strip())

    def finish(self) -> None:
        self._take(self._rest.strip())
        if not self._sheet.entries:
            raise _Enough(UrlSpecific("not_a_sitemap", "it lists no URL"))

    def _take(self, line: str) -> None:
        if line.lower().startswith(_WEB):
            self._sheet.add(line)
        elif line:
            self._sheet.unusable += 1


@dataclass(frozen=True, slots=True)
class _Shape:
    """Where the items of a kind of XML file stand, and what in them is the URL and the date."""

    item: tuple[str, ...]
    url: str
    dates: tuple[str, ...]


_SHAPES: Mapping[str, _Shape] = {
    "urlset": _Shape(("urlset", "url"), "loc", ("lastmod",)),
    "sitemapindex": _Shape(("sitemapindex", "sitemap"), "loc", ("lastmod",)),
    "rss": _Shape(("rss", "channel", "item"), "link", ("pubDate",)),
    "feed": _Shape(("feed", "entry"), "link", ("updated", "published")),
}


class _Xml:
    """An XML file. Only elements of the root's own vocabulary count: `image:loc` is no page."""

    def __init__(self, sheet: _Sheet, *, is_wide: bool) -> None:
        self._sheet = sheet
        self._is_wide = is_wide
        self._held = b""
        self._has_begun = False
        self._vocabulary = ""
        self._shape = _Shape((), "", ())
        self._path: list[str] = []
        self._item: dict[str, str] = {}
        self._text: list[str] | None = None
        self._room = 0
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.EntityDeclHandler = _refuse_entities
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters

    def feed(self, piece: bytes) -> None:
        if not self._has_begun and not self._is_wide:
            # A line before the declaration is an error that many sites make.
            piece = piece.removeprefix(_BYTE_ORDER_MARK).lstrip()
        self._has_begun = self._has_begun or bool(piece)
        self._parser.Parse(piece if self._is_wide else self._escape(piece), False)

    def finish(self) -> None:
        self._parser.Parse(_BARE_AMPERSAND.sub(b"&amp;", self._held), True)

    def _escape(self, piece: bytes) -> bytes:
        """The piece with its ampersands escaped; a reference that may go on is held back."""
        piece = self._held + piece
        last = piece.rfind(b"&", -_LONGEST_REFERENCE)
        is_open = last >= 0 and b";" not in piece[last:]
        piece, self._held = (piece[:last], piece[last:]) if is_open else (piece, b"")
        return _BARE_AMPERSAND.sub(b"&amp;", piece)

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        vocabulary, _, local = name.rpartition(" ")
        if not self._path:
            self._begin(vocabulary, local)
        if len(self._path) == MAX_NESTING:
            raise _Enough(Broken("bad_xml", f"more than {MAX_NESTING} elements in each other"))
        self._path.append(local if vocabulary == self._vocabulary else name)
        where = tuple(self._path)
        if where == self._shape.item:
            self._item = {}
        elif where[:-1] == self._shape.item and local in (self._shape.url, *self._shape.dates):
            self._text, self._room = [], MAX_URL_LENGTH + 1
            if self._shape.item[0] == "feed" and local == "link":
                self._take_reference(attributes)

    def _begin(self, vocabulary: str, root: str) -> None:
        shape = _SHAPES.get(root)
        if shape is None:
            raise _Enough(UrlSpecific("not_a_sitemap", f"its root is <{root[:40]}>"))
        self._sheet.kind = root
        self._vocabulary, self._shape = vocabulary, shape

    def _take_reference(self, attributes: Mapping[str, str]) -> None:
        """Atom has its URLs in attributes, and of several links one is the page."""
        if attributes.get("rel", "alternate") == "alternate":
            self._item.setdefault("link", attributes.get("href", ""))

    def _characters(self, text: str) -> None:
        if self._text is not None and self._room > 0:
            # Cut, an address that is too long stays too long.
            self._text.append(text[: self._room])
            self._room -= len(text)

    def _end(self, _: str) -> None:
        where = tuple(self._path)
        local = self._path.pop()
        if where == self._shape.item:
            dates = (self._item[name] for name in self._shape.dates if name in self._item)
            self._sheet.add(self._item.get(self._shape.url, ""), next(dates, ""))
        elif self._text is not None and where[:-1] == self._shape.item:
            if text := "".join(self._text).strip():
                self._item.setdefault(local, text)
            self._text = None


def _refuse_entities(*_: object) -> None:
    raise _Enough(Broken("bad_xml", "it declares entities of its own"))
