"""The kernel's settings: one frozen section per policy, with polite and safe defaults."""

import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    IPvAnyNetwork,
    SecretStr,
    field_validator,
)
from pydantic_settings import NoDecode

from penstock.kernel.policy import SHIPPED_FILE, PolicyBook, PolicyEntry

#: Characters of a passphrase that encrypts.
SHORTEST_KEY = 16


def _split_commas(value: Any) -> Any:
    """Lists in the environment are comma-separated; in YAML they are lists."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def _split_pairs(value: Any) -> Any:
    """Maps in the environment are `name=value,name=value`; in YAML they are maps."""
    if isinstance(value, str):
        pairs = (part.partition("=") for part in _split_commas(value))
        return {name.strip(): target.strip() for name, _, target in pairs}
    return value


Words = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split_commas)]
Networks = Annotated[tuple[IPvAnyNetwork, ...], NoDecode, BeforeValidator(_split_commas)]
Ports = Annotated[frozenset[int], NoDecode, BeforeValidator(_split_commas)]
Files = Annotated[tuple[Path, ...], NoDecode, BeforeValidator(_split_commas)]
Pairs = Annotated[Mapping[str, str], NoDecode, BeforeValidator(_split_pairs)]


class Section(BaseModel):
    """A part of the settings; frozen, and unknown names are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class AdmissionSettings(Section):
    """Who may be contacted at all."""

    allow: Words = Field((), description="only these domains; empty means any")
    deny: Words = Field((), description="never these domains")
    opt_out: Words = Field((), description="domains whose owners asked not to be contacted")
    opt_out_file: Path | None = Field(None, description="the same, one domain a line")
    known_hosts: Pairs = Field({}, description="host or *.suffix = fixed address[:port]")
    open_ranges: Networks = Field((), description="private ranges opened on purpose")
    extra_ports: Ports = Field(frozenset(), description="ports opened on purpose")
    dns_threads: int = Field(256, ge=1, description="names looked up at the same time")


class RobotsSettings(Section):
    """How robots.txt is asked and kept."""

    lifetime_seconds: float = Field(86400, gt=0)
    tries: int = Field(3, ge=1)
    retry_seconds: float = Field(2, gt=0, description="between the tries")
    unreachable_first_seconds: float = Field(
        10, gt=0, description="until it is asked again after the first time; then twice as long"
    )
    unreachable_seconds: float = Field(300, gt=0, description="until it is asked again, at most")
    max_bytes: int = Field(512 * 1024, ge=500 * 1024)
    max_redirects: int = Field(5, ge=0)
    cache_bytes: int = Field(64 * 1024 * 1024, ge=1024 * 1024)
    claim_seconds: float = Field(120, gt=0, description="until another may ask instead")
    min_crawl_delay: float = 1.0
    max_crawl_delay: float = 60.0


class PacingSettings(Section):
    """The platform's own pace, for domains nobody has an opinion on, and the back-off."""

    requests_per_second: float = Field(0.5, ge=1 / 86400, le=1_000_000)
    request_delay_ms: int = Field(2000, ge=0)
    max_concurrent: int = Field(1, ge=1)
    backoff_seconds: float = Field(300, gt=0, description="half rate after a 429")
    max_retry_after_seconds: float = Field(86400, gt=0)
    lease_seconds: float = Field(120, gt=0, description="until a lost slot is free again")

    def as_entry(self) -> PolicyEntry:
        """The platform's pace as the last layer of every policy."""
        return PolicyEntry(
            **self._rate(),
            request_delay_ms=self.request_delay_ms,
            max_concurrent=self.max_concurrent,
        )

    def as_said(self) -> PolicyEntry | None:
        """What somebody set on purpose, if anything: it outranks the default policy."""
        names = self.model_fields_set & {"request_delay_ms", "max_concurrent"}
        said: dict[str, Any] = {name: getattr(self, name) for name in names}
        if "requests_per_second" in self.model_fields_set:
            said |= self._rate()
        return PolicyEntry(**said) if said else None

    def _rate(self) -> dict[str, Any]:
        tokens = max(1, round(self.requests_per_second * 10))
        return {
            "tokens_per_interval": tokens,
            "interval_seconds": tokens / self.requests_per_second,
        }


class BreakerSettings(Section):
    """When a domain counts as down, and when it is tried again."""

    rules: str = Field("window", description="the name of this rule set, in shared keys")
    trip: Literal["window", "consecutive"] = "window"
    window: int = Field(10, ge=1, description="the last so many requests are looked at")
    threshold: int = Field(5, ge=1, description="window: more failures than this; else as many")
    cooldown_seconds: float = Field(120, gt=0)
    max_cooldown_seconds: float = Field(120, gt=0)
    cooldown_factor: float = Field(1, ge=1)
    probes_to_close: int = Field(1, ge=1)
    probe_seconds: float = Field(60, gt=0, description="a probe that hangs frees its slot")
    probe: Literal["request", "head"] = Field(
        "request", description="by the next request, or by a HEAD to the site's root before it"
    )


