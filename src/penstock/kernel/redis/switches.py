"""Switches in Redis, for processes that share their politeness there and have no store."""

from penstock.kernel.redis.server import Server


class RedisSwitches:
    """The switches as they stand in a hash: domains, and why."""

    def __init__(self, server: Server, prefix: str) -> None:
        self._server = server
        self._key = f"{prefix}switches"

    async def pause(self, domain: str, reason: str) -> None:
        """Stop all contact with a domain; an empty one stands for all."""
        await self._server.ask("HSET", self._key, domain, reason)

    async def resume(self, domain: str) -> bool:
        """Let it go on; False if it was not paused."""
        return bool(await self._server.ask("HDEL", self._key, domain))

    async def paused(self) -> dict[str, str]:
        """What is paused, and why."""
        row = iter(await self._server.ask("HGETALL", self._key))
        return {domain.decode(): reason.decode() for domain, reason in zip(row, row, strict=True)}
