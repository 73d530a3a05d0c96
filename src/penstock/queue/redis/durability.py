"""Whether a Redis server keeps what the queue entrusts to it."""

from collections.abc import Mapping

from penstock.core.errors import PenstockError
from penstock.kernel.redis.server import Server
from penstock.queue.redis.keys import text_of


async def check(server: Server) -> list[str]:
    """What may lose URLs, in words; nothing if all is well."""
    try:
        facts = _facts(await server.ask("INFO"))
    except PenstockError as error:
        return [f"whether Redis keeps the queue cannot be seen: {error}"]
    return [*_persistence(facts, await _fsync(server)), *_eviction(facts)]


async def _fsync(server: Server) -> str:
    """How often Redis makes sure that its file is on the disk; empty if it does not tell."""
    try:
        found = await server.ask("CONFIG", "GET", "appendfsync")
    except PenstockError:
        return ""
    return text_of(found[1]) if found else ""


def _persistence(facts: Mapping[str, str], fsync: str) -> list[str]:
    if facts.get("aof_enabled") != "1":
        return ["Redis does not persist: set `appendonly yes`, or a restart loses the queue"]
    said = []
    if facts.get("aof_last_write_status", "ok") != "ok":
        said.append("Redis cannot write its append-only file: see its log, and its disk")
    if not fsync:
        said.append("how often Redis syncs its file cannot be seen: CONFIG is refused")
    elif fsync != "always":
        said.append(f"`appendfsync {fsync}`: a power cut loses the last moments; `always` does not")
    return said


def _eviction(facts: Mapping[str, str]) -> list[str]:
    said = []
    policy = facts.get("maxmemory_policy", "")
    if policy.startswith("allkeys"):
        said.append(f"`maxmemory-policy {policy}` may evict the queue: use `volatile-ttl`")
    if number := int(facts.get("evicted_keys", "0")):
        said.append(f"Redis evicted {number} keys: its memory does not hold what it is given")
    return said


def _facts(info: bytes) -> dict[str, str]:
    lines = (line.partition(":") for line in text_of(info).splitlines())
    return {name: value for name, colon, value in lines if colon}
