"""Pages made to stall a parser: cut where they begin to, so that a tree costs bounded time.

The HTML rules let a small page cost a lot: every open element is looked at again for each new
one, the attributes of an element are compared with each other, and formatting elements that are
left open are copied, with all their attributes, into each new paragraph. Almost all pages can be
seen at a glance to be harmless. The others are walked through tag by tag, the cost is added up as
the parser would meet it, and the page ends where it becomes more than any real page has. Where an
end tag may go unheard, it does.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

#: Steps over open elements and attributes; real pages stay below a tenth.
MAX_STEPS = 150_000_000
#: Bytes that a tree may take by this reckoning, and what an element and an attribute of it take.
MAX_BYTES = 300_000_000
ELEMENT, ATTRIBUTE = 1_000, 170
MAX_ATTRIBUTES = 200
#: With fewer tags and characters than this, no nesting is too deep and no tree too large.
FEW_TAGS, FEW_CHARACTERS = 22_000, 2_000_000
FEW_CHOICES = 8_000
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
VOID = frozenset(
    (
        *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param"),
        *("source", "track", "wbr"),
    )
)
#: Elements behind which formatting from before does not count; cells only count in a table.
MARKERS = frozenset(["applet", "object", "marquee", "template"])
CELLS = frozenset(["td", "th", "caption"])
ROWS = frozenset(["tr", "tbody", "thead", "tfoot"])
TABLE_PARTS = CELLS | ROWS
TABLE_ENDS = ROWS | {"table"}
CLEARING = MARKERS | CELLS
FOREIGN = frozenset(["svg", "math"])
#: Elements of drawings and formulas that hold HTML.
INSETS = frozenset(
    ["foreignobject", "desc", "title", "mi", "mo", "mn", "ms", "mtext", "annotation-xml"]
)
#: Elements that end tags from outside do not reach into.
LEVELS = MARKERS | CELLS | FOREIGN | {"table", "select"}
#: Elements that an end tag of another name does not close, unless that is one of these, too.
SPECIAL = LEVELS | frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "button", "center", "colgroup"),
        *("dd", "details", "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption"),
        *("figure", "footer", "form", "frameset", "h1", "h2", "h3", "h4", "h5", "h6", "head"),
        *("header", "hgroup", "html", "li", "listing", "main", "menu", "nav", "noscript"),
        *("ol", "p", "pre", "search", "section", "summary", "tbody", "tfoot", "thead", "tr", "ul"),
    )
)
#: Elements that end a drawing or formula where they begin in it.
ENDING_FOREIGN = FORMATTING | frozenset(
    (
        *("blockquote", "body", "br", "center", "dd", "div", "dl", "dt", "embed", "h1", "h2"),
        *("h3", "h4", "h5", "h6", "head", "hr", "img", "li", "listing", "menu", "meta", "ol"),
        *("p", "pre", "ruby", "span", "sub", "sup", "table", "ul", "var"),
    )
)
UNREADABLE_IN_SELECT = RAW - {"script", "textarea"}
ENDING_SELECT = frozenset(["select", "input", "textarea", "keygen"])
#: Elements that end others where they begin.
FOLLOWING = {
    **{name: (name,) for name in ("p", "li", "option", "optgroup", "rt", "rp")},
    **dict.fromkeys(("dd", "dt"), ("dd", "dt")),
}

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
#: The beginnings of the names of elements that are read in a way of their own.
_UNUSUAL = (
    rf"[aA][{_SPACE}/>]|[sS](?:[cC]|[tT][yY]|[eE][lL]|[vV])|[tT](?:[eE][xX]|[iI][tT])|[xX][mM]"
    r"|[iI][fF]|[nN][oO][eEfF]|[pP][lL][aA]|[mM][aA][tT]"
)
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
    rf"""(?:[^<]++
    |</[a-zA-Z0-9]++>
    |<(?!{_UNUSUAL})[a-zA-Z][a-zA-Z0-9]*+(?:[ ][a-z-]++="[^"]*+"){{0,50}}+/?>
    |<[aA](?:[{_SPACE}]++[a-z-]++(?:="[^"]{{0,{SHORT_VALUE}}}+")?+){{0,{FEW_ATTRIBUTES}}}+[ ]?>
    |<[aA]{_NAMED}(?=[^>]{{0,{SHORT_LINK}}}>)(?:{_NEAT_ATTRIBUTE}){{0,{FEW_ATTRIBUTES}}}+
      [{_SPACE}]*+/?>
    |<(?![aA]{_NAMED}|(?i:select|svg|math|{"|".join(sorted(RAW))}){_NAMED})[a-zA-Z]
      [^{_SPACE}/>]*+{_REST}
    |{_RAW_ELEMENT}|{_DRAWING}|{_SELECT}
    |</[a-zA-Z][^{_SPACE}/>]*+{_REST}
    |<(?:{_COMMENT})
    |<(?![!?/a-zA-Z])|</\Z)*+""",
    re.VERBOSE,
)
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
_TOKEN = re.compile(rf"<(?:{_COMMENT}|(?P<end>/?)(?P<name>[a-zA-Z][^{_SPACE}/>]*+))")
_RAW_ENDS = {name: re.compile(rf"(?i)</{name}{_NAMED}") for name in RAW}


def tame(text: str) -> str:
    """The page, or as much of it as can be parsed in bounded time and memory."""
    return text if _is_harmless(text) else text[: _affordable(text)]


def _is_harmless(text: str) -> bool:
    """Whether a page needs no closer look: few tags, few attributes, formatting that is closed."""
    tags = text.count("<")
    if tags > FEW_TAGS or len(text) > FEW_CHARACTERS:
        return False
    link = _heaviest_link(text)
    return link is not None and (link + _weight_left_open(text)) * 2 * tags <= MAX_BYTES


def _heaviest_link(text: str) -> int | None:
    """What a copy of the longest link takes; None if something else is unusual before the end."""
    at, heaviest = 0, ELEMENT + FEW_ATTRIBUTES * (ATTRIBUTE + SHORT_VALUE)
    while (at := _plain_until(text, at)) < len(text):
        link = _attributes_at(text, at + 2)
        if not _LINK.match(text, at) or _attribute_count(link) > MAX_ATTRIBUTES:
            return None
        heaviest = max(heaviest, _weight(link))
        at += 2 + len(link)
    return heaviest


def _plain_until(text: str, at: int) -> int:
    match = _PLAIN.match(text, at)
    return match.end() if match else at


def _weight_left_open(text: str) -> int:
    """What copies of all formatting elements take that are not certainly closed."""
    return sum(
        _weight(_attributes_at(text, match.end()))
        for match in _FORMATTING.finditer(text)
        if not _CLOSED[match[0][1:].lower()].match(text, match.end())
    )


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


class _Tag(NamedTuple):
    """A tag as a tokeniser reads it, and where it starts."""

    name: str
    is_end: bool
    attributes: str
    start: int


def _affordable(text: str) -> int:
    """How much of a page a parser can take before it costs too much."""
    stack = _Stack()
    steps = size = 0
    for tag in _tags(text, stack):
        stack.take(tag)
        attributes = _attribute_count(tag.attributes) if tag.attributes else 0
        steps += stack.depth + stack.choices + attributes * attributes
        size += 2 * stack.copied
        if not tag.is_end:
            size += ELEMENT + ATTRIBUTE * attributes + len(tag.attributes)
        is_too_much = steps > MAX_STEPS or size > MAX_BYTES or attributes > MAX_ATTRIBUTES
        if is_too_much or stack.is_lost:
            return tag.start
    return len(text)


def _tags(text: str, stack: "_Stack") -> Iterator[_Tag]:
    """The tags of a page as a tokeniser reads them; what is text in some element is passed over."""
    at = 0
    while match := _TOKEN.search(text, at):
        at = match.end()
        if match["name"] is None:
            continue
        name = match["name"].lower()
        written = "" if text.startswith(">", at) else _attributes_at(text, at)
        at += len(written)
        is_raw = name in RAW and not match["end"] and not stack.is_foreign
        yield _Tag(name, bool(match["end"]), written, match.start())
        if is_raw:
            closing = _RAW_ENDS[name].search(text, at)
            at = closing.start() if closing else len(text)


@dataclass(slots=True)
class _Block:
    """A special element on the stack, with the other ones open in it."""

    name: str
    inner: list[str] = field(default_factory=list)
    names: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Level:
    """The part of the stack that an end tag can reach, and the formatting that is open in it."""

    name: str
    is_sure: bool = True
    blocks: list[_Block] = field(default_factory=lambda: [_Block("")])
    names: dict[str, int] = field(default_factory=dict)
    formatting: list[tuple[str, int]] = field(default_factory=list)
    choices: int = 0
    formatting_names: dict[str, int] = field(default_factory=dict)

    @property
    def last(self) -> str:
        """The element that was opened last, or the paragraph or entry around it."""
        block = self.blocks[-1]
        return block.inner[-1] if block.inner and block.name not in FOLLOWING else block.name


class _Stack:
    """The elements that are open: at least as many as in a parser."""

    def __init__(self) -> None:
        self.depth = 0
        #: What a copy of all formatting that is open takes.
        self.copied = 0
        #: Whether nobody can tell what comes next.
        self.is_lost = False
        self._levels = [_Level("")]

    @property
    def is_foreign(self) -> bool:
        """Whether the next tag is part of a drawing or a formula."""
        return self._levels[-1].name in FOREIGN

    @property
    def choices(self) -> int:
        """How many elements the select has that is open; each new one is compared with all."""
        return self._levels[-1].choices

    def take(self, tag: _Tag) -> None:
        """Take in a tag."""
        if tag.is_end:
            self._close(tag.name)
        elif self._makes_room_for(tag.name) and tag.name not in VOID:
            if tag.name in FORMATTING or tag.name == "a":
                self._open_formatting(tag.name, _weight(tag.attributes))
            self._push(tag.name)

    def _makes_room_for(self, name: str) -> bool:
        """End what a start tag ends; whether it is heard at all."""
        if name in ENDING_FOREIGN:
            while self.is_foreign:
                self._pop_level()
        level = self._levels[-1]
        if level.name == "select":
            level.choices += 1
            self.is_lost = name in UNREADABLE_IN_SELECT
            if name in ENDING_SELECT:
                self._pop_level()
        elif name in TABLE_PARTS:
            self._leave_cell()
            self._close_block(name)
            return self._levels[-1].name == "table"
        if level.last in FOLLOWING.get(name, ()):
            self._close(level.last)
        return True

    def _push(self, name: str) -> None:
        level = self._levels[-1]
        self.depth += 1
        if name in LEVELS or (self.is_foreign and name in INSETS):
            self._levels.append(_Level(name, level.is_sure and level.name != "select"))
        elif name in SPECIAL:
            level.blocks.append(_Block(name))
            level.names[name] = level.names.get(name, 0) + 1
        else:
            block = level.blocks[-1]
            block.inner.append(name)
            block.names[name] = block.names.get(name, 0) + 1

    def _open_formatting(self, name: str, weight: int) -> None:
        level = self._levels[-1]
        if name == "a" and level.formatting_names.get(name):
            # A link ends the one before it; the heavier of the two is kept.
            weight = max(weight, self._close_formatting(name))
        level.formatting.append((name, weight))
        level.formatting_names[name] = level.formatting_names.get(name, 0) + 1
        self.copied += weight

    def _close_formatting(self, name: str) -> int:
        level = self._levels[-1]
        place = max(n for n, (one, _) in enumerate(level.formatting) if one == name)
        _, weight = level.formatting.pop(place)
        level.formatting_names[name] -= 1
        self.copied -= weight
        return weight

    def _close(self, name: str) -> None:
        if name in TABLE_ENDS:
            self._leave_cell()
        level = self._levels[-1]
        if level.name == name:
            self._pop_level()
        elif name in SPECIAL:
            self._close_block(name)
        else:
            if level.formatting_names.get(name):
                self._close_formatting(name)
            self._close_inner(name)

    def _close_inner(self, name: str) -> None:
        block = self._levels[-1].blocks[-1]
        while block.names.get(name):
            last = block.inner.pop()
            block.names[last] -= 1
            self.depth -= 1
            if last == name:
                return

    def _close_block(self, name: str) -> None:
        level = self._levels[-1]
        while level.names.get(name):
            block = level.blocks.pop()
            level.names[block.name] -= 1
            self.depth -= 1 + len(block.inner)
            if block.name == name:
                return

    def _leave_cell(self) -> None:
        while self._levels[-1].name in CELLS:
            self._pop_level()

    def _pop_level(self) -> None:
        level = self._levels.pop()
        self.depth -= sum(1 + len(block.inner) for block in level.blocks)
        if level.is_sure and level.name in CLEARING:
            self.copied -= sum(weight for _, weight in level.formatting)
            return
        parent = self._levels[-1]
        parent.formatting += level.formatting
        for name, count in level.formatting_names.items():
            parent.formatting_names[name] = parent.formatting_names.get(name, 0) + count
