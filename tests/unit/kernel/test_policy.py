"""Domain policies: who says what for a domain, and what is wrong with a file."""

import os
from pathlib import Path

import pytest

from penstock.core.errors import PolicyError
from penstock.kernel.policy import (
    SHIPPED_FILE,
    AllowedHours,
    DomainPolicy,
    Pace,
    PolicyBook,
    PolicyEntry,
    ProxyChoice,
    Rate,
    dump,
    load,
)
from penstock.kernel.settings import PacingSettings

PLATFORM = PolicyEntry(
    tokens_per_interval=5, interval_seconds=10, request_delay_ms=2000, max_concurrent=1
)
PACE = Pace((Rate(2, 10.0),), delay=1.0, concurrency=4)


class PolicyFile:
    """A policy file that tests write; every write has a later time than the one before."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writes = 0

    def write(self, text: str) -> Path:
        self._writes += 1
        self.path.write_text(text, encoding="utf-8")
        os.utime(self.path, (self._writes, self._writes))
        return self.path

    def domains(self, **domains: str) -> Path:
        """Write domains (`__` for a dot), each with its keys in one line."""
        lines = [f"  {name.replace('__', '.')}: {{{keys}}}" for name, keys in domains.items()]
        return self.write("\n".join(["domains:", *lines]))

    def look_up(self, host: str, workload: str = "", **workloads: PolicyEntry) -> DomainPolicy:
        return PolicyBook(PLATFORM, [self.path], workloads).look_up(host, workload)


@pytest.fixture
def file(tmp_path: Path) -> PolicyFile:
    return PolicyFile(tmp_path / "policies.yaml")


@pytest.mark.parametrize(
    ("keys", "key", "problem"),
    [
        ("tokens_per_intervall: 2", "tokens_per_intervall", "'tokens_per_interval'?"),
        ("colour: red", "colour", "unknown key"),
        ("tokens_per_interval: many", "tokens_per_interval", "valid integer"),
        ("tokens_per_interval: 0", "tokens_per_interval", "greater than or equal to 1"),
        ("interval_seconds: .nan", "interval_seconds", "should be"),
        ("interval_seconds: .inf", "interval_seconds", "less than or equal to 86400"),
        ("respect_robots_txt: perhaps", "respect_robots_txt", "valid boolean"),
        ("allowed_hours: {start: 25, end: 3}", "allowed_hours.start", "less than or equal"),
        ("allowed_hours: {start: 3}", "allowed_hours.end", "required"),
        ("allowed_hours: {start: 3, end: 3}", "allowed_hours", "would be empty"),
        ("allowed_hours: {start: 3, end: 4, strat: 3}", "allowed_hours.strat", "'start'?"),
        ("robots: {on_unreachble: allow}", "robots.on_unreachble", "'on_unreachable'?"),
        ("fetcher: carrier-pigeon", "fetcher", "'http', 'browser' or 'auto'"),
        ("group: 'Not A Name'", "group", "should match pattern"),
        ("min_delay_ms: 3, max_delay_ms: 2", "", "greater than max_delay_ms"),
    ],
)
def test_wrong_key_is_named(file: PolicyFile, keys: str, key: str, problem: str) -> None:
    file.domains(shop__test=keys)

    with pytest.raises(PolicyError) as error:
        load(file.path)

    assert (error.value.source, error.value.domain) == (str(file.path), "shop.test")
    where = ": ".join(part for part in (str(file.path), "shop.test", key) if part)
    assert str(error.value).startswith(f"{where}: ")
    assert problem in str(error.value)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("'no domain'", "not a bare domain name"),
        ("http://shop.test", "not a bare domain name"),
        ("shop.test/path", "not a bare domain name"),
        ("shop.test:8080", "not a bare domain name"),
        ("jo@shop.test", "not a bare domain name"),
    ],
)
def test_what_is_no_domain_is_named(file: PolicyFile, name: str, problem: str) -> None:
    file.write(f"domains:\n  {name}: {{}}")

    with pytest.raises(PolicyError, match=problem) as error:
        load(file.path)

    assert error.value.domain == name.strip("'")


@pytest.mark.parametrize("body", ["[1, 2]", "7", "false", "''", "text"])
def test_policy_that_is_no_mapping_is_named(file: PolicyFile, body: str) -> None:
    file.write(f"domains:\n  shop.test: {body}")

    with pytest.raises(PolicyError, match=r"shop\.test: .*valid dictionary"):
        load(file.path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("domains: {", "is not YAML"),
        ("domains: !!python/object:os.system {}", "is not YAML"),
        ("", "one top-level key, 'domains'"),
        ("- shop.test", "one top-level key, 'domains'"),
        ("domain: {}", "one top-level key, 'domains'"),
        ("domains: {}\ndefault: {}", "one top-level key, 'domains'"),
        ("domains: [shop.test]", "must map domain names to policies"),
    ],
)
def test_what_is_no_policy_file_is_named(file: PolicyFile, text: str, problem: str) -> None:
    file.write(text)

    with pytest.raises(PolicyError, match=problem) as error:
        load(file.path)

    assert str(error.value).startswith(f"{file.path}: ")


def test_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"none\.yaml: cannot be read: No such file"):
        load(tmp_path / "none.yaml")


def test_file_that_is_not_text_is_named(file: PolicyFile) -> None:
    file.path.write_bytes(b"\xff\xfe")

    with pytest.raises(PolicyError, match="is not YAML"):
        load(file.path)


def test_spelling_of_a_domain_does_not_matter(file: PolicyFile) -> None:
    file.write("domains:\n  BÜCHER.Example.: {max_concurrent: 7}\n  empty.test:\n")

    assert load(file.path) == {
        "xn--bcher-kva.example": PolicyEntry(max_concurrent=7),
        "empty.test": PolicyEntry(),
    }


def test_entry_of_a_domain_holds_for_its_subdomains(file: PolicyFile) -> None:
    file.domains(shop__co__uk="max_concurrent: 7")

    assert file.look_up("a.b.shop.co.uk").pace.concurrency == 7
    assert file.look_up("othershop.co.uk").pace.concurrency == 1


def test_entry_of_a_subdomain_comes_before_that_of_its_domain(file: PolicyFile) -> None:
    file.domains(
        shop__test="max_concurrent: 7, request_delay_ms: 500",
        api__shop__test="max_concurrent: 9",
    )

    policy = file.look_up("v2.api.shop.test")

    assert policy.pace.concurrency == 9
    assert policy.pace.delay == 0.5
    assert policy.said_by["max_concurrent"] == "policy of api.shop.test"
    assert policy.said_by["request_delay_ms"] == "policy of shop.test"


def test_first_layer_that_gives_an_answer_decides(file: PolicyFile) -> None:
    file.domains(
        shop__test="tokens_per_interval: 1",
        default="tokens_per_interval: 3, interval_seconds: 30, max_concurrent: 3",
    )
    monitor = PolicyEntry(tokens_per_interval=2, interval_seconds=20)

    policy = file.look_up("shop.test", "monitor", monitor=monitor)

    assert policy.pace == Pace((Rate(1, 20.0),), delay=2.0, concurrency=3)
    assert policy.said_by == {
        "tokens_per_interval": "policy of shop.test",
        "interval_seconds": "default of monitor",
        "max_concurrent": "default policy",
        "request_delay_ms": "platform",
    }


def test_default_of_one_workload_does_not_hold_for_another(file: PolicyFile) -> None:
    file.domains()
    monitor = PolicyEntry(max_concurrent=8)

    assert file.look_up("shop.test", "stream", monitor=monitor).pace.concurrency == 1
    assert file.look_up("shop.test", "", monitor=monitor).pace.concurrency == 1


def test_null_leaves_the_answer_to_the_next_layer(file: PolicyFile) -> None:
    file.domains(shop__test="max_concurrent: null", default="max_concurrent: 3")

    assert file.look_up("shop.test").said_by["max_concurrent"] == "default policy"


def test_questions_that_nobody_answers_have_careful_answers(file: PolicyFile) -> None:
    file.domains()

    policy = file.look_up("shop.test")

    assert policy.respect_robots
    assert policy.robots_unreachable == "deny"
    assert (policy.identity, policy.fetcher) == ("honest", "http")
    assert policy.proxy == ProxyChoice(use="never")
    assert policy.hours is None
    assert not policy.obey_star
    assert not policy.blocks_count


def test_every_key_reaches_the_policy(file: PolicyFile) -> None:
    file.domains(
        shop__test="allowed_hours: {start: 22, end: 6}, respect_robots_txt: false,"
        " robots: {obey_star: true, on_unreachable: allow}, fetcher: browser,"
        " proxy: {region: de}, identity: browser, headers: {X-A: b}, blocks_count: true,"
        " min_delay_ms: 3, max_delay_ms: 4"
    )

    policy = file.look_up("shop.test")

    assert policy.hours == AllowedHours(start=22, end=6)
    assert not policy.respect_robots
    assert (policy.obey_star, policy.robots_unreachable) == (True, "allow")
    assert (policy.fetcher, policy.identity) == ("browser", "browser")
    assert policy.proxy == ProxyChoice(use="always", region="de")
    assert policy.headers == (("X-A", "b"),)
    assert policy.blocks_count
    assert policy.action_delay_ms == (3, 4)


def test_later_file_replaces_an_entry_of_an_earlier_one(tmp_path: Path) -> None:
    ours, theirs = PolicyFile(tmp_path / "ours.yaml"), PolicyFile(tmp_path / "theirs.yaml")
    ours.domains(a__test="max_concurrent: 2, request_delay_ms: 5", b__test="max_concurrent: 2")
    theirs.domains(a__test="max_concurrent: 3")

    book = PolicyBook(PLATFORM, [ours.path, theirs.path])

    assert book.look_up("a.test").pace.concurrency == 3
    assert book.look_up("a.test").said_by["request_delay_ms"] == "platform"
    assert book.look_up("b.test").pace.concurrency == 2


def test_ledger_is_the_registrable_domain(file: PolicyFile) -> None:
    file.domains()

    assert file.look_up("www.shop.co.uk").ledger == "shop.co.uk"
    assert file.look_up("192.0.2.7").ledger == "192.0.2.7"


def test_split_hosts_have_a_ledger_each(file: PolicyFile) -> None:
    file.domains(shop__test="split_hosts: true")

    assert file.look_up("a.shop.test").ledger == "a.shop.test"
    assert file.look_up("b.shop.test").ledger == "b.shop.test"


def test_grouped_domains_share_a_ledger(file: PolicyFile) -> None:
    file.domains(one__test="group: shops", two__test="group: shops, split_hosts: true")

    assert file.look_up("www.one.test").ledger == file.look_up("two.test").ledger


def test_group_is_never_mistaken_for_a_domain(file: PolicyFile) -> None:
    file.domains(one__test="group: two.test")

    assert file.look_up("one.test").ledger != file.look_up("two.test").ledger


def test_change_is_picked_up_without_a_restart(file: PolicyFile) -> None:
    book = PolicyBook(PLATFORM, [file.domains(shop__test="max_concurrent: 2")])
    assert book.look_up("shop.test").pace.concurrency == 2

    file.domains(shop__test="max_concurrent: 3")

    assert book.reload_if_changed()
    assert book.look_up("shop.test").pace.concurrency == 3
    assert book.entries == {"shop.test": PolicyEntry(max_concurrent=3)}


def test_unchanged_file_is_not_read_again(file: PolicyFile) -> None:
    book = PolicyBook(PLATFORM, [file.domains()])

    assert not book.reload_if_changed()


@pytest.mark.parametrize("broken", ["domains: {", "domains: {shop.test: {colour: red}}"])
def test_broken_file_keeps_the_old_policies(file: PolicyFile, broken: str) -> None:
    book = PolicyBook(PLATFORM, [file.domains(shop__test="max_concurrent: 2")])

    file.write(broken)

    with pytest.raises(PolicyError):
        book.reload_if_changed()
    assert book.look_up("shop.test").pace.concurrency == 2


def test_broken_file_is_told_once_and_read_again_when_mended(file: PolicyFile) -> None:
    book = PolicyBook(PLATFORM, [file.domains()])
    file.write("domains: {")
    with pytest.raises(PolicyError):
        book.reload_if_changed()

    assert not book.reload_if_changed()
    file.domains(shop__test="max_concurrent: 3")
    assert book.reload_if_changed()
    assert book.look_up("shop.test").pace.concurrency == 3


def test_file_that_disappears_keeps_the_old_policies(file: PolicyFile) -> None:
    book = PolicyBook(PLATFORM, [file.domains(shop__test="max_concurrent: 2")])

    file.path.unlink()

    with pytest.raises(PolicyError):
        book.reload_if_changed()
    assert book.look_up("shop.test").pace.concurrency == 2


def test_book_with_a_broken_file_cannot_be_opened(file: PolicyFile) -> None:
    with pytest.raises(PolicyError):
        PolicyBook(PLATFORM, [file.write("domains: {")])


def test_shipped_file_holds_the_numbers_of_the_specification() -> None:
    assert load(SHIPPED_FILE) == {
        "linkedin.com": PolicyEntry(
            tokens_per_interval=1,
            interval_seconds=15,
            min_delay_ms=2000,
            max_delay_ms=5000,
            allowed_hours=AllowedHours(start=6, end=22),
            respect_robots_txt=True,
        ),
        "indeed.com": PolicyEntry(
            tokens_per_interval=2,
            interval_seconds=10,
            min_delay_ms=1000,
            max_delay_ms=3000,
            respect_robots_txt=True,
        ),
        "default": PolicyEntry(
            tokens_per_interval=2,
            interval_seconds=10,
            min_delay_ms=500,
            max_delay_ms=2000,
            respect_robots_txt=True,
        ),
    }


def test_shipped_policies_hold_where_nothing_else_is_said() -> None:
    book = PolicyBook(PLATFORM)

    assert book.look_up("www.linkedin.com").pace.rates == (Rate(1, 15.0),)
    assert book.look_up("shop.test").said_by["tokens_per_interval"] == "default policy"
    assert book.look_up("shop.test").respect_robots


def test_shipped_file_survives_being_dumped(file: PolicyFile) -> None:
    entries = load(SHIPPED_FILE)

    assert load(file.write(dump(entries))) == entries


def test_strictest_keeps_the_promises_of_both() -> None:
    other = Pace((Rate(1, 3.0), Rate(2, 10.0)), delay=0.5, concurrency=9)

    assert PACE.strictest(other) == Pace((Rate(2, 10.0), Rate(1, 3.0)), 1.0, 4)


def test_halved_pace_takes_twice_the_time() -> None:
    assert PACE.halved() == Pace((Rate(2, 20.0),), delay=2.0, concurrency=4)


def test_pace_is_only_ever_moved_further_apart() -> None:
    assert PACE.apart(3.0) == Pace((Rate(2, 10.0),), delay=3.0, concurrency=4)
    assert PACE.apart(0.2) == PACE


def test_domain_that_stands_twice_is_a_mistake(tmp_path: Path) -> None:
    path = tmp_path / "twice.yaml"
    path.write_text("domains:\n  a.test: {max_concurrent: 1}\n  A.test.: {max_concurrent: 2}\n")
    with pytest.raises(PolicyError, match=r"twice.yaml: a.test: stands there twice"):
        load(path)
    path.write_text("domains:\n  a.test: {max_concurrent: 1}\n  a.test: {max_concurrent: 2}\n")
    with pytest.raises(PolicyError, match=r"'a.test' stands twice"):
        load(path)


def test_header_that_cannot_be_sent_is_a_mistake(tmp_path: Path) -> None:
    path = tmp_path / "headers.yaml"
    path.write_text('domains:\n  a.test: {headers: {X-A: "one\\ntwo"}}\n')
    with pytest.raises(PolicyError, match=r"a.test: headers: .*is no valid header"):
        load(path)


@pytest.mark.parametrize(
    ("own", "expected"), [("max_delay_ms: 100", (100, 100)), ("min_delay_ms: 3000", (3000, 3000))]
)
def test_nearer_layer_wins_where_action_delays_contradict(
    tmp_path: Path, own: str, expected: tuple[int, int]
) -> None:
    path = tmp_path / "delays.yaml"
    default = "default: {min_delay_ms: 500, max_delay_ms: 2000}"
    path.write_text(f"domains:\n  a.test: {{{own}}}\n  {default}\n")
    book = PolicyBook(PacingSettings().as_entry(), [path])
    assert book.look_up("a.test").action_delay_ms == expected
