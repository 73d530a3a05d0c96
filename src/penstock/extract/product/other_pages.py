"""Pages of shops that sell no product of their own: carts, searches, errors, articles."""

import re
from collections.abc import Iterable

from penstock.extract.page.document import Document
from penstock.extract.page.structured import types_of

OTHER_THINGS = re.compile(
    r"Event$|Article$|BlogPosting$|^JobPosting$|^Recipe$|^Course$|^Movie$"
    r"|^CollectionPage$|^SearchResultsPage$|^CheckoutPage$|^AboutPage$|^ContactPage$"
)
#: What the last part of such a page's address is called.
PATHS = frozenset(
    (
        *("cart", "basket", "bag", "checkout", "login", "signin", "account", "search", "wishlist"),
        *(
            "warenkorb",
            "kasse",
            "suche",
            "anmelden",
            "panier",
            "commande",
            "recherche",
            "connexion",
        ),
        *("carrello", "cerca", "carrito", "cesta", "buscar", "carrinho", "winkelwagen"),
        *(
            "kundvagn",
            "varukorg",
            "handlekurv",
            "kurv",
            "ostoskori",
            "koszyk",
            "kosik",
            "korzina",
            "sepet",
        ),
    )
)
_TITLE = re.compile(
    r"(?:error )?404(?: error)?|(?:404 )?(?:page|product|item) (?:not|could not be) found"
    r"|(?:page|product) (?:no longer exists|does not exist|unavailable)|oops!?"
    r"|(?:die )?(?:seite|artikel|produkt) (?:wurde )?nicht gefunden"
    r"|page (?:introuvable|non trouvée)"
    r"|pagina (?:non trovata|niet gevonden)|página no encontrada|página não encontrada"
    r"|sidan (?:hittades inte|kunde inte hittas)|siden (?:ble|blev) ikke funnet|sivua ei löydy"
    r"|nie znaleziono strony|strona nie istnieje|stránka (?:nenalezena|nebyla nalezena)"
    r"|страница не найдена|сторінку не знайдено|sayfa bulunamadı|a keresett oldal nem található"
    r"|ページが見つかりません|页面不存在|找不到頁面|페이지를 찾을 수 없습니다|الصفحة غير موجودة"
    r"|(?:your|my) (?:shopping )?(?:cart|basket|bag|trolley)|shopping (?:cart|bag|basket)|checkout"
    r"|(?:mein |ihr |dein )?warenkorb|(?:mon|votre) panier|(?:il tuo )?carrello"
    r"|(?:mi|tu) (?:carrito|cesta)|carrito de compras?|meu carrinho|(?:mijn )?winkelwagen"
    r"|(?:din )?(?:varukorg|kundvagn|handlekurv|indkøbskurv)|(?:twój )?koszyk|корзина|購物車|购物车"
    r"|log ?in|sign in|anmelden|connexion|accedi|iniciar sesión|inloggen|logga in|вход"
    r"|search(?: results?)?(?: for .+)?|suchergebnisse?(?: für .+)?|résultats de recherche.*"
    r"|about us|über uns|contact(?: us)?|kontakt|just a moment(?:\.\.\.)?|access denied",
    re.IGNORECASE,
)
_PARTS = re.compile(r"\s+[-|\u2013\u2014:·•]\s+|\s*[|｜]\s*")


def is_no_product(document: Document, titles: tuple[str, ...]) -> bool:
    """Whether a page of these titles, and no product in its data, is about something else."""
    path = document.location.target.partition("?")[0].strip("/")
    if not path or path.rpartition("/")[2].partition(".")[0].lower() in PATHS:
        return True
    types = (name for item in document.json_ld for name in types_of(item))
    if any(map(OTHER_THINGS.search, types)):
        return True
    return any(_TITLE.fullmatch(part) for part in _parts(titles))


def _parts(titles: Iterable[str]) -> list[str]:
    """The first parts of titles, the shop's name left out."""
    return [_PARTS.split(title, maxsplit=1)[0].strip(" .!\u2026") for title in titles]
