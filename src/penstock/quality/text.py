"""Texts from pages, as plain words: no markup, no entities, nothing that cannot be seen."""

import html
import re
from typing import Any

#: More characters of a text are not looked at.
MAX_RAW_TEXT = 200_000
#: Nobody escapes a text so many times by accident.
MAX_LAYERS = 8

#: Not what Python takes for white space: that is folded.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff"
    "\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]"
)
_TAG_START = re.compile(r"<(!--|[!?]|/?[A-Za-z][^\s/>]*|/)")
_TAG_END = re.compile(r""">|=\s*(["'])""")
_ENDS_OF_HIDDEN = {
    name: re.compile(rf"</{name}\b[^>]*>?", re.IGNORECASE)
    for name in ("script", "style", "template")
}
#: Tags that stand inside a word; any other one parts two.
_INLINE = frozenset(
    ["a", "abbr", "b", "code", "em", "font", "i", "mark", "small", "span", "strong", "sub", "sup"]
)


class Unfit(ValueError):
    """A raw value cannot be used; `kept` is the part of it that can."""

    def __init__(self, reason: str, kept: Any = None) -> None:
        super().__init__(reason)
        self.kept = kept


def clean_text(text: str) -> str:
    """A text without tags, entities and control characters, its white space folded.

    Markup that was escaped is stripped too, so cleaning twice changes nothing. What a browser
    would not show (scripts, comments, a tag that never ends) is gone. Raise `Unfit` for what
    is escaped many times over.
    """
    text = _folded(text[:MAX_RAW_TEXT])
    for _ in range(MAX_LAYERS):
        if "<" not in text and "&" not in text:
            return text
        plain = _folded(html.unescape(_without_tags(text)))
        if plain == text:
            return text
        text = plain
    raise Unfit("must not be escaped many times over")


def _folded(text: str) -> str:
    if text.isprintable():
        # The plain space is the only printable white space.
        return " ".join(text.split()) if "  " in text else text.strip(" ")
    return " ".join(_INVISIBLE.sub("", text).split())


def _without_tags(text: str) -> str:
    """Everything outside of tags, in one pass."""
    kept: list[str] = []
    at = 0
    while tag := _TAG_START.search(text, at):
        is_inline = tag[1].removeprefix("/").lower() in _INLINE
        kept += text[at : tag.start()], "" if is_inline else " "
        at = _end_of_tag(text, tag)
    kept.append(text[at:])
    return "".join(kept)


def _end_of_tag(text: str, tag: re.Match[str]) -> int:
    """Where the text goes on after a tag and what it hides."""
    if tag[1] == "!--":
        # `<!-->` is a whole comment.
        end = text.find("-->", tag.start() + 2)
        return end + 3 if end >= 0 else len(text)
    at = _end_of_attributes(text, tag.end())
    if hidden := _ENDS_OF_HIDDEN.get(tag[1].lower()):
        end_tag = hidden.search(text, at)
        return end_tag.end() if end_tag else len(text)
    return at


def _end_of_attributes(text: str, at: int) -> int:
    """Behind the first `>` that does not stand in a quoted value."""
    while found := _TAG_END.search(text, at):
        at = found.end()
        if found[0] == ">":
            return at
        # A quote that nothing closes is a letter like any other.
        at = max(at, text.find(found[1], at) + 1)
    return len(text)
