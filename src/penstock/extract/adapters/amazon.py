"""Product pages of Amazon, in every country that writes its prices the usual way."""

import re
from decimal import Decimal

import orjson

from penstock.extract.adapter import Adapter, Findings
from penstock.extract.page.document import Document, Node, text_of
from penstock.extract.page.structured import fold
from penstock.extract.product.reading import conclude
from penstock.extract.values.price import Price, read_price
from penstock.extract.values.price_hints import PriceHints
from penstock.extract.values.stock import is_buy_label, read_stock
from penstock.kernel.records import Availability, Extraction, ExtractReason

#: Amazon's sites and the currency each sells in; pages of the first five were looked at.
CURRENCIES = {
    "amazon.com": "USD",
    "amazon.co.uk": "GBP",
    "amazon.de": "EUR",
    "amazon.fr": "EUR",
    "amazon.it": "EUR",
    "amazon.es": "EUR",
    "amazon.nl": "EUR",
    "amazon.ca": "CAD",
    "amazon.com.au": "AUD",
    "amazon.co.jp": "JPY",
    "amazon.in": "INR",
    "amazon.com.br": "BRL",
    "amazon.com.mx": "MXN",
    "amazon.se": "SEK",
    "amazon.pl": "PLN",
}
TITLES = "#productTitle, #title, h1 [data-feature-name=title], #dmusicProductTitle_feature_div h1"
#: Where the price to pay stands, the most certain place first.
PRICES = (
    "#corePrice_feature_div .a-price:not(.a-text-price) .a-offscreen",
    "#corePriceDisplay_desktop_feature_div .priceToPay .a-offscreen",
    # Where the text for screen readers is blank, the price stands in parts.
    "#corePrice_feature_div .a-price:not(.a-text-price) [aria-hidden=true]",
    "#corePriceDisplay_desktop_feature_div .priceToPay [aria-hidden=true]",
    "#priceblock_dealprice",
    "#priceblock_saleprice",
    "#priceblock_ourprice",
    "#price_inside_buybox",
    "#newBuyBoxPrice",
    "#kindle-price",
    ".swatchElement.selected .a-color-price",
    ".swatchElement.selected .a-color-secondary",
    "#buyNewSection .offer-price",
    "[id^=dmusic] .a-button-text .a-text-bold",
)
#: The lowest and the highest price of what can be chosen from.
RANGE = "[id^=corePrice] .a-price-range .a-offscreen"
LIST_PRICES = ".priceBlockStrikePriceString, .basisPrice .a-offscreen, .a-text-price .a-offscreen"
STOCK = "#availability, #availabilityInsideBuyBox_feature_div, #outOfStock"
BUY = "#add-to-cart-button, #buy-now-button, [id^=dmusic] .a-button-text, [id*=one-click] input"
OTHER_SELLERS = "#buybox-see-all-buying-choices, #buybox-see-all-buying-choices-announce"

_ASIN = re.compile(r"/(?:dp|gp/product|gp/aw/d|product|d)/([A-Z0-9]{10})(?=[/?]|$)")
_DIGITS = re.compile(r"\d[\d.,\s\u00a0\u202f]*")
_RATING = re.compile(r"(\d[.,]\d)")
_BUY_ALBUM = re.compile(r"(?:Buy|Kaufen|Acheter|Acquista|Comprar)\b")
_BRAND = re.compile(
    r"^(?:Visit the|Besuchen Sie den|Visiter la boutique|Visita lo Store di|Visita la tienda de"
    r"|Brand|Marke|Marque|Marca|Merk|Märke|Marka)\s*:?\s*(.+?)(?:[ -]Store)?$"
)


def extract(document: Document) -> Extraction:
    """The product of an Amazon page."""
    found = Findings()
    found.add("url", document.url, "the page's URL")
    found.add("name", document.first_text(TITLES), "#productTitle")
    _find_codes(found, document)
    _find_price(found, document)
    _find_availability(found, document)
    _describe(found, document)
    if not found.get("name") and document.first("form[action*=validateCaptcha]"):
        return found.failed("product", ExtractReason.BLOCKED_PAGE, "a captcha")
    return conclude(found)


