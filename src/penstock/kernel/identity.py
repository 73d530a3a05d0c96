"""Identity: who we say we are.

The default is honest: our product, its version and how to reach its operator. A policy may
ask for a browser-like one that fits the proxy's region; robots are asked as Penstock anyway.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from penstock import __version__
from penstock.kernel.settings import IdentitySettings

ACCEPT: Final = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
ACCEPT_ENCODING: Final = "gzip, deflate, br, zstd"

#: The browser that we look like over HTTP, where there is no Chromium to ask for its version.
CURRENT_MAJOR: Final = 156
WIDTHS, HEIGHTS = (1280, 1920), (720, 1080)


class Platform(NamedTuple):
    """An operating system: in the agent string, in client hints, and to scripts."""

    in_agent: str
    name: str
    version: str
    navigator: str


PLATFORMS: Final = (
    Platform("Windows NT 10.0; Win64; x64", "Windows", "19.0.0", "Win32"),
    Platform("Macintosh; Intel Mac OS X 10_15_7", "macOS", "15.6.0", "MacIntel"),
    Platform("X11; Linux x86_64", "Linux", "", "Linux x86_64"),
)


class City(NamedTuple):
    """Where somebody may be, and which time it is there."""

    time_zone: str
    latitude: float
    longitude: float


class Region(NamedTuple):
    """A country: what is spoken there, and some of its cities."""

    language: str
    cities: tuple[City, ...]


REGIONS: Final = {
    "us": Region(
        "en-US,en;q=0.9",
        (
            City("America/New_York", 40.713, -74.006),
            City("America/Chicago", 41.878, -87.63),
            City("America/Los_Angeles", 34.052, -118.244),
        ),
    ),
    "gb": Region("en-GB,en;q=0.9", (City("Europe/London", 51.507, -0.128),)),
    "de": Region("de-DE,de;q=0.9,en;q=0.5", (City("Europe/Berlin", 52.52, 13.405),)),
    "fr": Region("fr-FR,fr;q=0.9,en;q=0.5", (City("Europe/Paris", 48.857, 2.352),)),
    "es": Region("es-ES,es;q=0.9,en;q=0.5", (City("Europe/Madrid", 40.417, -3.704),)),
    "it": Region("it-IT,it;q=0.9,en;q=0.5", (City("Europe/Rome", 41.903, 12.496),)),
    "nl": Region("nl-NL,nl;q=0.9,en;q=0.5", (City("Europe/Amsterdam", 52.368, 4.904),)),
    "pl": Region("pl-PL,pl;q=0.9,en;q=0.5", (City("Europe/Warsaw", 52.23, 21.012),)),
    "se": Region("sv-SE,sv;q=0.9,en;q=0.5", (City("Europe/Stockholm", 59.329, 18.069),)),
    "br": Region("pt-BR,pt;q=0.9,en;q=0.5", (City("America/Sao_Paulo", -23.551, -46.633),)),
    "jp": Region("ja-JP,ja;q=0.9,en;q=0.5", (City("Asia/Tokyo", 35.677, 139.65),)),
    "in": Region("en-IN,en;q=0.9", (City("Asia/Kolkata", 19.076, 72.878),)),
}
DEFAULT_REGION: Final = "us"


@dataclass(frozen=True, slots=True)
class Persona:
    """A person with a common browser: everything about it fits together."""

    agent: str
    platform: Platform
    width: int
    height: int
    language: str
    city: City

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that are spoken, the best one first."""
        return tuple(part.partition(";")[0] for part in self.language.split(","))

    @property
    def locale(self) -> str:
        """The best of the languages."""
        return self.languages[0]


def agent_of(platform: Platform, major: int) -> str:
    """The agent string of a current Chrome; it tells no more of its version than the first part."""
    return (
        f"Mozilla/5.0 ({platform.in_agent}) AppleWebKit/537.36 (KHTML, like Gecko) "
        f"Chrome/{major}.0.0.0 Safari/537.36"
    )


def agents(major: int = CURRENT_MAJOR) -> tuple[str, ...]:
    """The agent strings that we may use."""
    return tuple(agent_of(platform, major) for platform in PLATFORMS)


BROWSER_AGENTS: Final = agents()


class Identities:
    """Who is asking: as itself, or as somebody with a browser."""

    def __init__(self, settings: IdentitySettings, chance: random.Random) -> None:
        self.product = settings.robots_name
        self._chance = chance
        self._last: Persona | None = None
        self._honest = {
            "User-Agent": agent_string(settings),
            "Accept": ACCEPT,
            "Accept-Encoding": ACCEPT_ENCODING,
        }

    def honest(self) -> Mapping[str, str]:
        """Penstock as itself."""
        return self._honest

    def browser_like(self, region: str | None) -> Mapping[str, str]:
        """The headers of a common browser, speaking the language of the region."""
        return {
            "User-Agent": self._chance.choice(BROWSER_AGENTS),
            "Accept": ACCEPT,
            "Accept-Language": _region(region).language,
            "Accept-Encoding": ACCEPT_ENCODING,
        }

    def persona(self, region: str | None = None, major: int = CURRENT_MAJOR) -> Persona:
        """Somebody with a browser of this version, never the same twice in a row."""
        while (persona := self._draw(_region(region), major)) == self._last:
            pass
        self._last = persona
        return persona

    def _draw(self, region: Region, major: int) -> Persona:
        platform = self._chance.choice(PLATFORMS)
        return Persona(
            agent=agent_of(platform, major),
            platform=platform,
            width=self._chance.randint(*WIDTHS),
            height=self._chance.randint(*HEIGHTS),
            language=region.language,
            city=self._chance.choice(region.cities),
        )


def action_pause(range_ms: tuple[int, int], chance: random.Random) -> float:
    """Seconds to let pass before the next action, as a person would."""
    low, high = range_ms
    return chance.uniform(low, high) / 1000


def agent_string(settings: IdentitySettings) -> str:
    """What the operator says; else our product, its version and a contact for site owners."""
    if settings.agent:
        return settings.agent
    contact = f" (+{settings.contact})" if settings.contact else ""
    return f"{settings.product}/{__version__}{contact}"


def _region(name: str | None) -> Region:
    return REGIONS.get((name or "").lower(), REGIONS[DEFAULT_REGION])
