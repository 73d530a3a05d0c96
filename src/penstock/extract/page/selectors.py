"""Whether a text is a CSS selector, before any page is there to try it on."""

from selectolax.lexbor import LexborHTMLParser, SelectolaxError


def is_selector(text: str) -> bool:
    """Whether a document can be asked for it."""
    try:
        LexborHTMLParser("").css(text)
    except (SelectolaxError, UnicodeError):
        return False
    return True
