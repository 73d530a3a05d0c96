"""What all that use a browser read from a page that a script has filled; the same for all."""

import json
import re
from html import unescape

#: The page is complete when this is there.
PRICE_SHOWN = "p.price"
_DESCRIPTION = re.compile(r'<script type="application/ld\+json">(.*?)</script>', re.S)
_TITLE = re.compile(r"<title>([^<]*)</title>")


def read_shown(html: str) -> dict[str, str] | None:
    """Title and price; None if the script has not done its work."""
    description, title = _DESCRIPTION.search(html), _TITLE.search(html)
    if not description or not title:
        return None
    price = json.loads(description[1])["offers"]["price"]
    return {"title": unescape(title[1]), "price": price}
