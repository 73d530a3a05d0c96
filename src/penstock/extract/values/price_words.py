"""Words around an amount that say it is not the price: what it is instead, in many languages."""

import re
from functools import cache
from typing import NamedTuple


class _Words(NamedTuple):
    """What the amount is, and the words that say so.

    `before` stand only in front of it, `behind` only behind it, and `either` on either side.
    """

    meaning: str
    before: str
    behind: str
    either: str = ""


_TABLE = (
    _Words(
        "a deduction",
        r"save|you save|saving|savings|sparen|sie sparen|ersparnis|du sparst|économisez|économie"
        r"|remise|risparmi|sconto|ahorra|ahorras|descuento|poupe|desconto|spara|du sparar|spar"
        r"|oszczędzasz|rabat|скидка|экономия|выгода|現省|現折|折抵|优惠|off"
        r"|bespaar|ušetříte|sleva|popust|prihranek|coupon|voucher|bonus|minus",
        r"off|de remise|de réduction|di sconto|de descuento|de desconto|taniej|скидк\w*"
        r"|saved|savings|бонус\w*|points|punkte",
        r"discount|rabatt|korting|cashback",
    ),
    _Words(
        "an older or recommended price",
        r"was|were|rrp|msrp|srp|list price|list|retail price|retail|reg\.?|regular price|regular"
        r"|original price|originally|original|before|compare at|compare|uvp|unverb\. preisempf\."
        r"|statt|früher|vorher|bisher|alter preis|au lieu de|prix conseillé|ancien prix|avant"
        r"|prix public|prezzo consigliato|prezzo di listino|listino|prima|invece di|anziché|antes"
        r"|precio anterior|pvpr|pvp recomendado|preço anterior|van|adviesprijs|ord\. pris"
        r"|ord|ordinarie pris|tidigare pris|rek\. pris|førpris|før|vejl\. pris|norm\. hinta|norm"
        r"|cena katalogowa|stara cena|najniższa cena|cena regularna|cena przed|původní cena"
        r"|běžná cena|старая цена|цена до|redna cena|prejšnja cena|vana hind|tavahind"
        r"|原價|原价|定價|定价|市價|市价|建議售價|参考価格|定価|通常価格|정가|normal",
        r"(?:rrp|msrp|uvp|statt)(?!\s*[\d$€£])|por(?: apenas| só)?(?= ?r\$)",
    ),
    _Words(
        "a cost of delivery",
        r"lieferbar|zustellung|expédition|consegna|portes|verzending"
        r"|bezorging|levering|toimitus|wysyłka|doprava|doručení|szállítás|livrare"
        r"|доставки|poštnina|tarne|運費|运费|送料|배송비|zzgl\.?|plus"
        r"|free over|over|above|orders over|ab einem bestellwert von|dès|minimum|threshold|spend",
        r"de frais de port|de envío|de envio|verzendkosten|fragt",
        r"delivery|shipping|postage|p&p|versand|versandkosten|lieferung|livraison|frais de port"
        r"|spedizione|envío|envio|frete|frakt|dostawa|доставка|kargo|dostava",
    ),
    _Words(
        "an instalment",
        r"\d+ ?[x×*] ?(?:de |di |von |à )?|installments? of|instalments? of|payments? of|rate von"
        r"|raten von|mensualités de|cuotas de|mensualidades de|parcelas de|vezes de|rate da"
        r"|finance from|financing|klarna|afterpay|clearpay|affirm"
        r"|рассрочка|кредит|rata|raty|od 0% rata",
        r"/ ?mo\b|/ ?month|per month|a month|p/m|pm|/ ?monat|im monat|mtl"
        r"|/ ?mois|par mois"
        r"|al mese|/ ?mese|al mes|/ ?mes|por mes|por mês|/mês|per maand|/ ?mån|per månad"
        r"|/ ?mies|miesięcznie|/ ?мес|месяц|/ ?kk|x \d+|× ?\d+",
        r"monthly|pro monat|в месяц",
    ),
    _Words(
        "a price per measure",
        r"unit price|price per|grundpreis|preis pro|prix au|prezzo al|precio por|preço por|jfr-pris"
        r"|jmf-pris|cena za|平均每\S?|每\S?平均"
        r"|(?:\d+[.,]?\d* ?)?(?:kg|g|l|liter|ml|m|m²|stück|stk|st) ?=",
        r"/ ?(?:\d+[.,]?\d* ?)?(?:kg|g|gr|mg|lb|lbs|oz|l|lt|ltr|liter|litre|ml|cl|dl|m|m2|m²|m³|cm"
        r"|ft|sq|yd|stk|stück|st|szt|kom|pz|ud|un|ea|each|rd|rnd|round|tab|шт|кг|л|м|罐|包|個|个)\b"
        r"|per (?:\d+ ?)?(?:kg|g|gram|100|lb|pound|oz|ounce|l|litre|liter|ml|metre|meter|m|sheet"
        r"|tablet|capsule|wash|unit|item|round|piece)\b"
        r"|(?:pro|je) (?:\d+ ?)?(?:kg|g|100|l|liter|ml|m|meter|stück|stk)\b"
        r"|(?:le|au|par) (?:kg|kilo|litre|mètre)\b|al (?:kg|kilo|litro|metro)\b"
        r"|za (?:\d+ ?)?(?:kg|l|m|szt|kom|kus)\b|за (?:кг|шт|литр|м)\b|a round\b|cpr\b",
    ),
    _Words(
        "a price without tax",
        r"without (?:tax|vat)|net|hors taxes|s/iva|km-ta|alv 0 ?%"
        r"|(?<!inc )(?<!inc\. )(?<!incl )(?<!incl\. )(?<!including )(?<!with )(?:tax|vat)",
        r"\+ ?vat|before tax|h\.t|\+ ?iva"
        r"|zzgl\.? (?:\d+ ?% ?)?(?:der )?(?:gesetzl\w*\.? )?(?:mwst|ust|mehrwert\w*)",
        r"excl(?:\.|uding|usive of)?(?: vat| tax| btw| moms)?|ex\.? ?vat|ex\.? tax|netto"
        r"|ohne mwst\.?|exkl\.?(?: mwst\.?| moms)?|ht|iva esclusa|sin iva|sem iva|bez dph|bez vat"
        r"|brez ddv|ekskl\.?(?: moms)?|без ндс|税抜|税別",
    ),
    _Words(
        "a price for several",
        r"(?:(?<![\d.,])\d+ (?:for|für|pour|per|por|za)|any \d+ for|buy \d+|買\d+\S?)",
        r"(?:when you buy|if you buy|for|for any) ?\d",
    ),
    _Words(
        "a starting price",
        r"from|starting at|as low as|starting from|ab|à partir de|a partire da|dès|desde"
        r"|a partir de"
        r"|od|от|vanaf|från|fra|alkaen|alates|nuo|最低[价價]?|低至|起價",
        r"起|から|or more|and up|\+(?=\s*(?:$|[)|/]))|~(?=\s*$)|\u301c(?=\s*$)",
    ),
    _Words(
        "a limit",
        r"up to|under|below|less than|at most|max\.?|maximum|bis|bis zu|unter|jusqu['\u2019]à|hasta"
        r"|fino a|até|tot|do|до",
        r"or less|max\.?",
    ),
    _Words(
        "an estimate",
        r"approx\.?|approximately|about|around|ca\.?|circa|etwa|ungefähr|environ|env\.|aprox\.?"
        r"|около|≈|~",
        r"approx\.?|approximately",
    ),
    _Words(
        "a price for some buyers",
        r"(?:member|members|members'|member's|prime|trade|club|clubcard|loyalty|used)(?: price)?"
        r"|kundenkarte|mit karte|new|used from|gebraucht|d'occasion|usato|refurbished|trade-?in"
        r"|worth|valued at|kaution",
        r"(?:price )?for members",
        r"with card|deposit|pfand",
    ),
)
#: Words beside an amount that do not change what it is.
_PRICE_WORDS = (
    r"our price|sale price|special price|current price|price|now only|now|only|just"
    r"|unser preis|aktueller preis|preis|jetzt nur|jetzt|nur|prix|maintenant|prezzo|precio|ahora"
    r"|preço|preco|agora|pris|prijs|nu|cena|cijena|hinta|hind|kaina|ár|preț|pret|fiyat|τιμή"
    r"|цена|ціна|価格|价格|價格|售價|售价|가격"
)
_LEAD = 40
_TAIL = 28

