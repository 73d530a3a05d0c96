"""Codes that a page labels as the product's own number: SKU, article number, reference."""

import re

from penstock.extract.patterns import either_case

MAX_TEXT = 16_000
MAX_CODES = 400
MAX_LABEL = 28

#: Codes are few and labels are many: the code is found first, then what stands before it is read.
_CODE = re.compile(r"(?<![\w./-])(?=[A-Za-z./-]{0,12}+\d)[A-Za-z0-9][\w./-]{2,30}")
_LABELS = either_case(
    r"SKU|Item (?:no|number|code|#)|Item|Product (?:no|number|code|id)|Part (?:no|number)"
    r"|Catalog(?:ue)? (?:no|number)|Style (?:no|number)|Art(?:ikel)?\.?[- ]?(?:Nr|No|nummer)"
    r"|Artikelnummer|Bestell-?Nr|Art\.? ?nr|Référence|Réf|Ref|Referencia|Referência|Cód(?:igo)?"
    r"|Codice(?: articolo| prodotto)?|Cod|Nr (?:art|kat|ref)|Kod(?: produktu)?|Kód|Tuotenumero"
    r"|Tootekood|Varenr|Varenummer|Šifra|Артикул|Код(?: товара)?|Модель"
    r"|商品編號|商品編碼|商品番号|貨號|货号|型號"
)
_LABEL = re.compile(rf"(?<!\w)(?:{_LABELS})(?: {either_case('eBay')})?[\s.:：#№-]{{0,4}}$")


def labelled_code(text: str) -> tuple[str, str] | None:
    """The first code of a text that a label stands before, and both as they are written."""
    text = text[:MAX_TEXT]
    for count, match in enumerate(_CODE.finditer(text)):
        if count == MAX_CODES:
            return None
        start = match.start()
        if label := _LABEL.search(text, max(0, start - MAX_LABEL), start):
            return match[0].rstrip("./-"), text[label.start() : match.end()]
    return None
