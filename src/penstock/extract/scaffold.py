"""The first draft of an adapter, written from a golden case and what is read from it so far."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import fill

from penstock.core.urls import Url, canonical, parse
from penstock.extract.adapter import Adapter
from penstock.extract.golden import Case
from penstock.extract.page.document import Document, Node, text_of
from penstock.kernel.reading import OUTPUT_NAMES
from penstock.kernel.records import Extraction

FIRST_VERSION = "0.1.0"
MAX_SHOWN = 36
MAX_CLASS = 30
#: What an adapter of a kind should find, under the names of `SELECTORS`.
FIELDS = {
    "product": (
        *("name", "price", "availability", "image_urls", "sku", "gtin", "mpn", "brand"),
        *("category", "description", "rating", "review_count"),
    ),
    "job_posting": ("job_title", "company_name", "location", "salary_range", "description"),
    "company_website": (
        *("company_name", "description", "industry", "employee_count_range", "headquarters"),
        *("contact_email", "contact_phone"),
    ),
    "linkedin_profile": ("name", "headline", "current_company", "location", "summary"),
}
#: What shops call the elements of a field, beside its own name.
OTHER_WORDS = {
    "name": ("title",),
    "availability": ("stock",),
    "brand": ("manufacturer", "vendor"),
    "category": ("breadcrumb",),
    "review_count": ("review",),
    "job_title": ("title", "position"),
    "company_name": ("company",),
    "salary_range": ("salary",),
}

_IDENTIFIER = re.compile(r"-?[_a-zA-Z][\w-]*", re.ASCII)
_HAS_DIGIT = re.compile(r"\d")

_HEAD = '''\
"""The adapter for {kind} pages of {domain}."""

'''
_PRODUCT = '''\
from penstock.extract.adapter import Adapter
from penstock.extract.page.document import Document
from penstock.extract.product.shop import product_page
from penstock.kernel.records import Extraction

{notes}

#: CSS selectors by field, with @attribute if it is not the text that counts. What one finds
#: goes before the generic reading.
SELECTORS: dict[str, str] = {{
{selectors}}}


def extract(document: Document) -> Extraction:
    """The product of a page, or why there is none that can be trusted."""
    return product_page(document, SELECTORS)
'''
_OTHER = '''\
from dataclasses import replace

from penstock.extract.adapter import Adapter, Findings
from {module} import {function} as read_generic
from penstock.extract.page.document import Document
from penstock.kernel.records import Extraction, ExtractReason

{notes}

#: CSS selectors by field: what one finds goes before the generic reading.
SELECTORS: dict[str, str] = {{
{selectors}}}


def extract(document: Document) -> Extraction:
    """The fields of a page, or why there are none that can be trusted."""
    found = Findings()
    for field, selector in SELECTORS.items():
        found.add(field, document.first_text(selector), f"css {{selector}}")
    generic = read_generic(document)
    for field, value in generic.fields.items():
        found.add(field, value, *generic.evidence[field])
    if generic.reason is ExtractReason.TITLE_NOT_FOUND and "{title}" in found.fields:
        generic = replace(generic, reason=None, detail="")
    return replace(generic, fields=found.fields, evidence=found.evidence)
'''
_TAIL = """

ADAPTER = Adapter(
    id={id},
    version="{version}",
    gives="{kind}",
    extract=extract,
    domain={domain},
    urls=({pattern},),
)
"""


@dataclass(frozen=True, slots=True)
class Draft:
    """What is known when an adapter is begun."""

    name: str
    case: Case
    generic: Adapter
    extraction: Extraction

    def source(self) -> str:
        """The text of the module."""
        url = parse(self.case.meta.url)
        kind = self.extraction.kind
        body = _PRODUCT if kind == "product" else _OTHER
        return "".join(
            [
                _HEAD.format(kind=kind, domain=url.domain),
                body.format(
                    title=FIELDS[kind][0],
                    module=self.generic.extract.__module__,
                    function=self.generic.extract.__name__,
                    notes="\n".join(self._notes()),
                    selectors="".join(self._selectors()),
                ),
                _TAIL.format(
                    id=_literal(self.name),
                    version=FIRST_VERSION,
                    kind=kind,
                    domain=_literal(url.domain),
                    pattern=_literal(url_pattern(url)),
                ),
            ]
        )

    @property
    def found(self) -> list[str]:
        """The fields that something was found for."""
        return [OUTPUT_NAMES.get(name, name) for name in self.extraction.fields]

    @property
    def missing(self) -> list[str]:
        """The fields that nothing was found for."""
        return [name for name in FIELDS[self.extraction.kind] if name not in self.found]

    def _notes(self) -> Iterator[str]:
        yield f"# What {self.extraction.adapter} finds on {self.case.name} without any help:"
        for name, (source, text) in self.extraction.evidence.items():
            yield f"#   {OUTPUT_NAMES.get(name, name):<16} {_shown(text)} ({_bare(source)})"
        if self.missing:
            yield fill(f"# Not found: {', '.join(self.missing)}.", 100, subsequent_indent="#   ")

    def _selectors(self) -> Iterator[str]:
        document = Document.of(self.case.page)
        for name in self.missing:
            selector, text = suggest(document, name) or ("", "")
            note = f"  # {_shown(text)}" if text else ""
            yield f"    # {_literal(name)}: {_literal(selector)},{note}\n"


def url_pattern(url: Url) -> str:
    """The pattern of a page's URL: its domain, and its path with `*` for what changes."""
    path, _, _ = url.target.partition("?")
    *folders, last = path.split("/")
    folders = ["*" if _HAS_DIGIT.search(folder) else folder for folder in folders]
    # What is left of the query in the canonical form is more than tracking: it names the product.
    if last and "?" in canonical(url):
        return f"{url.domain}{'/'.join([*folders, last])}?*"
    return f"{url.domain}{'/'.join([*folders, '*'])}"


def suggest(document: Document, field: str) -> tuple[str, str] | None:
    """A selector that may lead to a field, going by class names, and the text it leads to."""
    for word in (field, field.replace("_", "-"), *OTHER_WORDS.get(field, ())):
        for marked in ('[itemprop="{}"]', 'main [class*="{}"]', '[class*="{}"]'):
            for node in document.css(marked.format(word)):
                selector, text = _selector(node, word), text_of(node)
                if selector and text:
                    return selector, text
    return None


def _selector(node: Node, word: str) -> str:
    """The shortest selector that names an element by a word."""
    if node.attributes.get("itemprop") == word:
        return f"[itemprop={word}]"
    names = (node.attributes.get("class") or "").split()
    fitting = (name for name in names if word in name and _IDENTIFIER.fullmatch(name))
    name = min(fitting, key=len, default="")
    return f"{node.tag}.{name}" if name and len(name) <= MAX_CLASS else ""


def _shown(text: str) -> str:
    """The beginning of a text from a page, harmless in a comment."""
    shown = repr(text[:MAX_SHOWN])[: MAX_SHOWN + 2]
    return shown if len(text) <= MAX_SHOWN else f"{shown[:-1]}…"


def _bare(text: str) -> str:
    return _shown(text).strip("'\"")


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
