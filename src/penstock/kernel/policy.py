"""Domain policies: what a domain is owed, from YAML files that can change while running.

A number comes from the domain's own entry, else from what the store says of the domain's source,
else from the workload that asks, else from a setting that somebody made, else from the file's
`default` entry, else from the platform's defaults. `PolicyBook.look_up` says for every number
where it came from.
"""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    field_validator,
    model_validator,
)

from penstock.core.errors import PolicyError, UrlError
from penstock.core.log import get_logger
from penstock.core.urls import bare_host, registrable_domain
from penstock.kernel.headers import frames, problem_with

DEFAULT = "default"
SHIPPED_FILE = Path(__file__).with_name("domain_policies.yaml")
MAX_REMEMBERED_HOSTS = 65536


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AllowedHours(_Section):
    """A window of the day in UTC hours, start included and end not; may cross midnight."""

    start: int = Field(ge=0, le=23)
    end: int = Field(ge=0, le=24)

    @model_validator(mode="after")
    def _is_a_window(self) -> "AllowedHours":
        if self.start == self.end:
            raise ValueError("start and end are the same hour: the window would be empty")
        return self


class RobotsChoice(_Section):
    """Deviations from the robots rules that an operator answers for."""

    obey_star: bool = False
    on_unreachable: Literal["deny", "allow"] = "deny"


class ProxyChoice(_Section):
    """Whether requests leave through the proxy pool, through which part of it, and how often.

    `requests_per_second` is for each proxy and domain, and divides the domain's pace; without it
    a proxy rests between two visits to a domain for as long as the settings say. It is looked up
    by itself: an entry that names nothing else does not say whether proxies are used.
    """

    use: Literal["never", "always"] = "always"
    region: Annotated[str, StringConstraints(to_lower=True, min_length=1)] | None = None
    requests_per_second: float | None = Field(default=None, ge=1, le=5)

    @property
    def is_only_a_limit(self) -> bool:
        """Whether nothing is said but how often."""
        return self.model_fields_set == {"requests_per_second"}

    @property
    def rest_seconds(self) -> float | None:
        """How long a proxy rests between two visits to a domain, if the policy says so."""
        return None if self.requests_per_second is None else 1 / self.requests_per_second


class PolicyEntry(_Section):
    """One entry of a policy file; what it does not say is decided by the next layer."""

    tokens_per_interval: int | None = Field(default=None, ge=1)
    interval_seconds: float | None = Field(default=None, gt=0, le=86400)
    request_delay_ms: int | None = Field(default=None, ge=0, le=3_600_000)
    max_concurrent: int | None = Field(default=None, ge=1)
    min_delay_ms: int | None = Field(default=None, ge=0)
    max_delay_ms: int | None = Field(default=None, ge=0)
    allowed_hours: AllowedHours | None = None
    respect_robots_txt: bool | None = None
    robots: RobotsChoice | None = None
    group: str | None = Field(default=None, pattern=r"^[a-z0-9][a-z0-9_.-]*$")
    split_hosts: bool | None = None
    fetcher: Literal["http", "browser", "auto"] | None = None
    proxy: ProxyChoice | None = None
    identity: Literal["honest", "browser"] | None = None
    headers: dict[str, str] | None = None
    blocks_count: bool | None = None
    block_resources: bool | None = None

    @model_validator(mode="after")
    def _is_consistent(self) -> "PolicyEntry":
        low, high = self.min_delay_ms, self.max_delay_ms
        if low is not None and high is not None and low > high:
            raise ValueError("min_delay_ms is greater than max_delay_ms")
        return self

    @field_validator("headers")
    @classmethod
    def _can_be_sent(cls, headers: dict[str, str] | None) -> dict[str, str] | None:
        for name, value in (headers or {}).items():
            if problem := problem_with(name, value) or frames(name):
                raise ValueError(problem)
        return headers


