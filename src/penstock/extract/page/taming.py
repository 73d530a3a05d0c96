"""Pages made to stall a parser: cut, so that a tree costs bounded time and memory.

The HTML rules let a small page cost a lot: every open element is looked at again for each new
one, the attributes of an element are compared with each other, and formatting elements that are
left open are copied, with all their attributes, into each new paragraph. A page is harmless if
it has not too many tags, none with very many attributes, and closes its formatting elements
where they stand; real pages are. What only looks odd is made plain, and of any other page only as
much of the beginning is read as is harmless.
"""

import re

from penstock.extract.patterns import either_case

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


def _any_of(*names: str) -> str:
    return f"(?:{either_case('|'.join(names))})"


def _all(part: str, times: str = "*") -> str:
    """A part so many times, none of which is given back.

    One that fails half-way is nothing: Python before 3.11.5 would go on from there otherwise.
    """
    return f"(?:{part}|){times}+"


_SPACE = r"\t\n\f\r "
_NAMED = rf"(?=[{_SPACE}/>])"
_NAME = "[a-zA-Z0-9_:-]++"
#: An attribute just as a tokeniser reads it, and as well-behaved pages write it.
_ATTRIBUTE = rf"[^{_SPACE}/>][^{_SPACE}/>=]*+" + _all(
    rf"[{_SPACE}]*+=[{_SPACE}]*+"
    rf"""(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^{_SPACE}>"'][^{_SPACE}>]*+|(?=>)|\Z)""",
    "?",
)
_NEAT_ATTRIBUTE = rf"[{_SPACE}]++[^{_SPACE}\"'<>/=]++" + _all(
    rf"""=(?:"[^"<>]*+"|'[^'<>]*+'|[^{_SPACE}\"'<>=`/]++)""", "?"
)
_NEAT = rf"{_all(_NEAT_ATTRIBUTE)}[{_SPACE}]*+/?>"
_REST = rf"{_all(f'[{_SPACE}/]*+{_ATTRIBUTE}', f'{{0,{MAX_ATTRIBUTES}}}')}[{_SPACE}/]*+(?:>|\Z)"
_COMMENT = rf"<!--(?:-?>|{_all('[^-]++|-(?!-!?>)')}(?:--!?>|\Z))|<[!?][^>]*+|</[^a-zA-Z][^>]*+"
#: The beginnings of names of elements that are all read in the same way, to tell them fast.
_USUAL = (
    r"(?:[dghjkloqrvwyzDGHJKLOQRVWYZ]|[sS](?:[oOpPuU]|[eE][cC])|[iI][mMnN]|[pP](?![lL])|[uU][lLsS]"
    r"|[tT][abdhrABDHR]|[bB][oruORU]|[mM][eE]|[fF](?![oO][nN])|[nN][aA])"
)
_USUAL_TAG = rf"""{_USUAL}[a-zA-Z0-9-]*+{_all(f'[ ]{_NAME}="[^"]*+"', "{0,50}")}/?>"""
_RAW_ELEMENT = "|".join(
    rf"<{name}{_NAMED}{_REST}{_all(f'[^<]++|<(?!/{name}{_NAMED})')}"
    for name in map(_any_of, sorted(RAW))
)
_FORMATTING = _any_of(*sorted(FORMATTING))
_INLINE = rf"(?i:a|br|img|sup|sub|span|abbr|wbr|{'|'.join(sorted(FORMATTING))})"
#: The tag of a formatting element that is certainly closed, and soon.
_CLOSED = "|".join(
    rf"<{name}(?={_NEAT}{_all(f'[^<]++|<(?!/?{name}{_NAMED})/?{_INLINE}{_NAMED}{_NEAT}')}"
    rf"</{name}[{_SPACE}]*+>)[^<]*+"
    for name in map(_any_of, sorted(FORMATTING))
)
#: Elements that may stand in a drawing if there is nothing but text in them.
_BRIEF = "|".join(
    rf"(?i:{name}){_NAMED}[^<]*+</(?i:{name})>" for name in ["title", "style", *sorted(FORMATTING)]
)
#: Selects, and drawings in drawings, with nothing in them that may be read as anything but a tag.
_DRAWN = (
    rf"[^<]++|</?{_USUAL_TAG}|{_COMMENT}"
    rf"|<(?!/?{_any_of('svg', *sorted(RAW))}{_NAMED}|{_FORMATTING}{_NAMED})/?[a-zA-Z]"
    rf"[^{_SPACE}/>]*+{_REST}|<(?=[a-zA-Z]++{_NEAT})(?:{_BRIEF})"
)
_DRAWING = "(?!)"
for _ in range(4):
    _DRAWING = rf"<(?i:svg){_NAMED}{_REST}{_all(f'{_DRAWN}|{_DRAWING}')}</(?i:svg){_NAMED}{_REST}"
