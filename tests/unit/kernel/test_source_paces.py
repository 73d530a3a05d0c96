"""What the store says of a source's pace: below a domain's policy, above the workload's default."""

from pathlib import Path

from penstock.kernel.policy import PolicyBook, PolicyEntry

PLATFORM = PolicyEntry(
    tokens_per_interval=1, interval_seconds=2, request_delay_ms=2000, max_concurrent=1
)
MONITOR = PolicyEntry(tokens_per_interval=1, interval_seconds=2, request_delay_ms=2000)
SOURCE = PolicyEntry(tokens_per_interval=4, interval_seconds=1, request_delay_ms=250)


def book(tmp_path: Path) -> PolicyBook:
    file = tmp_path / "policies.yaml"
    file.write_text("domains:\n  strict.test:\n    tokens_per_interval: 1\n")
    return PolicyBook(PLATFORM, [file], {"monitor": MONITOR})


def test_a_source_says_more_than_the_workload(tmp_path: Path) -> None:
    policies = book(tmp_path)
    assert policies.look_up("www.shop.test", "monitor").pace.delay == 2.0
    policies.learn_sources({"shop.test": SOURCE})
    policy = policies.look_up("www.shop.test", "monitor")
    assert (policy.pace.rates[0], policy.pace.delay) == ((4, 1.0), 0.25)
    assert policy.said_by["request_delay_ms"] == "source of shop.test"
    assert policies.look_up("other.test", "monitor").pace.delay == 2.0


def test_a_domains_policy_says_more_than_the_source(tmp_path: Path) -> None:
    policies = book(tmp_path)
    policies.learn_sources({"strict.test": SOURCE})
    assert policies.look_up("strict.test", "monitor").pace.rates[0] == (1, 1.0)


def test_what_a_source_no_longer_says_is_forgotten(tmp_path: Path) -> None:
    policies = book(tmp_path)
    policies.learn_sources({"shop.test": SOURCE})
    policies.learn_sources({})
    assert policies.look_up("shop.test", "monitor").pace.delay == 2.0