class Rate(NamedTuple):
    """At most `limit` requests in any `window` of seconds."""

    limit: int
    window: float


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast a domain may be asked: rates, seconds between requests, requests at once."""

    rates: tuple[Rate, ...]
    delay: float
    concurrency: int

    @property
    def most(self) -> int:
        """How many starts may matter for the next one."""
        return max(rate.limit for rate in self.rates)

    @property
    def reach(self) -> float:
        """For how many seconds a start may matter."""
        return max(self.delay, *(rate.window for rate in self.rates))

    def strictest(self, other: "Pace") -> "Pace":
        """The pace that keeps the promises of both."""
        return Pace(
            tuple(dict.fromkeys((*self.rates, *other.rates))),
            max(self.delay, other.delay),
            min(self.concurrency, other.concurrency),
        )

    def halved(self) -> "Pace":
        """Half the rate: as many requests in twice the time, twice as far apart."""
        rates = tuple(Rate(rate.limit, rate.window * 2) for rate in self.rates)
        return Pace(rates, self.delay * 2, self.concurrency)

    def apart(self, seconds: float) -> "Pace":
        """The same pace with at least so many seconds between requests."""
        if seconds <= self.delay:
            return self
        return Pace(self.rates, seconds, self.concurrency)


@dataclass(frozen=True, slots=True)
class DomainPolicy:
    """What holds for one host, every question answered; `said_by` names who answered."""

    pace: Pace
    ledger: str
    action_delay_ms: tuple[int, int] = (500, 2000)
    hours: AllowedHours | None = None
    respect_robots: bool = True
    obey_star: bool = False
    robots_unreachable: Literal["deny", "allow"] = "deny"
    fetcher: Literal["http", "browser", "auto"] = "http"
    proxy: ProxyChoice = field(default_factory=lambda: ProxyChoice(use="never"))
    identity: Literal["honest", "browser"] = "honest"
    headers: tuple[tuple[str, str], ...] = ()
    blocks_count: bool = False
    block_resources: bool | None = None
    said_by: Mapping[str, str] = field(default_factory=dict, compare=False)


class PolicyBook:
    """All domain policies; look-ups are remembered until the next reload."""

    def __init__(
        self,
        platform: PolicyEntry,
        files: Sequence[Path] = (SHIPPED_FILE,),
        workloads: Mapping[str, PolicyEntry] | None = None,
        said: PolicyEntry | None = None,
    ) -> None:
        self._platform = platform
        self._said = said
        self._files = tuple(files)
        self._workloads = workloads or {}
        self._remembered: dict[tuple[str, str], DomainPolicy] = {}
        self._stamps: dict[Path, float] = {}
        self._entries: dict[str, PolicyEntry] = {}
        self._sources: Mapping[str, PolicyEntry] = {}
        self._domains: dict[str, Mapping[str, PolicyEntry]] = {}
        self.reload()

    def reload(self) -> None:
        """Read the files again; on a `PolicyError` the old policies stay in force."""
        stamps = {path: _modified(path) for path in self._files}
        entries: dict[str, PolicyEntry] = {}
        for path in self._files:
            entries |= load(path)
        self._entries, self._stamps = entries, stamps
        self._remembered.clear()
        _log_leniency(entries)

    def reload_if_changed(self) -> bool:
        """Reload when a file was written since the last time; tells whether it was."""
        if all(_modified(path) == self._stamps.get(path) for path in self._files):
            return False
        self._stamps = {path: _modified(path) for path in self._files}
        self.reload()
        return True

    def learn_sources(self, entries: Mapping[str, PolicyEntry]) -> None:
        """Take what the store says of domains, in place of what it said before."""
        if entries != self._sources:
            self._sources = dict(entries)
            self._remembered.clear()

    def learn_for(self, workload: str, entries: Mapping[str, PolicyEntry]) -> None:
        """Take what the store says of domains to one workload, in place of what it said before."""
        if entries != self._domains.get(workload, {}):
            self._domains[workload] = dict(entries)
            self._remembered.clear()

    @property
    def entries(self) -> Mapping[str, PolicyEntry]:
        """Every entry in force, `default` included."""
        return self._entries

    def look_up(self, host: str, workload: str = "") -> DomainPolicy:
        """The policy for a host, on behalf of a workload."""
        policy = self._remembered.get((host, workload))
        if policy is None:
            if len(self._remembered) >= MAX_REMEMBERED_HOSTS:
                self._remembered.clear()
            policy = self._remembered[host, workload] = self._resolve(host, workload)
        return policy

    def _resolve(self, host: str, workload: str) -> DomainPolicy:
        domain = registrable_domain(host)
        layers: list[tuple[str, PolicyEntry]] = [
            (f"policy of {name}", self._entries[name])
            for name in _names_above(host, domain)
            if name in self._entries
        ]
        if domain in self._sources:
            layers.append((f"source of {domain}", self._sources[domain]))
        if said := self._domains.get(workload, {}).get(domain):
            layers.append((f"domain {domain}", said))
        if workload in self._workloads:
            layers.append((f"default of {workload}", self._workloads[workload]))
        if self._said:
            layers.append(("settings", self._said))
        if DEFAULT in self._entries:
            layers.append(("default policy", self._entries[DEFAULT]))
        layers.append(("platform", self._platform))
        return _compose(host, domain, layers)


def _log_leniency(entries: Mapping[str, PolicyEntry]) -> None:
    """Whoever asks for less than the usual respect for robots shall find it in the logs."""
    for name, entry in entries.items():
        if entry.respect_robots_txt is False:
            get_logger().warning("robots.txt is not asked, by policy", domain=name)
        elif entry.robots and entry.robots.on_unreachable == "allow":
            get_logger().warning("unreachable robots.txt allows, by policy", domain=name)


def _names_above(host: str, domain: str) -> list[str]:
    """The names an entry may stand under, most specific first: host, parents, domain."""
    names = [host]
    while names[-1] != domain and "." in names[-1]:
        names.append(names[-1].partition(".")[2])
    return names


def _compose(host: str, domain: str, layers: Sequence[tuple[str, PolicyEntry]]) -> DomainPolicy:
    """Take each answer from the first layer that gives one."""
    said_by: dict[str, str] = {}
    answers: dict[str, Any] = {}
    for source, entry in layers:
        for name in entry.model_fields_set:
            value = getattr(entry, name)
            if isinstance(value, ProxyChoice) and value.is_only_a_limit:
                continue
            if name not in answers and value is not None:
                answers[name], said_by[name] = value, source
    robots = answers.get("robots") or RobotsChoice()
    ledger = host if answers.get("split_hosts") else domain
    return DomainPolicy(
        pace=Pace(
            (Rate(answers["tokens_per_interval"], answers["interval_seconds"]),),
            answers["request_delay_ms"] / 1000,
            answers["max_concurrent"],
        ),
        ledger=f"group:{answers['group']}" if "group" in answers else ledger,
        action_delay_ms=_action_delay(answers, said_by, [source for source, _ in layers]),
        hours=answers.get("allowed_hours"),
        respect_robots=answers.get("respect_robots_txt", True),
        obey_star=robots.obey_star,
        robots_unreachable=robots.on_unreachable,
        fetcher=answers.get("fetcher", "http"),
        proxy=_proxy(answers.get("proxy") or ProxyChoice(use="never"), layers),
        identity=answers.get("identity", "honest"),
        headers=tuple((answers.get("headers") or {}).items()),
        blocks_count=answers.get("blocks_count", False),
        block_resources=answers.get("block_resources"),
        said_by=said_by,
    )


def _proxy(choice: ProxyChoice, layers: Sequence[tuple[str, PolicyEntry]]) -> ProxyChoice:
    """The choice with the limit of the first layer that has one."""
    limits = (entry.proxy.requests_per_second for _, entry in layers if entry.proxy)
    limit = next((limit for limit in limits if limit is not None), None)
    return choice if limit is None else choice.model_copy(update={"requests_per_second": limit})


def _action_delay(
    answers: Mapping[str, Any], said_by: Mapping[str, str], sources: Sequence[str]
) -> tuple[int, int]:
    """The pause between actions; where the layers contradict each other, the nearer one wins."""
    low, high = answers.get("min_delay_ms", 500), answers.get("max_delay_ms", 2000)
    if low <= high:
        return low, high
    ranks = [
        sources.index(said_by[name]) if name in said_by else len(sources)
        for name in ("min_delay_ms", "max_delay_ms")
    ]
    return (low, low) if ranks[0] < ranks[1] else (high, high)


class _NoTwins(yaml.SafeLoader):
    """Refuses a mapping that has a key twice, where YAML would keep the last one silently."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        twins = [key for key in keys if keys.count(key) > 1]
        if twins:
            raise yaml.constructor.ConstructorError(None, None, f"'{twins[0]}' stands twice", None)
        return super().construct_mapping(node, deep)


