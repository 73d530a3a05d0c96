"""JSON as web pages write it: entities, comments, trailing commas, single quotes, bare keys."""

import html
import re
from typing import Any

import orjson

MAX_CHARACTERS = 4_000_000
MAX_DEPTH = 60
MAX_TOKENS = 400_000

_TOKEN = re.compile(
    r"""
    (?P<space>\s+ | //[^\n]* | /\*(?:[^*]|\*(?!/))*\*/ | <!-- | --> | <!\[CDATA\[ | \]\]>)
  | (?P<string>"(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' | `(?:[^`\\]|\\.)*`)
  | (?P<number>-?\d[\d.eE+-]*)
  | (?P<mark>[{}\[\]:,])
  | (?P<word>[^\s{}\[\]:,"'`]+)
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\n": ""}
_WORDS = {"true": True, "false": False}


def read_json(text: str) -> Any:
    """The value that stands in a text, or None if there is none that can be read."""
    if len(text) > MAX_CHARACTERS:
        return None
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        pass
    value = _Reader(text).read()
    if value is None and "&quot;" in text:
        value = _Reader(html.unescape(text)).read()
    return value


def read_literal(text: str, start: int) -> Any:
    """The object or list that begins at a place in a script, or None."""
    return _Reader(text[start : start + MAX_CHARACTERS]).read()


class _TooDeep(Exception):
    """The text nests deeper than any page needs."""


class _Reader:
    """Reads one value from loose tokens; what is not data, like a function, becomes None."""

    def __init__(self, text: str) -> None:
        self._words = (match for match in _TOKEN.finditer(text) if match.lastgroup != "space")
        self._left = MAX_TOKENS
        self._kind = self._word = ""
        self._next()

    def read(self) -> Any:
        """The first value, whatever follows it."""
        try:
            return self._value(0) if self._word else None
        except _TooDeep:
            return None

    def _next(self) -> None:
        match = next(self._words, None)
        self._left -= 1
        if match is None or self._left < 0:
            self._kind, self._word = "end", ""
        else:
            self._kind, self._word = match.lastgroup or "", match[0]

    def _value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise _TooDeep
        match self._kind, self._word:
            case "mark", "{":
                return self._object(depth)
            case "mark", "[":
                return self._list(depth)
            case "mark" | "end", _:
                return None
        value = self._scalar()
        self._next()
        self._skip_expression()
        return value

    def _scalar(self) -> Any:
        if self._kind == "string":
            return _unescape(self._word[1:-1])
        if self._kind == "number":
            return _number(self._word)
        return _WORDS.get(self._word)

    def _skip_expression(self) -> None:
        """Pass over what follows a value in code, like a call or an operator."""
        depth = 0
        while self._kind != "end":
            if self._kind == "mark":
                if depth == 0 and self._word in ",}]":
                    return
                depth += (self._word in "{[") - (self._word in "}]")
            self._next()

    def _object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self._next()
        while self._kind != "end" and self._word != "}":
            if self._kind == "mark":
                self._next()
                continue
            key = _unescape(self._word[1:-1]) if self._kind == "string" else self._word
            self._next()
            if self._word == ":" and self._kind == "mark":
                self._next()
                found[key] = self._value(depth + 1)
        self._next()
        return found

    def _list(self, depth: int) -> list[Any]:
        found: list[Any] = []
        self._next()
        while self._kind != "end" and self._word != "]":
            if self._kind == "mark" and self._word not in "{[":
                self._next()
                continue
            found.append(self._value(depth + 1))
        self._next()
        return found


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    decoded = _ESCAPE.sub(_character, text)
    # Two halves of a character outside the basic plane were decoded one by one.
    return decoded.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _character(match: re.Match[str]) -> str:
    code = match[1]
    if len(code) > 1:
        return chr(int(code[1:], 16))
    return _ESCAPED.get(code, code)
