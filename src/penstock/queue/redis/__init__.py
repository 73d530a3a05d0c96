"""The stream's queue in Redis: lists that any client may push to, and that need no SQL."""

from penstock.queue.redis.durability import check
from penstock.queue.redis.heartbeat import RedisHeartbeat
from penstock.queue.redis.queue import Line, RedisDepth, RedisQueue

__all__ = ["Line", "RedisDepth", "RedisHeartbeat", "RedisQueue", "check"]