_CHOICE = rf"</?(?i:option|optgroup|hr){_NAMED}{_REST}"
_SELECT = (
    rf"<(?i:select){_NAMED}{_REST}{_all(f'[^<]++|{_CHOICE}|{_COMMENT}', f'{{0,{FEW_CHOICES}}}')}"
    rf"</(?i:select){_NAMED}{_REST}"
)

#: What a link may be that needs no second look.
_LINK_ATTRIBUTE = rf"[{_SPACE}]++{_NAME}" + _all(rf'="[^"]{{0,{SHORT_VALUE}}}+"', "?")
_LINK = (
    rf"<[aA]{_all(_LINK_ATTRIBUTE, f'{{0,{FEW_ATTRIBUTES}}}')}[ ]?>"
    rf"|<[aA]{_NAMED}(?=[^>]{{0,{SHORT_LINK}}}>){_all(_NEAT_ATTRIBUTE, f'{{0,{FEW_ATTRIBUTES}}}')}"
    rf"[{_SPACE}]*+/?>"
)
_OTHER_TAG = (
    rf"<(?!{_any_of('a', 'select', 'svg', 'math', *sorted(RAW | FORMATTING))}{_NAMED})[a-zA-Z]"
    rf"[^{_SPACE}/>]*+{_REST}|</[a-zA-Z][^{_SPACE}/>]*+{_REST}|<(?![!?/a-zA-Z])|</\Z"
)
_HARMLESS = (
    rf"</[a-zA-Z0-9]++>|<{_USUAL_TAG}|{_COMMENT}|{_LINK}"
    rf"|{_CLOSED}|{_RAW_ELEMENT}|{_DRAWING}|{_SELECT}|{_OTHER_TAG}"
)
#: Text and tags with nothing about them; it ends at a tag that is to be looked at.
_PLAIN = re.compile(f"[^<]*+{_all(f'(?:{_HARMLESS})[^<]*+', f'{{0,{FEW_TAGS}}}')}")
_MODE = re.compile(rf"<(?i:select|svg|math){_NAMED}")
#: Elements that are copied while they are open.
_COPIED = re.compile(rf"<(?:[aA]|{_FORMATTING}){_NAMED}")
_ATTRIBUTES = re.compile(_all(rf"[{_SPACE}/]++|{_ATTRIBUTE}"))
_EACH_ATTRIBUTE = re.compile(_ATTRIBUTE)


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
    """Where the first tag stands from a place on that is neither plain nor copied."""
    at = _plain_until(text, at)
    while at < len(text) and (tag := _COPIED.match(text, at)):
        at = _plain_until(text, tag.end() + len(_attributes_at(text, tag.end())))
    return at


def _is_harmless(text: str) -> bool:
    """Whether a page needs no closer look: few tags, few attributes, formatting that is closed."""
    if len(text) > FEW_CHARACTERS:
        return False
    at, tags = _plain_until(text, 0), 0
    link, left_open = ELEMENT + FEW_ATTRIBUTES * (ATTRIBUTE + SHORT_VALUE), 0
    while at < len(text):
        tags = tags or text.count("<")
        tag = _COPIED.match(text, at)
        attributes = _attributes_at(text, tag.end()) if tag else ""
        if not tag or tags > FEW_TAGS or _attribute_count(attributes) > MAX_ATTRIBUTES:
            return False
        if tag[0] in ("<a", "<A"):
            link = max(link, _weight(attributes))
        else:
            left_open += _weight(attributes)
        # Every tag may copy the link and all that was left open.
        if 2 * (link + left_open) * tags > MAX_BYTES:
            return False
        at = _plain_until(text, tag.end() + len(attributes))
    return True


def _plain_until(text: str, at: int) -> int:
    match = _PLAIN.match(text, at)
    return match.end() if match else at


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
