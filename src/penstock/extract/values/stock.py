"""Stock: whether a short text says that something can be bought now.

`read_stock` wants positive evidence: what is not recognised, what contradicts itself and what
only asks or promises ("in stock soon") is UNKNOWN. `is_buy_label` says the same of a button.

The words stand in `stock_words`. A text is turned into marks, one for each phrase that is known,
and the marks are read.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

from penstock.extract.values.stock_words.languages import all_languages
from penstock.kernel.records import Availability

MAX_LENGTH = 300
MAX_LABEL_LENGTH = 80
_MAX_RAW_LENGTH = 3000

#: Values of schema.org, Google and Facebook feeds, without case, spaces, hyphens and underscores.
VALUES = {
    "instock": Availability.IN_STOCK,
    "instoreonly": Availability.IN_STOCK,
    "limitedavailability": Availability.IN_STOCK,
    "onlineonly": Availability.IN_STOCK,
    "discontinued": Availability.OUT_OF_STOCK,
    "oos": Availability.OUT_OF_STOCK,
    "outofstock": Availability.OUT_OF_STOCK,
    "soldout": Availability.OUT_OF_STOCK,
    "availablefororder": Availability.BACKORDER,
    "backorder": Availability.BACKORDER,
    "madetoorder": Availability.BACKORDER,
    "preorder": Availability.BACKORDER,
    "presale": Availability.BACKORDER,
}

_NUMBER = r"\d{1,6}(?:[.,]\d{1,3}){0,2}\+?"
#: Scripts that put no space between words, or vowels that Python takes for no part of a word.
_UNSPACED = "\u0900-\u1fff\u2e80-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
_LETTER = rf"[^\W{_UNSPACED}]"
_OTHER = rf"[{_UNSPACED}]|{_LETTER}+"
_ZERO = re.compile(r"0(?:[.,]0{1,3})?")
_SCHEMA_ORG = re.compile(r"(?:https?://(?:www\.)?schema\.org[/#]|schema:)(\w+)/?")
_CLAUSE_END = re.compile(r"[.!;]+(?=\s|$)|[。！；|•·]+|\s[-–—]+\s")
_PUNCTUATION = str.maketrans(dict.fromkeys('-‐‑‒–—_,،、:()[]{}<>"“”„«»*/=&~…', " ") | {"’": "'"})
_SEPARATORS = str.maketrans("", "", " -_")
_ACCENTS = str.maketrans(dict.fromkeys(range(0x300, 0x370)) | {ord("ı"): "i"})

# What a clause says is decided on its marks, a letter for each phrase: those of the lists below,
# 1 for a number, 0 for zero, x for any other word.
_EVIDENCE = frozenset("SGBUEACK")
_NEGATED_STOCK = re.compile(r"[NE][FCQNA]{0,4}S|S[FC]?[NE]$")
_NEGATED_WORD = re.compile(r"[NE][FCQN]{0,4}A|A[FC]?[NE]$")
_NEGATED_END = re.compile(r"[NE][FC]{0,4}[GU]")
_NONE_IN_STOCK = re.compile(r"0[QF]{0,2}S|S0Q?$")
_NUMBER_ALONE = re.compile(r"C[FCQ]*[10]Q*")


def read_stock(text: str) -> Availability:
    """What a button, a stock line or a schema.org value says of the stock; UNKNOWN if unsure."""
    if len(text) > _MAX_RAW_LENGTH:
        return Availability.UNKNOWN
    return _read_line(" ".join(text.split()))


def is_buy_label(text: str) -> bool:
    """Whether a button's label offers to buy now."""
    return len(text) <= _MAX_RAW_LENGTH and _is_offer(" ".join(text.split()))


