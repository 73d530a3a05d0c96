"""Every host of the site: its pages, its robots.txt and what it is there to show."""

from dataclasses import dataclass

from tests.site import (
    blocks,
    catalog_items,
    catalog_shops,
    encodings,
    hostile,
    live_ground,
    live_pages,
    redirects,
    robots_files,
    scripted,
    shops,
    slow,
    tags,
    troubles,
)
from tests.site.answers import Plan, Reset
from tests.site.pages import by_path, every_path, not_found


@dataclass(frozen=True, slots=True)
class HostEntry:
    shows: str
    pages: Plan
    robots: str | Plan = robots_files.OPEN


def _shop_entry(shop: shops.Shop, *robots_lines: str) -> HostEntry:
    shows = f"a shop in {shop.language}, prices in {shop.currency}: / and /product/1..20"
    return HostEntry(
        "; ".join([shows, *robots_lines]),
        shops.shop_pages,
        robots_files.shop_robots(shop.host, *robots_lines),
    )


def _catalog_entry(shop: catalog_items.CatalogShop) -> HostEntry:
    shows = f"goods in {shop.markup}, prices in {shop.manner.currency}: / and /product/1..100"
    robots = robots_files.shop_robots(shop.host, *shop.robots)
    return HostEntry("; ".join([shows, *shop.robots]), catalog_shops.catalog_pages, robots)


_ROBOTS_HOSTS = {
    "private.test": HostEntry("robots deny everything", every_path, robots_files.DENY_ALL),
    "partly.test": HostEntry(
        "robots with groups per agent, wildcards and ties", every_path, robots_files.PARTLY
    ),
    "robots-404.test": HostEntry("no robots.txt", every_path, robots_files.MISSING),
    "robots-500.test": HostEntry("robots.txt answers 500", every_path, robots_files.FAILING),
    "robots-html.test": HostEntry(
        "robots.txt is an HTML page", every_path, robots_files.SERVED_AS_HTML
    ),
    "robots-big.test": HostEntry(
        "robots.txt of 700 KiB; /hidden is denied just before 500 KiB",
        every_path,
        robots_files.oversized(),
    ),
    "robots-redirect.test": HostEntry(
        "robots.txt at the end of 5 redirects; /hidden is denied",
        robots_files.redirected_pages,
        robots_files.FIRST_REDIRECT,
    ),
    "robots-loop.test": HostEntry("robots.txt redirects to itself", every_path, robots_files.LOOP),
    "robots-slow.test": HostEntry(
        "robots.txt comes after 2 s; /hidden is denied", every_path, robots_files.slow
    ),
}

_TROUBLED_HOSTS = {
    "ratelimited.test": HostEntry(
        "429 with Retry-After in seconds, twice, then well", troubles.rate_limited
    ),
    "ratelimited-date.test": HostEntry(
        "429 with Retry-After as a date, twice, then well", troubles.rate_limited_by_date
    ),
    "outage.test": HostEntry("503 six times, then well", troubles.outage),
    "flaky.test": HostEntry("500 once, then well", troubles.flaky),
    "down.test": HostEntry("accepts and resets every connection", Reset(), Reset()),
}

_MATCH = "/match/NUMBER and /plain, /socket, /data.json below; ?minutes=20&speed=1"
_LIVE_HOSTS = {
    "live.test": HostEntry(
        f"/score changes with every request; a match that scores by itself: {_MATCH}",
        live_pages.match_pages(troubles.LIVE),
    ),
    **{host: HostEntry(_MATCH, live_pages.match_pages({})) for host in live_pages.LIVE_HOSTS},
    **{
        host: HostEntry(
            f"{', then '.join(kinds)}, every ?after=20 seconds of a match",
            live_pages.match_pages({}),
        )
        for host, kinds in live_ground.TROUBLED_HOSTS.items()
    },
}

_ODD_HOSTS = {
    "moved.test": HostEntry(
        "redirects: /old /relative /to-shop /chain/N /loop /to-private /to-metadata /to-file"
        " /to-ftp /to-javascript /redirect?to=URL /redirect/STATUS?to=URL",
        by_path(redirects.PAGES),
    ),
    "blocked.test": HostEntry(
        "blocks: /captcha /cloudflare /denied /denied?status=403 /shell; and none:"
        " /legit-recaptcha",
        by_path(blocks.BLOCKED),
    ),
    "lazy.test": HostEntry(
        "/product/1..20 filled in by JavaScript from /offer/N", by_path(blocks.LAZY_PAGES)
    ),
    "scripted.test": HostEntry(
        "only for browsers: /product/1..20 /list /never /hangs /meta /by-script?to=URL /many"
        " /heavy /throws; harmful: /ways /inside /grows /dies",
        by_path(scripted.PAGES),
    ),
    "charset.test": HostEntry("charsets: /header /bom /meta /none", by_path(encodings.CHARSETS)),
    "encodings.test": HostEntry(
        "one page as /identity /gzip /deflate /rawdeflate /br /zstd /gzip-gzip /unknown",
        by_path(encodings.CODINGS),
    ),
    "tagged.test": HostEntry(
        "robots tags in /header /agent /meta; none in /untagged", by_path(tags.TAGGED)
    ),
    "cookies.test": HostEntry(
        "sets cookies: / /wide /away; /echo tells what came back", by_path(tags.COOKIES)
    ),
    "slow.test": HostEntry(
        "/headers?seconds=1 /body?seconds=1 /drip?seconds=0.1 /truncated /endless",
        by_path(slow.PAGES),
    ),
    "hostile.test": HostEntry(
        "/bomb/gzip|deflate|br|zstd|nested?bytes=N /encodings/N /headers/flood"
        " /headers/huge?bytes=N /headers/many?count=N /continue /length /chunk /status"
        " /redirect-loop /smuggle",
        by_path(hostile.PAGES),
    ),
}

HOSTS: dict[str, HostEntry] = {
    **{host: _shop_entry(shop) for host, shop in shops.SHOPS.items()},
    "shop03.test": _shop_entry(shops.SHOPS["shop03.test"], "Crawl-delay: 1"),
    **{host: _catalog_entry(shop) for host, shop in catalog_items.SHOPS.items()},
    **_ROBOTS_HOSTS,
    **_TROUBLED_HOSTS,
    **_LIVE_HOSTS,
    **_ODD_HOSTS,
}

DEMO_HOSTS: tuple[str, ...] = (
    *shops.SHOPS,
    "private.test",
    "partly.test",
    "robots-404.test",
    "robots-500.test",
    "robots-redirect.test",
    "ratelimited.test",
    "ratelimited-date.test",
    "outage.test",
    "flaky.test",
    "down.test",
    "moved.test",
    "blocked.test",
    "charset.test",
    "encodings.test",
    "tagged.test",
    "live.test",
)

_UNKNOWN = HostEntry("nothing: only what a test plants", not_found)


def entry_of(host: str) -> HostEntry:
    """The entry of a host or of the nearest host above it: www.shop01.test is shop01.test."""
    labels = host.split(".")
    names = (".".join(labels[start:]) for start in range(len(labels)))
    return next((HOSTS[name] for name in names if name in HOSTS), _UNKNOWN)
