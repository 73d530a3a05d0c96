"""A policy in words: every question, its answer and who gave it."""

from typing import Any

from penstock.kernel.policy import DomainPolicy

#: What the words for who answered mean, where they do not stand for an entry of a file.
MEANINGS = {
    "built in": "Penstock's own answer; nobody said anything",
    "platform": "Penstock's own pace; PENSTOCK_PACING__… changes it",
    "settings": "somebody set PENSTOCK_PACING__…",
}


def answers_of(policy: DomainPolicy) -> list[tuple[str, Any, str]]:
    """Every question with its answer and who gave it; numbers as policy files have them."""
    rate = policy.pace.rates[0]
    values: dict[str, Any] = {
        "tokens_per_interval": rate.limit,
        "interval_seconds": rate.window,
        "request_delay_ms": round(policy.pace.delay * 1000),
        "max_concurrent": policy.pace.concurrency,
        "min_delay_ms": policy.action_delay_ms[0],
        "max_delay_ms": policy.action_delay_ms[1],
        "allowed_hours": policy.hours and policy.hours.model_dump(),
        "respect_robots_txt": policy.respect_robots,
        "robots": {"obey_star": policy.obey_star, "on_unreachable": policy.robots_unreachable},
        "fetcher": policy.fetcher,
        "block_resources": policy.block_resources,
        "proxy": policy.proxy.model_dump(),
        "identity": policy.identity,
        "headers": dict(policy.headers),
        "blocks_count": policy.blocks_count,
        "ledger": policy.ledger,
    }
    return [(name, value, policy.said_by.get(name, "built in")) for name, value in values.items()]


def in_words(value: Any) -> str:
    """A value of a policy for people."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {in_words(item)}" for key, item in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(in_words, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "any" if value is None else str(value)