# The same few labels stand on all pages of a shop.
@lru_cache(maxsize=4096)
def _read_line(line: str) -> Availability:
    if len(line) > MAX_LENGTH:
        return Availability.UNKNOWN
    folded = _fold(line)
    if value := VALUES.get(folded.translate(_SEPARATORS)):
        return value
    if "schema" in folded and (match := _SCHEMA_ORG.fullmatch(folded)):
        return VALUES.get(match[1], Availability.UNKNOWN)
    if "?" in folded or "://" in folded:
        return Availability.UNKNOWN
    return _sum_up(_read_marks(_stock_words().marks(clause)) for clause in _clauses(folded))


def is_contact_label(text: str) -> bool:
    """Whether a button's label lets a buyer speak to the seller of a single thing."""
    return len(text) <= MAX_LABEL_LENGTH and _fold(text) in _contact_labels()


@cache
def _contact_labels() -> frozenset[str]:
    return phrases(all_languages().contact)


@lru_cache(maxsize=4096)
def _is_offer(label: str) -> bool:
    if len(label) > MAX_LABEL_LENGTH or "?" in label:
        return False
    marks = set(_buy_words().marks(_fold(label)))
    if "B" in marks:
        return "R" not in marks
    return "A" in marks and marks <= set("AF10")


def _clauses(folded: str) -> list[str]:
    """The statements of a text; the dot of "pcs." ends none."""
    if "." in folded:
        folded = _abbreviation().sub(r"\1 ", folded)
    return _CLAUSE_END.split(folded)


def _sum_up(found: Iterable[Availability]) -> Availability:
    """What all clauses say together; sold out, but to be ordered, is a back order."""
    said = set(found) - {Availability.UNKNOWN}
    if said == {Availability.OUT_OF_STOCK, Availability.BACKORDER}:
        return Availability.BACKORDER
    return said.pop() if len(said) == 1 else Availability.UNKNOWN


def _read_marks(marks: str) -> Availability:
    if "I" in marks or _EVIDENCE.isdisjoint(marks):
        return Availability.UNKNOWN
    if "K" in marks:
        marks = marks.replace("K", "" if "S" in marks else "B")
    said = {reading for reading, is_said in _READINGS.items() if is_said(marks)}
    return said.pop() if len(said) == 1 else Availability.UNKNOWN


def _says_gone(marks: str) -> bool:
    if "B" in marks:
        # Whether the product or the chance to order it is gone, nobody knows.
        return False
    if _NEGATED_STOCK.search(marks) or _NONE_IN_STOCK.search(marks) or _is_alone("E", marks):
        return True
    if _is_counted(marks):
        return "0" in marks
    if "S" in marks or _NEGATED_END.search(marks):
        return False
    if "G" in marks:
        return True
    is_denied = "U" in marks or _NEGATED_WORD.search(marks) is not None
    return is_denied and "O" not in marks


def _says_to_order(marks: str) -> bool:
    return "B" in marks and not _is_denied(marks)


def _says_there(marks: str) -> bool:
    if _is_denied(marks) or _NONE_IN_STOCK.search(marks):
        return False
    return "S" in marks or (_is_counted(marks) and "0" not in marks)


def _is_counted(marks: str) -> bool:
    """Whether it is a bare "available", or a number of pieces and nothing else."""
    return _is_alone("A", marks) or _NUMBER_ALONE.fullmatch(marks) is not None


def _is_alone(mark: str, marks: str) -> bool:
    """Whether nothing but fillers and numbers, of units, stands beside it."""
    beside = set(marks) - {mark}
    has_number = beside & set("10")
    return mark in marks and beside <= set("FCQ10") and ("Q" not in beside or bool(has_number))


def _is_denied(marks: str) -> bool:
    """Whether a negation, a promise or a contradiction takes positive evidence away."""
    return not set("NEPGU").isdisjoint(marks)


_READINGS: Mapping[Availability, Callable[[str], bool]] = {
    Availability.OUT_OF_STOCK: _says_gone,
    Availability.BACKORDER: _says_to_order,
    Availability.IN_STOCK: _says_there,
}