def _find_codes(found: Findings, document: Document) -> None:
    asin = document.attribute("input#ASIN, input[name=ASIN]", "value")
    match = _ASIN.search(document.location.target)
    for value, source in ((asin, "input#ASIN"), (match[1] if match else "", "URL")):
        found.add("sku", value, source)
        found.add("product_id", value, source)


def _find_price(found: Findings, document: Document) -> None:
    hints = PriceHints(CURRENCIES.get(document.location.domain))
    if ends := [text for node in document.css(RANGE) if (text := text_of(node))]:
        found.add("rival_prices", tuple(dict.fromkeys(ends)), RANGE)
        return
    for selector in PRICES:
        for node in document.css(selector):
            shown = fold(node.text())
            price = read_price(shown, hints)
            if isinstance(price, Price) and price.minor:
                found.add("price_minor", price.minor, selector, shown)
                found.add("currency", price.currency, selector)
                _find_list_price(found, document, hints)
                return


def _find_list_price(found: Findings, document: Document, hints: PriceHints) -> None:
    price = read_price(document.first_text(LIST_PRICES), hints)
    if isinstance(price, Price) and (price.minor or 0) > found.get("price_minor"):
        found.add("list_price_minor", price.minor, "struck price")


def _find_availability(found: Findings, document: Document) -> None:
    for node in document.css(STOCK):
        line = text_of(node)
        read = read_stock(line)
        if read is not Availability.UNKNOWN:
            found.add("availability", read, "#availability", line)
            return
    for node in document.css(BUY):
        label = text_of(node) or node.attributes.get("value") or ""
        if is_buy_label(label) or _BUY_ALBUM.match(label):
            found.add("availability", Availability.IN_STOCK, "buy button", label)
            return
    if sellers := document.first_text(OTHER_SELLERS):
        found.add("availability", Availability.IN_STOCK, "other sellers' offers", sellers)


def _describe(found: Findings, document: Document) -> None:
    byline = document.first_text("#bylineInfo, #brand")
    match = _BRAND.match(byline)
    found.add("brand", match[1] if match else byline, "#bylineInfo", byline)
    trail = document.css("#wayfinding-breadcrumbs_feature_div a")
    found.add("category", text_of(trail[-1]) if trail else "", "breadcrumbs")
    bullets = document.css("#feature-bullets li")
    found.add("description", document.first_text("#productDescription"), "#productDescription")
    found.add("description", " ".join(map(text_of, bullets)), "#feature-bullets")
    image = document.first("#landingImage, #imgBlkFront")
    found.add("image_urls", tuple(_images(image)), "main image")
    _add_rating(found, document)


def _add_rating(found: Findings, document: Document) -> None:
    stars = _RATING.search(document.first_text("#acrPopover"))
    if stars:
        found.add("rating", Decimal(stars[1].replace(",", ".")), "#acrPopover", stars.string)
    count = _DIGITS.search(document.first_text("#acrCustomerReviewText"))
    if count:
        digits = re.sub(r"\D", "", count[0])
        found.add("review_count", int(digits), "#acrCustomerReviewText", count.string)


def _images(image: Node | None) -> list[str]:
    if image is None:
        return []
    attributes = image.attributes
    try:
        sizes = orjson.loads(attributes.get("data-a-dynamic-image") or "{}")
    except orjson.JSONDecodeError:
        sizes = {}
    largest = sorted(sizes, key=lambda url: -sum(sizes[url])) if isinstance(sizes, dict) else []
    shown = [attributes.get("data-old-hires") or "", *largest, attributes.get("src") or ""]
    return list(dict.fromkeys(url for url in shown if url.startswith("http")))


ADAPTER = Adapter(
    id="amazon",
    version="1.0.0",
    gives="product",
    extract=extract,
    domain="amazon.com",
    urls=tuple(f"{site}{path}" for site in CURRENCIES for path in ("/*dp/*", "/*gp/*")),
)