def load(path: Path) -> dict[str, PolicyEntry]:
    """Read a policy file; an error names the file, the domain and the key."""
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), _NoTwins)  # noqa: S506
    except OSError as error:
        raise PolicyError(f"cannot be read: {error.strerror}", source=str(path)) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise PolicyError(f"is not YAML: {error}", source=str(path)) from error
    if not isinstance(content, dict) or set(content) - {"domains"}:
        raise PolicyError("expects one top-level key, 'domains'", source=str(path))
    domains = content.get("domains") or {}
    if not isinstance(domains, dict):
        raise PolicyError("'domains' must map domain names to policies", source=str(path))
    entries: dict[str, PolicyEntry] = {}
    for name, body in domains.items():
        key = _domain_key(name, str(path))
        if key in entries:
            raise PolicyError("stands there twice", source=str(path), domain=key)
        entries[key] = _entry(body, str(name), str(path))
    return entries


def dump(entries: Mapping[str, PolicyEntry]) -> str:
    """The entries as a policy file; `load` gives the same entries back."""
    domains = {name: entry.model_dump(exclude_unset=True) for name, entry in entries.items()}
    return yaml.safe_dump({"domains": domains}, sort_keys=False)


def _entry(body: object, domain: str, source: str) -> PolicyEntry:
    try:
        return PolicyEntry.model_validate({} if body is None else body)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        problem = first["msg"]
        if first["type"] == "extra_forbidden":
            problem = f"unknown key{_suggestion(first['loc'])}"
        raise PolicyError(problem, source=source, domain=domain, key=key) from error


def _suggestion(where: tuple[int | str, ...]) -> str:
    sections: dict[int | str, type[_Section]] = {
        "allowed_hours": AllowedHours,
        "robots": RobotsChoice,
        "proxy": ProxyChoice,
    }
    section = sections[where[0]] if len(where) > 1 else PolicyEntry
    close = difflib.get_close_matches(str(where[-1]), section.model_fields, n=1)
    return f"; did you mean '{close[0]}'?" if close else ""


def _domain_key(name: object, source: str) -> str:
    if name == DEFAULT:
        return DEFAULT
    try:
        return bare_host(str(name))
    except UrlError as error:
        raise PolicyError("is not a bare domain name", source=source, domain=str(name)) from error


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0.0
