"""What a document says of itself: its encoding, and what robots may do with it."""

import codecs
import re
from collections.abc import Mapping

import webencodings

_PRESCAN = 1024
_CHARSET_PARAMETER = re.compile(r"charset\s*=\s*[\"']?([^\s\"';,]+)", re.I)
_META_CHARSET = re.compile(rb"<meta[^>]*?charset\s*=\s*[\"']?\s*([a-z0-9_:.-]+)", re.I)
_XML_ENCODING = re.compile(rb"^<\?xml[^>]*?encoding\s*=\s*[\"']([a-z0-9_:.-]+)", re.I)
_META_ROBOTS = re.compile(rb"<meta\s[^<>]*?name\s*=\s*[\"']?(?:robots|penstock)\b[^<>]*>", re.I)
_CONTENT = re.compile(rb"content\s*=\s*[\"']?([^\"'>]*)", re.I)
_ROBOTS_TAG = "x-robots-tag"
_HEAD = 32 * 1024
_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16-be"), (b"\xff\xfe", "utf-16-le"))


def detect(body: bytes, content_type: str) -> str:
    """The encoding of a page by the WHATWG rules, under its Python name."""
    for mark, name in _MARKS:
        if body.startswith(mark):
            return name
    header = _CHARSET_PARAMETER.search(content_type)
    if header and (named := _lookup(header[1])):
        return named
    start = body[:_PRESCAN]
    declared = _META_CHARSET.search(start) or _XML_ENCODING.search(start)
    if declared and (named := _lookup(declared[1].decode("ascii"))):
        # A page that can be read far enough to say so cannot be in UTF-16.
        return "utf-8" if named.startswith("utf-16") else named
    return "utf-8" if _is_utf8(body) else "cp1252"


def decode(body: bytes, content_type: str) -> str:
    """The text of a page; what cannot be decoded becomes U+FFFD, never an error."""
    return body.decode(detect(body, content_type), errors="replace").removeprefix("\ufeff")


def robots_tags(body: bytes, headers: Mapping[str, str]) -> tuple[str, ...]:
    """The directives of `X-Robots-Tag` and meta robots, such as `noindex`, in lower case."""
    texts = [value for name, value in headers.items() if _is_robots_tag(name)]
    # Only there do such tags count; a page that does not say where its head ends is searched on.
    end = body.find(b"</head", 0, _HEAD)
    head = body[: end if end >= 0 else _HEAD].lower()
    # Most pages have none, and finding that out is many times cheaper than looking for one.
    is_named = b"robots" in head or b"penstock" in head
    for tag in _META_ROBOTS.findall(head) if is_named else ():
        if content := _CONTENT.search(tag):
            texts.append(content[1].decode("utf-8", "replace"))
    if not texts:
        return ()
    tags = (tag.strip().lower() for text in texts for tag in text.split(","))
    return tuple(dict.fromkeys(tag for tag in tags if tag))


def _is_robots_tag(name: str) -> bool:
    # Nearly all names of headers are of another length, and that is a quicker look.
    return len(name) == len(_ROBOTS_TAG) and name.lower() == _ROBOTS_TAG


def _lookup(label: str) -> str | None:
    encoding = webencodings.lookup(label)
    if encoding is None:
        return None
    name: str = encoding.codec_info.name
    try:
        codecs.lookup(name)
    except LookupError:
        # Encodings of the standard that only browsers have: replacement, x-user-defined.
        return None
    return name


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError as error:
        # A character cut in two by the end of the body is no sign of another encoding.
        return error.reason == "unexpected end of data"
    return True
