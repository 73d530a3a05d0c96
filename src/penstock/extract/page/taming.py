"""Pages made to stall a parser: cut, so that a tree costs bounded time and memory.

The HTML rules let a small page cost a lot: every open element is looked at again for each new
one, the attributes of an element are compared with each other, and formatting elements that are
left open are copied, with all their attributes, into each new paragraph. A page is harmless if
it has not too many tags, none with very many attributes, and closes its formatting elements
where they stand; real pages are. What only looks odd is made plain, and of any other page only as
much of the beginning is read as is harmless.
"""

import re

#: Bytes that a tree may take by this reckoning, and what an element and an attribute of it take.
MAX_BYTES = 300_000_000
ELEMENT, ATTRIBUTE = 1_000, 170
MAX_ATTRIBUTES = 200
#: With fewer tags and characters than this, no nesting is too deep and no tree too large.
FEW_TAGS, FEW_CHARACTERS = 22_000, 4_000_000
FEW_CHOICES = 8_000
MAX_ODD = 100
#: Links of this length and number of attributes need no second look.
SHORT_LINK, SHORT_VALUE, FEW_ATTRIBUTES = 2_000, 200, 12
#: In fewer characters there are no attributes worth counting one by one.
SHORT_TAG = 100

FORMATTING = frozenset(
    ["b", "i", "u", "s", "em", "tt", "big", "code", "font", "nobr", "small", "strike", "strong"]
)
#: Elements whose content is text until their end tag.
RAW = frozenset(
    ["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "plaintext"]
)

_SPACE = r"\t\n\f\r "
_NAMED = rf"(?=[{_SPACE}/>])"
#: An attribute just as a tokeniser reads it, and as well-behaved pages write it.
_ATTRIBUTE = (
    rf"[^{_SPACE}/>][^{_SPACE}/>=]*+(?:[{_SPACE}]*+=[{_SPACE}]*+"
    rf"""(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^{_SPACE}>"'][^{_SPACE}>]*+|(?=>)|\Z))?+"""
)
_NEAT_ATTRIBUTE = (
    rf"[{_SPACE}]++[^{_SPACE}\"'<>/=]++"
    rf"""(?:=(?:"[^"<>]*+"|'[^'<>]*+'|[^{_SPACE}\"'<>=`/]++))?+"""
)
_NEAT = rf"(?:{_NEAT_ATTRIBUTE})*+[{_SPACE}]*+/?>"
_REST = rf"(?:[{_SPACE}/]*+{_ATTRIBUTE}){{0,{MAX_ATTRIBUTES}}}+[{_SPACE}/]*+(?:>|\Z)"
_COMMENT = r"!--(?:-?>|(?:[^-]++|-(?!-!?>))*+(?:--!?>|\Z))|[!?][^>]*+|/[^a-zA-Z][^>]*+"
#: The beginnings of names of elements that are all read in the same way, to tell them fast.
_USUAL = r"(?:[bdfhluvwBDFHLUVWeogEOG]|[iI](?![fF])|[sS](?![cCeEvVtT])|[tT](?![eEiI])|[pP](?![lL]))"
_RAW_ELEMENT = "|".join(
    rf"<(?i:{name}){_NAMED}{_REST}(?:[^<]++|<(?!/(?i:{name}){_NAMED}))*+" for name in sorted(RAW)
)
#: Selects, and drawings in drawings, with nothing in them that may be read as anything but a tag.
_DRAWN = (
    rf"[^<]++|<(?:{_COMMENT})"
    rf"|<(?i:title|style|desc){_NAMED}{_NEAT}[^<]*+</(?i:title|style|desc)>"
    rf"|</?(?!(?i:svg|{'|'.join(sorted(RAW))}){_NAMED})[a-zA-Z][^{_SPACE}/>]*+{_REST}"
)
_DRAWING = "(?!)"
for _ in range(4):
    _DRAWING = rf"<(?i:svg){_NAMED}{_REST}(?:{_DRAWN}|{_DRAWING})*+</(?i:svg){_NAMED}{_REST}"
_CHOICE = rf"</?(?i:option|optgroup|hr){_NAMED}{_REST}"
_SELECT = (
    rf"<(?i:select){_NAMED}{_REST}(?:[^<]++|{_CHOICE}|<(?:{_COMMENT})){{0,{FEW_CHOICES}}}+"
    rf"</(?i:select){_NAMED}{_REST}"
)

#: Text and tags with nothing about them; it ends at a tag that is to be looked at.
_PLAIN = re.compile(
    rf"""[^<]*+(?:</[a-zA-Z0-9]++>[^<]*+
    |<{_USUAL}[a-zA-Z0-9]*+(?:[ ][a-z-]++="[^"]*+"){{0,50}}+/?>[^<]*+
    |<[aA](?:[{_SPACE}]++[a-z-]++(?:="[^"]{{0,{SHORT_VALUE}}}+")?+){{0,{FEW_ATTRIBUTES}}}+[ ]?>
      [^<]*+
    |<[aA]{_NAMED}(?=[^>]{{0,{SHORT_LINK}}}>)(?:{_NEAT_ATTRIBUTE}){{0,{FEW_ATTRIBUTES}}}+
      [{_SPACE}]*+/?>[^<]*+
    |<(?![aA]{_NAMED}|(?i:select|svg|math|{"|".join(sorted(RAW))}){_NAMED})[a-zA-Z]
      [^{_SPACE}/>]*+{_REST}[^<]*+
    |{_RAW_ELEMENT}|{_DRAWING}[^<]*+|{_SELECT}[^<]*+
    |</[a-zA-Z][^{_SPACE}/>]*+{_REST}[^<]*+
    |<(?:{_COMMENT})[^<]*+
    |<(?![!?/a-zA-Z])[^<]*+|</\Z){{0,{FEW_TAGS}}}+""",
    re.VERBOSE,
)
_MODE = re.compile(rf"<(?i:select|svg|math){_NAMED}")
_LINK = re.compile(rf"<[aA]{_NAMED}")
_ATTRIBUTES = re.compile(rf"(?:[{_SPACE}/]++|{_ATTRIBUTE})*+")
_EACH_ATTRIBUTE = re.compile(_ATTRIBUTE)
_FORMATTING = re.compile(
    rf"<(?=[bBcCeEfFiInNsStTuU])(?:[bBiIuUsS]|[eE][mM]|[tT][tT]|[bB][iI][gG]|[cC][oO][dD][eE]"
    rf"|[fF][oO][nN][tT]|[nN][oO][bB][rR]|[sS](?:[mM][aA][lL][lL]|[tT][rR](?:[iI][kK][eE]"
    rf"|[oO][nN][gG]))){_NAMED}"
)
_INLINE = r"(?:a|b|i|u|s|em|tt|big|br|img|sup|sub|code|font|span|small|strong|strike|abbr|wbr)"
#: What follows the name of a formatting element that is certainly closed, and soon.
_CLOSED = {
    name: re.compile(
        rf"{_NEAT}(?:[^<]++|<(?!/?{name}{_NAMED})/?{_INLINE}{_NAMED}{_NEAT})*+"
        rf"</{name}[{_SPACE}]*+>",
        re.IGNORECASE,
    )
    for name in FORMATTING
}


def tame(text: str) -> str:
    """The page, or as much of its beginning as is certainly parsed in bounded time and memory."""
    if _is_harmless(text):
        return text
    text = _without_modes(text)
    while text and not _is_harmless(text):
        text = text[: len(text) // 2]
    return text


def _without_modes(text: str) -> str:
    """The page with its odd selects, drawings and formulas as elements like any other.

    In these a parser goes by rules of their own, so that nobody can tell what the tags in them do.
    """
    at = 0
    for _ in range(MAX_ODD):
        at = _first_unusual(text, at)
        if not _MODE.match(text, at):
            break
        text = f"{text[: at + 1]}x-{text[at + 1 :]}"
    return text


def _first_unusual(text: str, at: int) -> int:
    """Where the first tag stands from a place on that is neither plain nor a link."""
    at = _plain_until(text, at)
    while at < len(text) and _LINK.match(text, at):
        at = _plain_until(text, at + 2 + len(_attributes_at(text, at + 2)))
    return at


def _is_harmless(text: str) -> bool:
    """Whether a page needs no closer look: few tags, few attributes, formatting that is closed."""
    link = _heaviest_link(text) if len(text) <= FEW_CHARACTERS else None
    if link is None:
        return False
    copied = 2 * (link + _weight_left_open(text))
    return copied * FEW_TAGS <= MAX_BYTES or copied * text.count("<") <= MAX_BYTES


def _heaviest_link(text: str) -> int | None:
    """What a copy of the longest link takes; None if the page has many tags or an unusual one."""
    at, heaviest = _plain_until(text, 0), ELEMENT + FEW_ATTRIBUTES * (ATTRIBUTE + SHORT_VALUE)
    if at < len(text) and text.count("<") > FEW_TAGS:
        return None
    while at < len(text):
        link = _attributes_at(text, at + 2)
        if not _LINK.match(text, at) or _attribute_count(link) > MAX_ATTRIBUTES:
            return None
        heaviest = max(heaviest, _weight(link))
        at = _plain_until(text, at + 2 + len(link))
    return heaviest


def _plain_until(text: str, at: int) -> int:
    match = _PLAIN.match(text, at)
    return match.end() if match else at


def _weight_left_open(text: str) -> int:
    """What copies of all formatting elements take that are not certainly closed."""
    total = 0
    for count, match in enumerate(_FORMATTING.finditer(text)):
        if count == FEW_TAGS:
            return MAX_BYTES
        if not _CLOSED[match[0][1:].lower()].match(text, match.end()):
            total += _weight(_attributes_at(text, match.end()))
    return total


def _attributes_at(text: str, at: int) -> str:
    match = _ATTRIBUTES.match(text, at)
    return match[0] if match else ""


def _attribute_count(attributes: str) -> int:
    if len(attributes) <= SHORT_TAG:
        # Close enough: at least as many as there are.
        return attributes.count("=") + len(attributes.split())
    return len(_EACH_ATTRIBUTE.findall(attributes))


def _weight(attributes: str) -> int:
    """What an element or a copy of it takes, in bytes."""
    return ELEMENT + ATTRIBUTE * _attribute_count(attributes) + len(attributes)
