"""How far each attribute of an extraction can be believed, by where it stood on the page.

The figures are shares of right values on labelled pages of real shops, as
`python -m benchmarks.confidence` measures them (docs/figures/confidence.md). They say how often
such a source is right, nothing of this very page: what is doubtful there has no value at all.
"""

from collections.abc import Mapping
from enum import StrEnum
from math import prod

from penstock.kernel.reading import OUTPUT_NAMES
from penstock.kernel.records import Availability, Extraction

#: Joins the sources of a value that two of them agree on.
AND = ", and "
#: However many agree, nothing that was read is certain.
MOST = 0.99
#: These name what is not known.
NO_ATTRIBUTES = frozenset(["rival_prices"])


class SourceKind(StrEnum):
    """What a value was read from."""

    GIVEN = "given"
    JSON_LD = "json-ld"
    MICRODATA = "microdata"
    META = "meta"
    SCRIPT = "script"
    PAGE = "page"
    URL = "url"
    SELECTOR = "selector"


#: How the evidence for a kind begins; of everything else, an adapter knows where it stands.
BEGINNINGS: Mapping[str, SourceKind] = {
    "the page's URL": SourceKind.GIVEN,
    "json-ld ": SourceKind.JSON_LD,
    "microdata ": SourceKind.MICRODATA,
    # Marks on what is displayed, as microdata are.
    "rdfa ": SourceKind.MICRODATA,
    "meta ": SourceKind.META,
    "script data": SourceKind.SCRIPT,
    "page ": SourceKind.PAGE,
    "page, ": SourceKind.PAGE,
    "the page's title": SourceKind.PAGE,
    "URL": SourceKind.URL,
}
#: The measured shares, each with one right and one wrong value added: a few pages prove little.
CONFIDENCE: Mapping[SourceKind, float] = {
    SourceKind.GIVEN: 1.0,
    SourceKind.JSON_LD: 0.93,
    SourceKind.MICRODATA: 0.87,
    SourceKind.META: 0.67,
    SourceKind.SCRIPT: 0.8,
    SourceKind.PAGE: 0.97,
    SourceKind.URL: 0.93,
    SourceKind.SELECTOR: 0.95,
}


def confidence_of(extraction: Extraction, invalid: Mapping[str, str]) -> dict[str, float]:
    """The confidence of each attribute that was found, 0 to 1, by its name in output.

    One that is invalid has none of it: 0.
    """
    found = {}
    for name, value in extraction.fields.items():
        is_unknown = name == "availability" and value == Availability.UNKNOWN
        if name in NO_ATTRIBUTES or is_unknown:
            continue
        source = extraction.evidence[name].source if name in extraction.evidence else ""
        confidence = 0.0 if name in invalid else confidence_in(source)
        found[OUTPUT_NAMES.get(name, name)] = confidence
    return found


def confidence_in(source: str) -> float:
    """How often values of a source are right; none without a source.

    Two sources that agree are wrong only where both are.
    """
    kinds = kinds_of(source)
    if not kinds:
        return 0.0
    if len(kinds) == 1:
        return CONFIDENCE[next(iter(kinds))]
    return min(MOST, round(1 - prod(1 - CONFIDENCE[kind] for kind in kinds), 2))


def kinds_of(source: str) -> frozenset[SourceKind]:
    """The kinds of all the sources that evidence names; two of one kind count as one."""
    return frozenset(map(_kind_of, source.split(AND))) if source else frozenset()


def _kind_of(source: str) -> SourceKind:
    for beginning, kind in BEGINNINGS.items():
        if source.startswith(beginning):
            return kind
    return SourceKind.SELECTOR
