"""Keeps the pool of a process and the table of proxies in step."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from functools import partial

from penstock.core.clock import Clock
from penstock.core.errors import PenstockError
from penstock.core.log import get_logger
from penstock.core.secrets import SecretBox
from penstock.kernel.model import Proxy
from penstock.kernel.proxies import Address, Delta, Known, ProxyPool, read_endpoints
from penstock.kernel.settings import ProxySettings
from penstock.store.proxies import add_deltas, known_proxies, seed_proxies
from penstock.store.store import Store
from penstock.store.unit import Unit

#: Seconds between two looks at what others did.
LOOK_EVERY = 5.0
BEGIN_SECONDS = 5.0
CHANNEL = "proxies"


class ProxyKeeper:
    """Tells the table what this process saw, and the pool what others did.

    While the store is away the pool goes on with what it knows, and nothing is forgotten. Only
    who fetches (`seeds`) brings the proxies of its settings in.
    """

    def __init__(
        self,
        store: Store,
        pool: ProxyPool,
        settings: ProxySettings,
        box: SecretBox,
        clock: Clock,
        *,
        seeds: bool,
    ) -> None:
        self._store = store
        self._pool = pool
        self._max_failures = settings.max_failures_in_a_row
        self._own = read_endpoints(settings)
        self._box = box
        self._clock = clock
        self._has_seeds = seeds
        self._trouble = ""
        self._problems: set[Address] = set()

    async def begin(self) -> None:
        """Exchange for the first time; a store that takes long is not waited for."""
        with suppress(TimeoutError):
            async with asyncio.timeout(BEGIN_SECONDS):
                await self.exchange()

    async def keep(self) -> None:
        """Exchange every few seconds, until cancelled."""
        while True:
            await self._clock.sleep(LOOK_EVERY)
            await self.exchange()

    async def flush(self) -> None:
        """Tell what has not been told yet, unless the store was away the last time."""
        if not self._trouble:
            await self.exchange()

    async def exchange(self) -> bool:
        """Tell and be told once; whether the store was there."""
        deltas = self._pool.take_deltas()
        try:
            self._pool.update(await self._tell(deltas))
        except PenstockError as error:
            self._pool.put_back(deltas)
            if str(error) != self._trouble:
                get_logger().warning("proxies of others unknown; they stay", error=str(error))
            self._trouble = str(error)
            return False
        self._trouble = ""
        self._note_problems()
        return True

    async def _tell(self, deltas: Mapping[Address, Delta]) -> list[Known]:
        if self._has_seeds:
            retired = await self._store.write(self._seed, CHANNEL)
            self._has_seeds = False
            for proxy in retired:
                get_logger().warning("proxy left the settings; it is inactive", proxy=str(proxy))
        if deltas:
            return await self._store.write(partial(self._add, deltas), CHANNEL)
        return await self._store.read(self._look)

    def _seed(self, unit: Unit) -> list[Proxy]:
        return seed_proxies(unit, self._own, self._box)

    def _add(self, deltas: Mapping[Address, Delta], unit: Unit) -> list[Known]:
        add_deltas(unit, deltas, self._clock.monotonic(), self._max_failures)
        return self._look(unit)

    def _look(self, unit: Unit) -> list[Known]:
        return known_proxies(unit, self._box, self._own)

    def _note_problems(self) -> None:
        """Say once of each proxy why it cannot be used."""
        members = {Address.of(member.proxy): member for member in self._pool.members}
        problems = {address for address, member in members.items() if member.problem}
        for address in problems - self._problems:
            member = members[address]
            get_logger().error("proxy unusable", proxy=str(member.proxy), error=member.problem)
        self._problems = problems