class ProxySettings(Section):
    """The proxy pool; empty means direct."""

    endpoints: Annotated[tuple[SecretStr, ...], NoDecode, BeforeValidator(_split_commas)] = ()
    domain_cooldown_seconds: float = Field(30, ge=0)
    health_check_interval_seconds: float = Field(60, gt=0)
    max_failures_in_a_row: int = Field(10, ge=1)
    encryption_keys: Annotated[tuple[SecretStr, ...], NoDecode, BeforeValidator(_split_commas)] = (
        Field((), description="of passwords in the store: the first encrypts, all decrypt")
    )

    @field_validator("encryption_keys")
    @classmethod
    def _are_long_enough(cls, keys: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
        if any(len(key.get_secret_value()) < SHORTEST_KEY for key in keys):
            raise ValueError(f"each key has at least {SHORTEST_KEY} characters")
        return keys


class IdentitySettings(Section):
    """Who we say we are."""

    contact: str = Field(
        "",
        description="an address or URL for site owners",
        max_length=200,
        pattern=r"^[ !-'*-~]*$",
    )
    product: str = Field("Penstock", pattern=r"^[A-Za-z_-]+$")
    agent: str = Field(
        "",
        description="the whole agent string, if not made of product, version and contact",
        max_length=300,
        pattern=r"^([A-Za-z_-]+(/[!-~]+)?( [ -~]+)?)?$",
    )

    @field_validator("agent")
    @classmethod
    def _is_ours(cls, agent: str) -> str:
        if agent.lower().startswith("mozilla"):
            raise ValueError("browsers begin so: `identity: browser` in a policy is for that")
        return agent

    @property
    def robots_name(self) -> str:
        """As whom robots.txt is asked."""
        return re.split("[/ ]", self.agent)[0] or self.product


class HttpSettings(Section):
    """Bounds of one fetch over HTTP."""

    timeout_seconds: float = Field(30, gt=0)
    max_bytes: int = Field(10 * 1024 * 1024, gt=0)
    max_redirects: int = Field(5, ge=0)
    max_encodings: int = Field(5, ge=0)
    max_headers: int = Field(128, ge=1)
    max_header_bytes: int = Field(8190, ge=256)
    keep_alive_seconds: float = Field(15, ge=0)


class BrowserSettings(Section):
    """The pool of browsers, and the bounds of one page in a browser."""

    executable: str = Field("", description="Chromium's program; empty: the first one found")
    pool_size: int = Field(5, ge=1, description="pages that are opened at once as a rule")
    pool_max: int = Field(20, ge=1, description="pages that are opened at once at most")
    contexts_per_browser: int = Field(10, ge=1, description="pages that share one Chromium")
    page_limit: int = Field(100, ge=1, description="a Chromium is replaced after so many pages")
    max_age_seconds: float = Field(3600, gt=0, description="a Chromium is replaced after so long")
    max_memory_mb: int = Field(1536, ge=64, description="a larger Chromium is replaced")
    hard_memory_mb: int | None = Field(
        None, ge=64, description="a larger one is ended with its pages; empty: twice max_memory_mb"
    )
    min_free_memory_mb: int = Field(512, ge=0, description="with less, no more pages are opened")
    first_page_always: bool = Field(True, description="whether one is opened with less, too")
    acquire_seconds: float = Field(10, ge=0, description="until a free browser is given up")
    navigation_timeout_ms: int = Field(30000, ge=1, description="until the page begins to arrive")
    page_seconds: float = Field(60, gt=0, description="for all that is done with one page")
    wait_seconds: float = Field(10, gt=0, description="for an element that a request waits for")
    settle_seconds: float = Field(3, ge=0, description="for scripts that still load something")
    max_bytes: int = Field(32 * 1024 * 1024, gt=0, description="of one page with all its parts")
    max_requests: int = Field(500, ge=1, description="of one page with all its parts")
    headless: bool = Field(True, description="false shows the browsers, and needs a display")
    arguments: Words = Field((), description="more arguments for Chromium")
    folder: Path = Field(
        Path(tempfile.gettempdir()) / f"penstock-browser-{os.getuid()}",
        description="for profiles; each worker has a folder in it, wiped when the worker ends",
    )


class RetrySettings(Section):
    """How often and when an attempt is repeated."""

    max_attempts: int = Field(3, ge=1)
    initial_delay_ms: int = Field(1000, ge=0)
    max_delay_ms: int = Field(30000, ge=0)
    backoff_multiplier: float = Field(2, ge=1, le=100)
    jitter: float = Field(0.25, ge=0, le=1, description="share of a delay left to chance")
    budget_ratio: float = Field(0.2, ge=0, description="retries a domain earns per request")
    budget_floor: int = Field(10, ge=0, description="retries a domain always has")
    site_wide: bool = Field(True, description="whether it is repeated while a whole site fails")
    proxies_only: bool = Field(False, description="whether only another proxy is tried")


class PoliciesSettings(Section):
    """Where domain policies come from."""

    files: Files = Field((), description="policy files on top of the shipped one")
    shipped: bool = Field(True, description="whether the shipped file is read at all")
    reload_seconds: float = Field(2, gt=0)

    @property
    def all_files(self) -> tuple[Path, ...]:
        """The shipped file first, so that the operator's entries win."""
        return (SHIPPED_FILE, *self.files) if self.shipped else self.files


class SharedSettings(Section):
    """Where several processes keep pacing, breakers and robots in common."""

    url: SecretStr = Field(SecretStr(""), description="redis://…; empty: in this process")
    prefix: str = Field("", description="put before every key")
    safe_requests_per_second: float = Field(0.5, ge=1 / 86400, description="pace while it is away")
    retry_seconds: float = Field(5, gt=0, description="until it is asked again")
    lock_file: Path = Field(
        Path(tempfile.gettempdir()) / f"penstock-{os.getuid()}.lock",
        description="held by the one process of this machine that fetches, unless url is set",
    )


def open_policies(
    pacing: PacingSettings,
    policies: PoliciesSettings,
    workloads: Mapping[str, PolicyEntry] | None = None,
) -> PolicyBook:
    """The policies that the settings name, above the workloads' and the platform's own pace."""
    return PolicyBook(
        pacing.as_entry(), policies.all_files, said=pacing.as_said(), workloads=workloads
    )