_ONLY_PRICE = re.compile(rf"(?:[\s:.,;!*|]|(?<!\w)(?:{_PRICE_WORDS})(?!\w))*")
_SAYS_SOMETHING = re.compile(r"[^\W\d_]|[×*=~≈+]")
#: Space and signs between a word and an amount.
_NEAR_BEFORE = r"[\s:.,(\u00a0-]{0,4}$"
_NEAR_BEHIND = r"[\s,.(*\u00a0-]{0,4}"


def objection_to(before: str, behind: str) -> str:
    """What an amount is rather than the price, by the words around it; empty if they are silent."""
    before, behind = before[-_LEAD:].lower(), behind[:_TAIL].lower()
    if _SAYS_SOMETHING.search(before) and _any("before").search(before):
        return next(meaning for meaning, one in _patterns("before") if one.search(before))
    if _SAYS_SOMETHING.search(behind) and _any("behind").match(behind):
        return next(meaning for meaning, one in _patterns("behind") if one.match(behind))
    return ""


def label_between(text: str) -> str:
    """What a word says that stands alone between two amounts and may belong to either."""
    text = text.lower()
    return next((meaning for meaning, one in _patterns("between") if one.fullmatch(text)), "")


def says_only_price(before: str, behind: str) -> bool:
    """Whether the text around a number says no more than that it is a price."""
    return bool(_ONLY_PRICE.fullmatch(before.lower()) and _ONLY_PRICE.fullmatch(behind.lower()))


@cache
def _any(side: str) -> re.Pattern[str]:
    """All patterns of a side in one: most texts fit none, and this is how to find out fast."""
    shape = _before if side == "before" else _behind
    columns = zip(*((one.before, one.behind, one.either) for one in _TABLE), strict=True)
    before, behind, either = ("|".join(filter(None, column)) for column in columns)
    return re.compile(shape(_Words("", before, behind, either)))


@cache
def _patterns(side: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    shapes = {"before": _before, "behind": _behind, "between": _between}
    return tuple(
        (words.meaning, re.compile(shapes[side](words)))
        for words in _TABLE
        if side != "between" or words.either
    )


def _before(words: _Words) -> str:
    return rf"(?<!\w)(?:{words.before}{'|' if words.either else ''}{words.either}){_NEAR_BEFORE}"


def _behind(words: _Words) -> str:
    only = rf"(?:{words.behind})(?!\w)(?!\s*:)"
    # Words that a colon or a number follows belong to the next amount.
    either = rf"|(?:{words.either})(?!\w)(?!\s*[:\d$€£])" if words.either else ""
    return f"{_NEAR_BEHIND}(?:{only}{either})"


def _between(words: _Words) -> str:
    return rf"{_NEAR_BEHIND}(?:{words.either})[\s.,(-]{{0,4}}"