@dataclass(frozen=True, eq=False)
class _Vocabulary:
    """Lists of phrases by their mark; of a phrase that stands in two, the first counts."""

    lists: Mapping[str, Iterable[str]]

    def marks(self, text: str) -> str:
        """The marks of a folded text, in order; of overlapping phrases the longest counts."""
        found = self._pattern.finditer(text.translate(_PUNCTUATION))
        return "".join(map(self._mark, found))

    def _mark(self, match: re.Match[str]) -> str:
        word = match[0]
        if match.lastgroup == "other":
            return "x"
        if match.lastgroup == "number":
            return "0" if _ZERO.fullmatch(word) else "1"
        return self._marks.get(word) or self._mark_of_number(word)

    def _mark_of_number(self, phrase: str) -> str:
        """The mark of "only # left"; with zero it says the opposite."""
        number = re.search(_NUMBER, phrase)
        is_none = number is not None and _ZERO.fullmatch(number[0])
        return "G" if is_none else self._marks[re.sub(_NUMBER, "#", phrase)]

    @cached_property
    def _marks(self) -> Mapping[str, str]:
        marks: dict[str, str] = {}
        for mark, lists in self.lists.items():
            for phrase in phrases(*lists):
                marks.setdefault(phrase, mark)
        return marks

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        known = _any_of(self._marks.keys())
        return re.compile(f"{known}|(?P<number>{_NUMBER})|(?P<other>{_OTHER})")


@cache
def _stock_words() -> _Vocabulary:
    words = all_languages()
    return _Vocabulary(
        {
            "I": [words.idle],
            "K": [words.backable],
            "B": [words.backorder],
            "G": [words.out_of_stock],
            "S": [words.in_stock],
            "U": [words.unavailable],
            "E": [words.gone],
            "N": [words.negations],
            "P": [words.pending],
            "O": [words.asides],
            "A": [words.available],
            "C": [words.counted],
            "Q": [words.units],
            "F": [words.fillers],
        }
    )


@cache
def _buy_words() -> _Vocabulary:
    words = all_languages()
    refusals = [
        *(words.not_buying, words.negations, words.out_of_stock),
        *(words.unavailable, words.backorder),
    ]
    return _Vocabulary(
        {"B": [words.buy], "A": [words.buy_alone], "R": refusals, "F": [words.buy_fillers]}
    )


@cache
def _abbreviation() -> re.Pattern[str]:
    return re.compile(rf"({_any_of(phrases(all_languages().units))})\.")


def phrases(*lists: str) -> frozenset[str]:
    """All phrases of lists, in the form that texts are compared in."""
    folded = (_fold(phrase).translate(_PUNCTUATION) for one in lists for phrase in one.split("|"))
    return frozenset(phrase.strip() for phrase in folded)


def _any_of(known: Set[str]) -> str:
    """One expression for many phrases; whole words where the script has such."""
    unspaced = {phrase for phrase in known if re.search(f"[{_UNSPACED}]", phrase)}
    spaced = rf"(?<!{_LETTER}){_trie(known - unspaced)}(?!{_LETTER})"
    return f"(?:{spaced}|{_trie(unspaced)})"


def _trie(known: Set[str]) -> str:
    """Phrases with a common beginning share it: the search is as fast as for a few words."""
    tails: defaultdict[str, set[str]] = defaultdict(set)
    for phrase in known - {""}:
        tails[phrase[0]].add(phrase[1:])
    if not tails:
        return ""
    branches = (_sign(first) + _trie(rest) for first, rest in sorted(tails.items()))
    return f"(?:{'|'.join(branches)})" + ("?" if "" in known else "")


def _sign(letter: str) -> str:
    return _NUMBER if letter == "#" else re.escape(letter)


def _fold(text: str) -> str:
    """Without case, accents and odd forms of letters, with single spaces."""
    text = text.casefold()
    if not text.isascii():
        bare = unicodedata.normalize("NFKD", text).translate(_ACCENTS)
        text = unicodedata.normalize("NFC", bare.casefold())
    return " ".join(text.split())
