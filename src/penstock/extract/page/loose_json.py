"""JSON as web pages write it: entities, comments, trailing commas, single quotes, bare keys.

What is not data, such as a call, and what is cut off or broken, becomes None: half of a value is
worse than none.
"""

import html
import re
from itertools import islice
from math import isfinite
from typing import Any

import orjson

MAX_CHARACTERS = 1_000_000
MAX_DEPTH = 60
MAX_TOKENS = 100_000
MAX_NUMBER = 40

# Every quantifier is possessive or ends with the text, so that no character is looked at twice.
_TOKEN = re.compile(
    r"""
    (?P<space>\s++ | (?://\s*)?(?:<!-- | --> | <!\[CDATA\[ | \]\]>) | //[^\n]*+ | /\*.*?(?:\*/|\Z))
  | (?P<string>"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)
      | '[^'\\]*+(?:\\.[^'\\]*+)*+(?:'|\\?\Z)
      | `[^`\\]*+(?:\\.[^`\\]*+)*+(?:`|\\?\Z))
  | (?P<number>-?\d[\d.eE+-]*+)
  | (?P<mark>[{}\[\]():;,])
  | (?P<word>[^\s{}\[\]():;,"'`]++)
    """,
    re.VERBOSE | re.DOTALL,
)
_OPENING, _CLOSING, _SEPARATING = "{[(", "}])", ",;"
_ENTITY_QUOTE = re.compile(r"&(?:quot|#0*34|#[xX]0*22);")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|u\{[0-9a-fA-F]{1,6}\}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "\n": ""}
_WORDS = {"true": True, "false": False, "True": True, "False": False}
_LAST_CHARACTER = 0x10FFFF


def read_json(text: str) -> Any:
    """The value that stands in a text, or None if there is none that can be read.

    Several objects in a row come as a list.
    """
    if len(text) > MAX_CHARACTERS:
        return None
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        if '"' not in text and _ENTITY_QUOTE.search(text):
            text = html.unescape(text)
        return _Reader(text).read_all()
    return value if _is_shallow(text, value) else None


def read_strict_json(text: str) -> Any:
    """The value that a text is, as the standard has it; None if it is not, or nests too deep."""
    if len(text) > MAX_CHARACTERS:
        return None
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return value if _is_shallow(text, value) else None


def read_literal(text: str, start: int) -> Any:
    """The object or list that begins at a place in a script, or None."""
    return _Reader(text[start : start + MAX_CHARACTERS]).read_first()


def _is_shallow(text: str, value: Any) -> bool:
    """Whether whoever walks through a value gets to its end."""
    if text.count("{") + text.count("[") <= MAX_DEPTH:
        return True
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _parts(outer)]
    return not level


def _parts(value: Any) -> list[Any]:
    """The containers in a container."""
    parts = value.values() if isinstance(value, dict) else value
    return [part for part in parts if isinstance(part, dict | list)]


class _TooDeep(Exception):
    """The text nests deeper than any page needs."""


