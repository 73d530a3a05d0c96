"""The breaker in Redis: the state machine of `kernel.breaker`, one for all processes."""

from collections.abc import Sequence

from penstock.core.clock import Clock
from penstock.kernel.breaker import PROBE_PATIENCE
from penstock.kernel.model import Pass
from penstock.kernel.ports import CircuitState, Turned
from penstock.kernel.redis.server import Server, load_script, microseconds
from penstock.kernel.settings import BreakerSettings

#: A circuit that nobody reported to for so long is forgotten.
KEPT_SECONDS = 86_400.0
MOST_TROUBLED = 1000
#: What a domain was a moment ago it is taken for, for so many seconds; of so many domains.
FRESH_SECONDS, MOST_CLEAN = 1.0, 100_000


class RedisBreaker:
    """Circuits under `breaker:{rules}:{domain}`; a domain without trouble has none."""

    def __init__(self, server: Server, settings: BreakerSettings, clock: Clock) -> None:
        self._server = server
        self._clock = clock
        # Domains without trouble, and until when that is believed without a look.
        self._clean: dict[str, float] = {}
        self._rules = settings.rules
        waits = {
            "PROBE": microseconds(settings.probe_seconds),
            "PATIENCE": microseconds(PROBE_PATIENCE),
            "KEPT": microseconds(KEPT_SECONDS),
        }
        self._look = load_script("circuit", "look", **waits)
        self._enter = load_script("circuit", "enter", **waits)
        self._troubled_domains = load_script("troubled_domains", MOST=MOST_TROUBLED)
        self._troubled = load_script("troubled")
        self._report = load_script(
            "circuit",
            "report",
            **waits,
            TRIP=settings.trip,
            WINDOW=settings.window,
            THRESHOLD=settings.threshold,
            COOLDOWN=microseconds(settings.cooldown_seconds),
            MAX_COOLDOWN=microseconds(settings.max_cooldown_seconds),
            COOLDOWN_FACTOR=settings.cooldown_factor,
            PROBES_TO_CLOSE=settings.probes_to_close,
        )

    async def look(self, domain: str) -> float | None:
        """Who was let in a moment ago need not ask: entering decides anyway."""
        until = self._clean.get(domain)
        if until is not None and until > self._clock.monotonic():
            return None
        wait: int = await self._server.run(self._look, (self._key(domain),))
        return wait / 1e6 or None

    def circuit(self, domain: str) -> str:
        return self._key(domain)

    async def enter(self, domain: str, *, is_clean: bool = False) -> Pass | float:
        if is_clean:
            self._remember(domain, is_clean=True)
            return Pass(domain, 0, is_clean=True)
        reply: list[int] = await self._server.run(self._enter, (self._key(domain),))
        if len(reply) == 1:
            self._clean.pop(domain, None)
            return reply[0] / 1e6
        _, epoch, probe, is_known = reply
        self._remember(domain, is_clean=not is_known)
        return Pass(domain, epoch, probe=bool(probe), is_clean=not is_known)

    async def report(self, leave: Pass, *, well: bool | None) -> Turned | None:
        if well is not False and leave.is_clean:
            return None
        self._clean.pop(leave.key, None)
        word = "" if well is None else str(int(well))
        result = (leave.epoch, int(leave.probe), word, leave.key)
        keys = (self._key(leave.key), self._troubled_key)
        turned: list[int] = await self._server.run(self._report, keys, *result)
        if not turned:
            return None
        return Turned("open", turned[0] / 1e6) if turned[0] else Turned("closed")

    async def troubled(self) -> Sequence[CircuitState]:
        """At most `MOST_TROUBLED` of them; more are a trouble of our own."""
        found = await self._server.run(self._troubled_domains, (self._troubled_key,))
        domains: list[str] = [domain.decode() for domain in found]
        keys = (self._troubled_key, *map(self._key, domains))
        rows = await self._server.run(self._troubled, keys, *domains)
        return [
            CircuitState(domain.decode(), state.decode(), failures, cooldown / 1e6)
            for domain, state, failures, cooldown in rows
        ]

    def _remember(self, domain: str, *, is_clean: bool) -> None:
        if not is_clean:
            self._clean.pop(domain, None)
            return
        if len(self._clean) >= MOST_CLEAN:
            self._clean.clear()
        self._clean[domain] = self._clock.monotonic() + FRESH_SECONDS

    @property
    def _troubled_key(self) -> str:
        return f"troubled:{self._rules}"

    def _key(self, domain: str) -> str:
        return f"breaker:{self._rules}:{domain}"
