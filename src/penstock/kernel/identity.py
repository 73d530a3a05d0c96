"""Identity: who we say we are.

The default is honest: our product, its version and how to reach its operator. A policy may
ask for a browser-like one that fits the proxy's region; robots are asked as Penstock anyway.
"""

import random
from collections.abc import Mapping
from typing import Final

from penstock import __version__
from penstock.kernel.settings import IdentitySettings

ACCEPT: Final = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
ACCEPT_ENCODING: Final = "gzip, deflate, br, zstd"

BROWSER_AGENTS: Final = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/142.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/142.0.0.0 Safari/537.36",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/142.0.0.0 Safari/537.36",
)
LANGUAGES: Final = {
    "us": "en-US,en;q=0.9",
    "gb": "en-GB,en;q=0.9",
    "de": "de-DE,de;q=0.9,en;q=0.5",
    "fr": "fr-FR,fr;q=0.9,en;q=0.5",
    "es": "es-ES,es;q=0.9,en;q=0.5",
    "it": "it-IT,it;q=0.9,en;q=0.5",
    "nl": "nl-NL,nl;q=0.9,en;q=0.5",
    "pl": "pl-PL,pl;q=0.9,en;q=0.5",
    "se": "sv-SE,sv;q=0.9,en;q=0.5",
    "br": "pt-BR,pt;q=0.9,en;q=0.5",
    "jp": "ja-JP,ja;q=0.9,en;q=0.5",
    "in": "en-IN,en;q=0.9",
}
DEFAULT_LANGUAGE: Final = "en-US,en;q=0.9"


class Identities:
    """The headers that say who is asking."""

    def __init__(self, settings: IdentitySettings, chance: random.Random) -> None:
        self.product = settings.product
        self._chance = chance
        self._honest = {
            "User-Agent": agent_string(settings),
            "Accept": ACCEPT,
            "Accept-Encoding": ACCEPT_ENCODING,
        }

    def honest(self) -> Mapping[str, str]:
        """Penstock as itself."""
        return self._honest

    def browser_like(self, region: str | None) -> Mapping[str, str]:
        """A common browser, speaking the language of the region."""
        return {
            "User-Agent": self._chance.choice(BROWSER_AGENTS),
            "Accept": ACCEPT,
            "Accept-Language": LANGUAGES.get((region or "").lower(), DEFAULT_LANGUAGE),
            "Accept-Encoding": ACCEPT_ENCODING,
        }


def agent_string(settings: IdentitySettings) -> str:
    """Our product, its version and, if the operator gave one, a contact for site owners."""
    contact = f" (+{settings.contact})" if settings.contact else ""
    return f"{settings.product}/{__version__}{contact}"
