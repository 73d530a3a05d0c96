"""Labels: values that a page shows beside a word for them, or in an element named for them.

`<dt>Industry</dt><dd>Steel</dd>` and `<p class="industry">Steel</p>` say the same. Lists, tables,
headings with a text below and plain "Industry: Steel" are read alike.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice

from penstock.extract.page.document import Document, Node
from penstock.extract.page.structured import fold
from penstock.extract.page.things import Found

MAX_ELEMENTS = 20_000
MAX_HITS = 60
MAX_OWN_TEXT = 1_000
MAX_VALUE = 200
MAX_MARKED = 300
MAX_GLANCE = 1_000
MAX_NODES = 500
MAX_ANCESTORS = 30
MAX_MARKS = 300
MAX_SIBLINGS = 6
MAX_CLIMBS = 2

_HOLDERS = "dt,th,td,li,p,div,span,strong,b,em,label,h2,h3,h4,h5,h6"
_FLOWING = frozenset(["-text", "span", "a", "em", "i", "time", "abbr", "small"])
_LABELS_TOO = frozenset(["dt", "th"])
#: What stands in them is a way to somewhere else, or a question to the reader.
ELSEWHERE = frozenset(["nav", "form", "select", "button", "a", "menu", "dialog", "blockquote"])
_WHOLE = frozenset(["html", "body", "main", "article"])
_SPEAKS_OF_OTHERS = re.compile(
    r"similar|related|recommend|other-?jobs|more-?jobs|testimonial|customer-stor|case-stud|quote"
    r"|review|partners|clients|modal|cookie",
    re.I,
)
_COLON = re.compile(r"\s*[:\uff1a]\s*")
_AROUND = " \t:\uff1a|•·-\u2013\u2014"


def labelled_values(document: Document, fields: Mapping[str, str]) -> dict[str, list[Found]]:
    """The values of fields, in page order; `fields` are their names by label in lower case."""
    found: dict[str, list[Found]] = {}
    hits = 0
    for node in document.css(_HOLDERS)[:MAX_ELEMENTS]:
        label = _label(node)
        field = fields.get(label.casefold())
        if field is None or is_elsewhere(node):
            continue
        hits += 1
        value = _tidy(_beside(node, label), fields)
        if value:
            source = f"page {node.tag} '{label}'"
            found.setdefault(field, []).append(Found(value, source))
        if hits == MAX_HITS:
            break
    return found


def is_elsewhere(node: Node, tags: frozenset[str] = ELSEWHERE) -> bool:
    """Whether an element stands in a part of the page that speaks of something else."""
    parent = node.parent
    for _ in range(MAX_ANCESTORS):
        if parent is None:
            return False
        if parent.tag in tags or _SPEAKS_OF_OTHERS.search(_marks(parent)):
            return True
        parent = parent.parent
    return False


def _marks(node: Node) -> str:
    # Theirs speak of the whole page, as in <body class="has-cookie-banner">.
    if node.tag in _WHOLE:
        return ""
    attributes = node.attributes
    return f"{attributes.get('class') or ''} {attributes.get('id') or ''}"[:MAX_MARKS]


def _label(node: Node) -> str:
    """The words of an element's own text up to its first colon."""
    own = fold(node.text(deep=False)[:MAX_OWN_TEXT])
    return _COLON.split(own, maxsplit=1)[0].strip(_AROUND)


def _beside(node: Node, label: str) -> str:
    """What stands behind the label: in its element, or next to that."""
    inside = glance(node).partition(label)[2]
    if inside.strip(_AROUND):
        return inside
    holder: Node | None = node
    for _ in range(MAX_CLIMBS + 1):
        if holder is None:
            return ""
        if value := _following(holder):
            return value
        if any(map(_has_words, chain(_siblings(holder), _siblings_before(holder)))):
            return ""
        holder = holder.parent
    return ""


def glance(node: Node) -> str:
    """The beginning of an element's text, on one line: enough to see whether it is short."""
    words: list[str] = []
    length = 0
    for part in islice(node.traverse(include_text=True), MAX_NODES):
        if part.tag == "-text":
            words.append(part.text()[:MAX_GLANCE])
            length += len(words[-1])
        if length > MAX_GLANCE:
            break
    return fold(" ".join(words))


def _has_words(node: Node) -> bool:
    return bool(glance(node).strip(_AROUND))


def _following(node: Node) -> str:
    """The text that follows an element: a block, or the words up to the next one."""
    words: list[str] = []
    for sibling in _siblings(node):
        text = glance(sibling)
        if not text.strip(_AROUND):
            continue
        if sibling.tag in _FLOWING:
            words.append(text)
        elif words or sibling.tag in _LABELS_TOO:
            break
        else:
            return text
    return " ".join(words)


def _siblings(node: Node) -> Iterator[Node]:
    following = node.next
    for _ in range(MAX_SIBLINGS):
        if following is None:
            return
        yield following
        following = following.next


def _siblings_before(node: Node) -> Iterator[Node]:
    preceding = node.prev
    for _ in range(MAX_SIBLINGS):
        if preceding is None:
            return
        yield preceding
        preceding = preceding.prev


def _tidy(text: str, labels: Mapping[str, str]) -> str:
    value = text.strip(_AROUND)
    is_value = len(value) <= MAX_VALUE and any(map(str.isalnum, value))
    return value if is_value and value.casefold() not in labels else ""


def marked_texts(
    document: Document, selectors: Iterable[str], outside: frozenset[str] = ELSEWHERE
) -> Iterator[Found]:
    """The short texts of elements that selectors name, by selector; not inside of some others."""
    for selector in selectors:
        for node in document.css(selector)[:MAX_HITS]:
            text = glance(node).strip(_AROUND)
            if not 0 < len(text) <= MAX_MARKED or _has_inner(node, selector):
                continue
            if not is_elsewhere(node, outside):
                yield Found(text, f"page {selector}")


def _has_inner(node: Node, selector: str) -> bool:
    """Whether an element only surrounds others that the same selector names."""
    return any(inner.mem_id != node.mem_id and glance(inner) for inner in node.css(selector))
