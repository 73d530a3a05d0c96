"""Words around an amount that say it is not the price: what it is instead, in many languages."""

import re
from functools import cache
from typing import NamedTuple


class _Words(NamedTuple):
    """What the amount is, and the words that say so in front of it and behind it."""

    meaning: str
    before: str
    behind: str


_TABLE = (
    _Words(
        "a deduction",
        r"save|you save|saving|savings|sparen|sie sparen|ersparnis|du sparst|économisez|économie"
        r"|remise|risparmi|sconto|ahorra|ahorras|descuento|poupe|desconto|spara|du sparar|spar"
        r"|oszczędzasz|rabat|rabatt|скидка|экономия|выгода|現省|現折|折抵|优惠|discount|off|korting"
        r"|bespaar|ušetříte|sleva|popust|prihranek|coupon|voucher|cashback|bonus|minus",
        r"off|rabatt|de remise|de réduction|di sconto|de descuento|de desconto|taniej|скидк\w*"
        r"|discount|korting|saved|savings|cashback|бонус\w*|points|punkte",
    ),
    _Words(
        "an older or recommended price",
        r"was|were|rrp|msrp|srp|list price|list|retail price|retail|reg\.?|regular price|regular"
        r"|original price|originally|original|before|compare at|compare|uvp|unverb\. preisempf\."
        r"|statt|früher|vorher|bisher|alter preis|au lieu de|prix conseillé|ancien prix|avant"
        r"|prix public|prezzo consigliato|prezzo di listino|listino|prima|invece di|anziché|antes"
        r"|precio anterior|pvpr|pvp recomendado|preço anterior|de r\$|van|adviesprijs|ord\. pris"
        r"|ord|ordinarie pris|tidigare pris|rek\. pris|førpris|før|vejl\. pris|norm\. hinta|norm"
        r"|cena katalogowa|stara cena|najniższa cena|cena regularna|cena przed|původní cena"
        r"|běžná cena|старая цена|цена до|redna cena|prejšnja cena|vana hind|tavahind"
        r"|原價|原价|定價|定价|市價|市价|建議售價|参考価格|定価|通常価格|정가|normal",
        r"rrp|msrp|uvp|statt",
    ),
    _Words(
        "a cost of delivery",
        r"delivery|shipping|postage|p&p|versand|versandkosten|lieferung|lieferbar|zustellung"
        r"|livraison|frais de port|expédition|spedizione|consegna|envío|envio|frete"
        r"|portes|verzending"
        r"|bezorging|frakt|levering|toimitus|dostawa|wysyłka|doprava|doručení|szállítás|livrare"
        r"|доставка|доставки|kargo|dostava|poštnina|tarne|運費|运费|送料|배송비"
        r"|free over|over|above|orders over|ab einem bestellwert von|dès|minimum|threshold|spend",
        r"delivery|shipping|postage|p&p|versand|versandkosten|lieferung|livraison|de frais de port"
        r"|frais de port|spedizione|de envío|de envio|frete|verzendkosten|frakt|fragt|dostawa"
        r"|доставка|kargo|dostava",
    ),
    _Words(
        "an instalment",
        r"\d+ ?[x×*] ?(?:de |di |von |à )?|installments? of|instalments? of|payments? of|rate von"
        r"|raten von|mensualités de|cuotas de|mensualidades de|parcelas de|vezes de|rate da"
        r"|monthly|pro monat|finance from|financing|klarna|afterpay|clearpay|affirm"
        r"|рассрочка|кредит"
        r"|в месяц|rata|raty|od 0% rata",
        r"/ ?mo\b|/ ?month|per month|a month|p/m|pm|/ ?monat|pro monat|im monat|mtl"
        r"|/ ?mois|par mois"
        r"|al mese|/ ?mese|al mes|/ ?mes|por mes|por mês|/mês|per maand|/ ?mån|per månad"
        r"|/ ?mies|miesięcznie|/ ?мес|в месяц|месяц|/ ?kk|x \d+|× ?\d+",
    ),
    _Words(
        "a price per measure",
        r"unit price|price per|grundpreis|preis pro|prix au|prezzo al|precio por|preço por|jfr-pris"
        r"|jmf-pris|cena za|平均每\S?|每\S?平均",
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
        r"excl\.?(?: vat| tax| btw| moms)?|ex\.? ?vat|ex\.? tax|without tax|net|netto|ohne mwst\.?"
        r"|exkl\.? mwst\.?|hors taxes|ht|iva esclusa|sin iva|s/iva|sem iva|bez dph|bez vat|brez ddv"
        r"|exkl\.? moms|ekskl\.? moms|alv 0 ?%|без ндс|km-ta|税抜|税別|tax|vat",
        r"ex\.? ?vat|excl|\+ ?vat|ex\.? tax|before tax|zzgl|netto|exkl|ohne mwst|ht\b|h\.t"
        r"|\+ ?iva|iva esclusa|sin iva|sem iva|bez dph|bez vat|netto|brez ddv|ekskl"
        r"|без ндс|税抜|税別",
    ),
    _Words(
        "a price for several",
        r"\d+ for|any \d+ for|buy \d+|\d+ für|\d+ pour|\d+ per|\d+ por|\d+ za|買\d+\S?",
        r"(?:when you buy|if you buy|for|for any) ?\d",
    ),
    _Words(
        "a starting price",
        r"from|starting at|as low as|starting from|ab|à partir de|a partire da|dès|desde"
        r"|a partir de"
        r"|od|от|vanaf|från|fra|alkaen|alates|nuo|最低[价價]?|低至|起價",
        r"起|から|or more|and up|\+(?= |$)",
    ),
    _Words(
        "a price for some buyers",
        r"member|members|members price|prime|trade price|club|with card|kundenkarte"
        r"|mit karte|loyalty"
        r"|used|new|used from|gebraucht|d'occasion|usato|refurbished|trade-?in|worth|valued at"
        r"|deposit|pfand|kaution",
        r"with card|for members|deposit|pfand",
    ),
)
_LEAD = 40
_TAIL = 28


def objection_to(before: str, behind: str) -> str:
    """What an amount is rather than the price, by the words around it; empty if they are silent."""
    before, behind = before[-_LEAD:].lower(), behind[:_TAIL].lower()
    if before.strip():
        for meaning, pattern in _patterns("before"):
            if pattern.search(before):
                return meaning
    if behind.strip():
        for meaning, pattern in _patterns("behind"):
            if pattern.match(behind):
                return meaning
    return ""


@cache
def _patterns(side: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    shapes = {
        "before": r"(?<![\w])(?:{words})[\s:.,(\u00a0-]{{0,4}}$",
        # Words that a colon or a number follows belong to the next amount.
        "behind": r"[\s,.(*\u00a0-]{{0,4}}(?:{words})(?!\w)(?!\s*[:\d$€£])",
    }
    return tuple(
        (words.meaning, re.compile(shapes[side].format(words=getattr(words, side))))
        for words in _TABLE
    )
