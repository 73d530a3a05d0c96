"""What there is to know of a language: its phrases, by what they say of stock and of buying."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StockWords:
    """The phrases of a language, parted by `|`; `#` stands for a number.

    They are compared without case, accents and hyphens.
    """

    #: Said of nothing but the product's own stock.
    in_stock: str
    out_of_stock: str
    backorder: str
    #: Said of other things too: they count alone, or after a negation.
    available: str
    #: Negations in one word, of a product or of anything else.
    unavailable: str = ""
    #: Alone they say that it is gone; with more words they say by whom or how it was sold.
    gone: str = ""
    negations: str
    #: Questions, promises and offers to tell: no evidence that it is there now.
    pending: str
    #: Labels of filters, and "almost": nothing can be read from a text with one of them.
    idle: str = ""
    #: What may be unavailable while the product is not.
    asides: str = ""
    #: May stand beside a bare word without changing what it says.
    fillers: str = ""
    #: What pieces are called.
    units: str = ""
    #: With a number, and nothing else, they say how many are there.
    counted: str = ""
    #: WooCommerce and others add it to what is in stock.
    backable: str = ""
    #: Labels of buttons that offer to buy.
    buy: str
    #: Offers only when nothing but a price or a filler stands beside them.
    buy_alone: str
    #: A label with one of them offers something else.
    not_buying: str = ""
    #: May stand beside `buy_alone`.
    buy_fillers: str = ""
    #: Labels with which an ad lets a buyer speak to the seller: there is no basket to put it in.
    contact: str = ""
