"""Proxies: round robin over the healthy ones, each resting between visits to one domain.

A failure makes a proxy unhealthy until a check passes; more than ten in a row make it
inactive until somebody enables it.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast
from urllib.parse import unquote, urlsplit

from penstock.core.clock import Clock
from penstock.core.errors import SettingsError
from penstock.kernel.model import Proxy, ProxyFailed
from penstock.kernel.settings import ProxySettings

DEFAULT_PORTS = {"http": 8080, "https": 443, "socks5": 1080}
MAX_REMEMBERED_DOMAINS = 10_000

Check = Callable[[Proxy], Awaitable[bool]]


@dataclass(slots=True)
class Member:
    """A proxy of the pool and how it has been doing."""

    proxy: Proxy
    healthy: bool = True
    active: bool = True
    successes: int = 0
    failures: int = 0
    failures_in_a_row: int = 0
    last_used: dict[str, float] = field(default_factory=dict)

    @property
    def usable(self) -> bool:
        """Whether it may be chosen at all."""
        return self.healthy and self.active


class ProxyPool:
    """All proxies of a process."""

    def __init__(self, settings: ProxySettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._next = 0
        self.members = [Member(parse_proxy(text.get_secret_value())) for text in settings.endpoints]

    def look(self, domain: str, region: str | None = None) -> float | None:
        """Seconds until a proxy has rested for the domain; None if one has, or none exists."""
        now = self._clock.monotonic()
        rests = [self._rest(member, domain, now) for member in self._usable(region)]
        shortest = min(rests, default=0.0)
        return shortest if shortest > 0 else None

    def lease(
        self, domain: str, region: str | None = None, avoid: Sequence[Proxy] = ()
    ) -> Proxy | ProxyFailed:
        """The next proxy in turn for the domain; `avoid` are those that failed already."""
        now = self._clock.monotonic()
        rested = [
            member
            for member in self._usable(region)
            if self._rest(member, domain, now) <= 0 and member.proxy not in avoid
        ]
        if not rested:
            where = f" in region {region}" if region else ""
            return ProxyFailed("no_healthy_proxy", f"no healthy proxy{where} is free")
        member = rested[0]
        self._next = self.members.index(member) + 1
        if len(member.last_used) >= MAX_REMEMBERED_DOMAINS:
            self._forget_rested(member, now)
        member.last_used[domain] = now
        return member.proxy

    def succeeded(self, proxy: Proxy) -> None:
        """Count a visit that the proxy carried."""
        if member := self._member(proxy):
            member.successes += 1
            member.failures_in_a_row = 0

    def failed(self, proxy: Proxy) -> None:
        """Count a failure of the proxy itself, and choose it no more until it is checked."""
        if member := self._member(proxy):
            member.failures += 1
            member.failures_in_a_row += 1
            member.healthy = False
            if member.failures_in_a_row > self._settings.max_failures_in_a_row:
                member.active = False

    def enable(self, proxy: Proxy) -> None:
        """Make an inactive proxy eligible again."""
        if member := self._member(proxy):
            member.active = member.healthy = True
            member.failures_in_a_row = 0

    async def check_unhealthy(self, check: Check) -> int:
        """Try every unhealthy proxy once; return how many came back."""
        back = 0
        for member in self.members:
            if member.active and not member.healthy and await check(member.proxy):
                member.healthy = True
                back += 1
        return back

    async def keep_checking(self, check: Check) -> None:
        """Check the unhealthy ones at the configured interval, until cancelled."""
        while True:
            await self._clock.sleep(self._settings.health_check_interval_seconds)
            await self.check_unhealthy(check)

    def _usable(self, region: str | None) -> Iterator[Member]:
        """Usable members, beginning with the one whose turn it is."""
        count = len(self.members)
        wanted = region and region.lower()
        for offset in range(count):
            member = self.members[(self._next + offset) % count]
            if member.usable and (wanted is None or member.proxy.region == wanted):
                yield member

    def _rest(self, member: Member, domain: str, now: float) -> float:
        used = member.last_used.get(domain)
        return 0.0 if used is None else used + self._settings.domain_cooldown_seconds - now

    def _forget_rested(self, member: Member, now: float) -> None:
        resting = now - self._settings.domain_cooldown_seconds
        member.last_used = {
            domain: used for domain, used in member.last_used.items() if used > resting
        }

    def _member(self, proxy: Proxy) -> Member | None:
        return next((member for member in self.members if member.proxy == proxy), None)


def parse_proxy(text: str) -> Proxy:
    """Read `protocol://user:password@host:port#region`."""
    wrong = SettingsError(
        "PENSTOCK_PROXIES__ENDPOINTS: each proxy is http, https or socks5://"
        "[user:password@]host:port[#region]"
    )
    try:
        parts = urlsplit(text.strip())
        port = parts.port
    except ValueError:
        # The cause is not shown: its message may quote the password.
        raise wrong from None
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname or parts.path not in ("", "/"):
        raise wrong
    return Proxy(
        protocol=cast(Literal["http", "https", "socks5"], parts.scheme),
        host=parts.hostname,
        port=port or DEFAULT_PORTS[parts.scheme],
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        region=parts.fragment.lower() or None,
    )
