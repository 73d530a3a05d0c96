"""The breaker in Redis: the state machine of `kernel.breaker`, one for all processes."""

from penstock.kernel.breaker import PROBE_PATIENCE
from penstock.kernel.model import Pass
from penstock.kernel.redis.server import Server, load_script, microseconds
from penstock.kernel.settings import BreakerSettings

#: A circuit that nobody reported to for so long is forgotten.
KEPT_SECONDS = 86_400.0


class RedisBreaker:
    """Circuits under `breaker:{rules}:{domain}`; a domain without trouble has none."""

    def __init__(self, server: Server, settings: BreakerSettings) -> None:
        self._server = server
        self._rules = settings.rules
        waits = {
            "PROBE": microseconds(settings.probe_seconds),
            "PATIENCE": microseconds(PROBE_PATIENCE),
            "KEPT": microseconds(KEPT_SECONDS),
        }
        self._look = load_script("circuit", "look", **waits)
        self._enter = load_script("circuit", "enter", **waits)
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
        wait: int = await self._server.run(self._look, (self._key(domain),))
        return wait / 1e6 or None

    async def enter(self, domain: str) -> Pass | float:
        reply: list[int] = await self._server.run(self._enter, (self._key(domain),))
        if len(reply) == 1:
            return reply[0] / 1e6
        _, epoch, probe = reply
        return Pass(domain, epoch, probe=bool(probe))

    async def report(self, leave: Pass, *, well: bool | None) -> None:
        word = "" if well is None else str(int(well))
        result = (leave.epoch, int(leave.probe), word)
        await self._server.run(self._report, (self._key(leave.key),), *result)

    def _key(self, domain: str) -> str:
        return f"breaker:{self._rules}:{domain}"
