"""Pacing, breaker and robots in Redis, for several processes that share their politeness."""

from penstock.kernel.redis.breaker import RedisBreaker
from penstock.kernel.redis.pacing import RedisPacing
from penstock.kernel.redis.presence import Presence
from penstock.kernel.redis.robots import RedisRobotsCache
from penstock.kernel.redis.server import Server, Usage, connect, open_server
from penstock.kernel.redis.switches import RedisSwitches

__all__ = [
    "Presence",
    "RedisBreaker",
    "RedisPacing",
    "RedisRobotsCache",
    "RedisSwitches",
    "Server",
    "Usage",
    "connect",
    "open_server",
]