class _Reader:
    """Reads values from loose tokens."""

    def __init__(self, text: str) -> None:
        if not text.isascii():
            text = text.encode("utf-8", "replace").decode()
        tokens = (match for match in _TOKEN.finditer(text) if match.lastgroup != "space")
        self._tokens = [(one.lastgroup or "", one[0]) for one in islice(tokens, MAX_TOKENS)]
        self._tokens.reverse()

    def read_first(self) -> Any:
        """The first object or list, whatever stands around it."""
        while self._kind != "end" and not self._is_mark("{["):
            self._pass()
        if self._kind == "end":
            return None
        try:
            # Not as a value: at the top, what follows is no part of an expression.
            return self._object(0) if self._is_mark("{") else self._list(0)
        except _TooDeep:
            self._tokens.clear()
            return None

    def read_all(self) -> Any:
        """The first object or list, and those that follow it directly."""
        found = [self.read_first()]
        while self._follows():
            found.append(self.read_first())
        return found if len(found) > 1 else found[0]

    def _follows(self) -> bool:
        while self._is_mark(_SEPARATING):
            self._pass()
        return self._is_mark("{[")

    @property
    def _kind(self) -> str:
        return self._tokens[-1][0] if self._tokens else "end"

    @property
    def _word(self) -> str:
        return self._tokens[-1][1] if self._tokens else ""

    def _is_mark(self, marks: str) -> bool:
        return bool(self._tokens) and self._tokens[-1][0] == "mark" and self._tokens[-1][1] in marks

    def _pass(self) -> None:
        if self._tokens:
            self._tokens.pop()

    def _value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise _TooDeep
        value: Any = None
        if self._is_mark("{"):
            value = self._object(depth)
        elif self._is_mark("["):
            value = self._list(depth)
        elif self._kind != "mark":
            value = _scalar(self._kind, self._word)
            self._pass()
            if self._kind == "end":
                return None
        if self._is_over():
            return value
        self._skip_expression()
        return None

    def _is_over(self) -> bool:
        """Whether a value ends here: at a mark, or where a comma is missing."""
        if self._kind == "end" or self._is_mark(",;}]{["):
            return True
        return self._kind == "string" and self._tokens[-2:-1] == [("mark", ":")]

    def _skip_expression(self) -> None:
        """Pass over what follows a value in code, such as a call or an operator."""
        depth = 0
        while self._kind != "end":
            if depth == 0 and self._is_mark(",;}]"):
                return
            depth += self._is_mark(_OPENING) - self._is_mark(_CLOSING)
            self._pass()

    def _object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self._pass()
        number: tuple[str, str] | None = None
        while self._kind != "end" and not self._is_mark("}"):
            if self._is_mark(_OPENING):
                self._skip_expression()
            elif self._kind == "mark":
                self._pass()
            else:
                number = self._property(found, number, depth)
        self._pass()
        return found

    def _property(
        self, found: dict[str, Any], number: tuple[str, str] | None, depth: int
    ) -> tuple[str, str] | None:
        """Read one property; the key and the text of its value if that is a number."""
        kind, word = self._tokens.pop()
        if self._is_mark(":"):
            self._pass()
            key = word if kind != "string" else _unquote(word) or ""
            text = self._word if self._kind == "number" else ""
            found[key] = self._value(depth + 1)
            return (key, text) if text else None
        if number and kind == "number":
            # A number in place of a key is what stands behind a decimal comma.
            found[number[0]] = f"{number[1]},{word}"
        return None

    def _list(self, depth: int) -> list[Any]:
        found: list[Any] = []
        self._pass()
        while self._kind != "end" and not self._is_mark("]"):
            if self._is_mark(",;:})"):
                self._pass()
            else:
                found.append(self._value(depth + 1))
        self._pass()
        return found


def _scalar(kind: str, word: str) -> Any:
    if kind == "string":
        return _unquote(word)
    if kind == "number":
        return _number(word)
    return _WORDS.get(word)


def _number(text: str) -> int | float | str | None:
    if len(text) > MAX_NUMBER:
        return None
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        return number if isfinite(number) else None
    return text


def _unquote(word: str) -> str | None:
    """What stands between quotes; None if the second is missing or there is code in it."""
    if len(word) == 1 or word[-1] != word[0] or (word[0] == "`" and "${" in word):
        return None
    text = word[1:-1]
    if "\\" not in text:
        return text
    decoded = _ESCAPE.sub(_character, text)
    # Two halves of a character outside the basic plane were decoded one by one.
    return decoded.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _character(match: re.Match[str]) -> str:
    code = match[1]
    if len(code) == 1:
        return _ESCAPED.get(code, code)
    number = int(code[1:].strip("{}"), 16)
    return chr(number) if number <= _LAST_CHARACTER else "\ufffd"
