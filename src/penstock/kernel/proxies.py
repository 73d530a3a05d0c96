"""Proxies: the least recently used healthy one, each resting between visits to one domain.

A failure makes a proxy unhealthy until a check passes; more than ten in a row make it
inactive until somebody enables it. What happens here is gathered as deltas for whoever tells
other processes, and what those know is taken over by `update`.
"""

import hashlib
import itertools
import math
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, cast
from urllib.parse import unquote, urlsplit

from penstock.core.clock import Clock
from penstock.core.errors import SettingsError
from penstock.kernel.model import Proxy, ProxyFailed
from penstock.kernel.policy import Pace, Rate
from penstock.kernel.ports import Pacing
from penstock.kernel.settings import ProxySettings

DEFAULT_PORTS = {"http": 8080, "https": 443, "socks5": 1080}
FORM = "each proxy is http, https or socks5://[user:password@]host:port[#region]"
MAX_REMEMBERED_DOMAINS = 10_000
#: The longest rest that a policy can ask for.
LONGEST_REST = 1.0
#: Of one pair of domain and proxy, only starts are limited.
ANY_NUMBER = 1000

Check = Callable[[Proxy], Awaitable[bool]]


class Address(NamedTuple):
    """What makes a proxy the same one, whatever its password and region."""

    protocol: str
    host: str
    port: int
    user: str

    @classmethod
    def of(cls, proxy: Proxy) -> "Address":
        """The address of a proxy."""
        return cls(proxy.protocol, proxy.host, proxy.port, proxy.user)


class Carried(NamedTuple):
    """An answer that came through a proxy: after how long, and how large."""

    seconds: float
    bytes: int


@dataclass(frozen=True, slots=True)
class Delta:
    """What happened to a proxy in this process since others were told; moments are monotonic.

    `in_a_row` counts the failures after the last success, `answers` the answers that were timed
    and `healthy` is what became of its health, if anything did.
    """

    successes: int = 0
    failures: int = 0
    in_a_row: int = 0
    answers: int = 0
    seconds: float = 0.0
    bytes: int = 0
    used: float | None = None
    succeeded: float | None = None
    failed: float | None = None
    healthy: bool | None = None

    def then(self, later: "Delta") -> "Delta":
        """Both, one after the other."""
        return Delta(
            self.successes + later.successes,
            self.failures + later.failures,
            later.after(self.in_a_row),
            self.answers + later.answers,
            self.seconds + later.seconds,
            self.bytes + later.bytes,
            self.used if later.used is None else later.used,
            self.succeeded if later.succeeded is None else later.succeeded,
            self.failed if later.failed is None else later.failed,
            self.healthy if later.healthy is None else later.healthy,
        )

    def after(self, in_a_row: int) -> int:
        """How many failures in a row there are after so many before."""
        return self.in_a_row if self.successes else in_a_row + self.in_a_row


NOTHING = Delta()


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a proxy beyond this process.

    `idle` is how many seconds ago anybody used it; `problem` says why nobody can.
    """

    proxy: Proxy
    active: bool = True
    healthy: bool = True
    failures_in_a_row: int = 0
    idle: float | None = None
    problem: str = ""


@dataclass(slots=True)
class Member:
    """A proxy of the pool and how it has been doing; counts are those of this process."""

    proxy: Proxy
    healthy: bool = True
    active: bool = True
    problem: str = ""
    successes: int = 0
    failures: int = 0
    failures_in_a_row: int = 0
    last_used: dict[str, float] = field(default_factory=dict)
    #: When it was last used at all, and among those used at the same time which came first.
    used: tuple[float, int] = (-math.inf, 0)
    delta: Delta = NOTHING

    @property
    def usable(self) -> bool:
        """Whether it may be chosen at all."""
        return self.healthy and self.active and not self.problem

    def note(self, delta: Delta) -> None:
        """Add what has just happened."""
        self.delta = self.delta.then(delta)
        self.successes += delta.successes
        self.failures += delta.failures
        self.failures_in_a_row = delta.after(self.failures_in_a_row)


class ProxyPool:
    """All proxies of a process; `pacing` is given where others rest the same proxies."""

    def __init__(self, settings: ProxySettings, clock: Clock, pacing: Pacing | None = None) -> None:
        self._settings = settings
        self._clock = clock
        self._pacing = pacing
        self._turns = itertools.count(1)
        self._own = read_endpoints(settings)
        self.members = [Member(proxy) for proxy in self._own.values()]

    def look(
        self,
        domain: str,
        region: str | None = None,
        avoid: Sequence[Proxy] = (),
        rest: float | None = None,
    ) -> float | None:
        """Seconds until a proxy has rested for the domain; None if one has, or none exists."""
        now = self._clock.monotonic()
        rests = [self._rest(member, domain, now, rest) for member in self._usable(region, avoid)]
        shortest = min(rests, default=0.0)
        return shortest if shortest > 0 else None

    def lease(
        self,
        domain: str,
        region: str | None = None,
        avoid: Sequence[Proxy] = (),
        rest: float | None = None,
    ) -> Proxy | ProxyFailed:
        """The least recently used proxy that has rested for the domain.

        `avoid` are those that failed already; `rest` is in seconds, else it is the settings'.
        """
        now = self._clock.monotonic()
        rested = [
            member
            for member in self._usable(region, avoid)
            if self._rest(member, domain, now, rest) <= 0
        ]
        if not rested:
            return ProxyFailed("no_healthy_proxy", f"no healthy proxy{_in(region)} is free")
        member = min(rested, key=lambda each: each.used)
        self._use(member, domain, now)
        return member.proxy

    def lack(self, region: str | None = None) -> str:
        """What is missing where a proxy is wanted; empty if one works, though it may rest."""
        if any(self._usable(region, ())):
            return ""
        if not self.members:
            return "no proxy is configured (PENSTOCK_PROXIES__ENDPOINTS)"
        return f"there is no healthy proxy{_in(region)}"

    def lease_again(self, proxy: Proxy, domain: str, rest: float) -> float | None:
        """Use a leased proxy once more; if it rests, for how many seconds it does."""
        now = self._clock.monotonic()
        if member := self._member(proxy):
            if (seconds := self._rest(member, domain, now, rest)) > 0:
                return seconds
            self._use(member, domain, now)
        return None

    def rest_of(self, proxy: Proxy, domain: str, rest: float) -> float | None:
        """For how many seconds a proxy rests for a domain; None if it does not."""
        member = self._member(proxy)
        seconds = self._rest(member, domain, self._clock.monotonic(), rest) if member else 0.0
        return seconds if seconds > 0 else None

    async def is_rested(self, proxy: Proxy, domain: str, rest: float) -> bool:
        """Whether a leased proxy has rested in all processes; if not, it goes on resting here."""
        if self._pacing is None:
            return True
        pace = Pace((Rate(1, rest),), delay=0.0, concurrency=ANY_NUMBER)
        ticket = await self._pacing.reserve(_ledger(domain, proxy), pace)
        await self._pacing.release(ticket)
        if not ticket.granted and (member := self._member(proxy)):
            member.last_used[domain] = ticket.at - rest
        return ticket.granted

    def succeeded(self, proxy: Proxy, carried: Carried | None = None) -> None:
        """Count a visit that the proxy carried, and the answer, if there was one."""
        if member := self._member(proxy):
            delta = Delta(successes=1, succeeded=self._clock.monotonic())
            if carried:
                delta = replace(delta, answers=1, seconds=carried.seconds, bytes=carried.bytes)
            member.note(delta)

    def failed(self, proxy: Proxy) -> None:
        """Count a failure of the proxy itself, and choose it no more until it is checked."""
        if member := self._member(proxy):
            moment = self._clock.monotonic()
            member.note(Delta(failures=1, in_a_row=1, failed=moment, healthy=False))
            member.healthy = False
            self._give_up(member)

    def enable(self, proxy: Proxy) -> None:
        """Make an inactive proxy eligible again."""
        if member := self._member(proxy):
            member.active = member.healthy = True
            member.failures_in_a_row = 0

    def take_deltas(self) -> dict[Address, Delta]:
        """What happened since it was last taken; whoever cannot tell others puts it back."""
        deltas = {
            Address.of(member.proxy): member.delta
            for member in self.members
            if member.delta != NOTHING
        }
        for member in self.members:
            member.delta = NOTHING
        return deltas

    def put_back(self, deltas: dict[Address, Delta]) -> None:
        """Keep what could not be told, before what has happened since."""
        for member in self.members:
            if delta := deltas.get(Address.of(member.proxy)):
                member.delta = delta.then(member.delta)

    def update(self, known: Iterable[Known]) -> None:
        """Take over what is known of all proxies, but for what has happened here since.

        Those of the settings stay, known or not.
        """
        members = {Address.of(member.proxy): member for member in self.members}
        news = {Address.of(each.proxy): each for each in known}
        for address, each in news.items():
            self._learn(members.setdefault(address, Member(each.proxy)), each)
        # The same list: others look at it.
        self.members[:] = [
            member for address, member in members.items() if address in news or address in self._own
        ]

    def _learn(self, member: Member, known: Known) -> None:
        member.proxy, member.problem = known.proxy, known.problem
        member.active = known.active
        member.healthy = known.healthy if member.delta.healthy is None else member.healthy
        member.failures_in_a_row = member.delta.after(known.failures_in_a_row)
        if known.idle is not None:
            used = (self._clock.monotonic() - known.idle, 0)
            member.used = max(member.used, used)
        if member.delta.failures:
            self._give_up(member)

    def _give_up(self, member: Member) -> None:
        if member.failures_in_a_row > self._settings.max_failures_in_a_row:
            member.active = False

    async def check_unhealthy(self, check: Check) -> int:
        """Try every unhealthy proxy once; return how many came back."""
        back = 0
        for member in list(self.members):
            if member.active and not member.healthy and await check(member.proxy):
                member.healthy = True
                member.note(Delta(healthy=True))
                back += 1
        return back

    async def keep_checking(self, check: Check) -> None:
        """Check the unhealthy ones at the configured interval, until cancelled."""
        while True:
            await self._clock.sleep(self._settings.health_check_interval_seconds)
            await self.check_unhealthy(check)

    def _usable(self, region: str | None, avoid: Sequence[Proxy]) -> Iterator[Member]:
        wanted = region and region.lower()
        for member in self.members:
            fits = wanted is None or member.proxy.region == wanted
            if member.usable and fits and member.proxy not in avoid:
                yield member

    def _use(self, member: Member, domain: str, now: float) -> None:
        if len(member.last_used) >= MAX_REMEMBERED_DOMAINS:
            self._forget_rested(member, now)
        member.last_used[domain] = now
        member.used = (now, next(self._turns))
        member.delta = replace(member.delta, used=now)

    def _rest(self, member: Member, domain: str, now: float, rest: float | None) -> float:
        used = member.last_used.get(domain)
        seconds = self._settings.domain_cooldown_seconds if rest is None else rest
        return 0.0 if used is None else used + seconds - now

    def _forget_rested(self, member: Member, now: float) -> None:
        resting = now - max(self._settings.domain_cooldown_seconds, LONGEST_REST)
        member.last_used = {
            domain: used for domain, used in member.last_used.items() if used > resting
        }

    def _member(self, proxy: Proxy) -> Member | None:
        address = Address.of(proxy)
        return next(
            (member for member in self.members if Address.of(member.proxy) == address), None
        )


def read_endpoints(settings: ProxySettings) -> dict[Address, Proxy]:
    """The proxies of the settings; one may stand there twice, but not in two ways."""
    found: dict[Address, Proxy] = {}
    for text in settings.endpoints:
        proxy = parse_proxy(text.get_secret_value())
        if found.setdefault(Address.of(proxy), proxy) != proxy:
            raise SettingsError(
                f"PENSTOCK_PROXIES__ENDPOINTS: {proxy} stands there twice, with another password "
                "or region"
            )
    return found


def parse_proxy(text: str) -> Proxy:
    """Read an endpoint of the settings."""
    proxy = read_proxy(text)
    if proxy is None:
        raise SettingsError(f"PENSTOCK_PROXIES__ENDPOINTS: {FORM}")
    return proxy


def read_proxy(text: str) -> Proxy | None:
    """Read `protocol://user:password@host:port#region`; None if it is something else."""
    try:
        parts = urlsplit(text.strip())
        port = parts.port
    except ValueError:
        # The cause is not shown: its message may quote the password.
        return None
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname or parts.path not in ("", "/"):
        return None
    user = unquote(parts.username or "")
    if not (user + parts.hostname).isprintable():
        return None
    return Proxy(
        protocol=cast(Literal["http", "https", "socks5"], parts.scheme),
        host=parts.hostname,
        port=port or DEFAULT_PORTS[parts.scheme],
        user=user,
        password=unquote(parts.password or ""),
        region=parts.fragment.lower() or None,
    )


def _ledger(domain: str, proxy: Proxy) -> str:
    """The ledger of a domain and a proxy; who logs in there is nobody's business."""
    digest = hashlib.sha256("\n".join(map(str, Address.of(proxy))).encode()).hexdigest()
    return f"proxy:{domain}:{digest[:16]}"


def _in(region: str | None) -> str:
    return f" in region {region}" if region else ""
