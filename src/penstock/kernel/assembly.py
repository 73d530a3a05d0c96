"""The path put together: every step gets what it needs, and nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.core.clock import Clock
from penstock.core.metrics import Metrics
from penstock.kernel.admission import Admission
from penstock.kernel.chronicle import Chronicle
from penstock.kernel.circuits import Circuits
from penstock.kernel.contact import Contact
from penstock.kernel.entrance import Entrance
from penstock.kernel.gates import Gates
from penstock.kernel.harvest import Harvest
from penstock.kernel.identity import Identities
from penstock.kernel.pipeline import Pipeline
from penstock.kernel.policy import PolicyBook
from penstock.kernel.ports import Fetcher, Pacing
from penstock.kernel.proxies import ProxyPool
from penstock.kernel.reader import Reader
from penstock.kernel.retry import Retry
from penstock.kernel.robots import Robots
from penstock.kernel.robots_gate import RobotsGate
from penstock.kernel.settings import HttpSettings, PacingSettings, RobotsSettings
from penstock.kernel.switches import Switches
from penstock.kernel.turns import Turns
from penstock.kernel.ways import Ways


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Everything that the path is made of: policies, back ends, fetchers and settings."""

    admission: Admission
    policies: PolicyBook
    robots: Robots
    circuits: Circuits
    pacing: Pacing
    proxies: ProxyPool
    identities: Identities
    retry: Retry
    reader: Reader
    fetchers: Mapping[str, Fetcher]
    switches: Switches
    clock: Clock
    metrics: Metrics
    http_settings: HttpSettings
    pacing_settings: PacingSettings
    robots_settings: RobotsSettings


def assemble(parts: Parts) -> Pipeline:
    """A pipeline of these parts."""
    clock, retry = parts.clock, parts.retry
    chronicle = Chronicle(clock, parts.metrics)
    entrance = Entrance(parts.admission, parts.policies)
    turns = Turns(parts.pacing, retry, parts.pacing_settings.backoff_seconds)
    ways = Ways(parts.fetchers, parts.proxies, parts.reader, clock)
    robots = RobotsGate(
        parts.robots,
        parts.identities.product,
        entrance=entrance,
        turns=turns,
        chronicle=chronicle,
        clock=clock,
        settings=parts.robots_settings,
    )
    return Pipeline(
        entrance=entrance,
        robots=robots,
        gates=_gates(parts, robots, ways, turns, chronicle),
        turns=turns,
        ways=ways,
        contact=_contact(parts, ways, chronicle),
        circuits=parts.circuits,
        retry=retry,
        harvest=Harvest(parts.reader, entrance, chronicle),
        chronicle=chronicle,
        clock=clock,
        max_redirects=parts.http_settings.max_redirects,
    )


def _gates(
    parts: Parts, robots: RobotsGate, ways: Ways, turns: Turns, chronicle: Chronicle
) -> Gates:
    return Gates(
        switches=parts.switches,
        robots=robots,
        circuits=parts.circuits,
        ways=ways,
        turns=turns,
        chronicle=chronicle,
        clock=parts.clock,
    )


def _contact(parts: Parts, ways: Ways, chronicle: Chronicle) -> Contact:
    return Contact(
        ways=ways,
        identities=parts.identities,
        circuits=parts.circuits,
        switches=parts.switches,
        chronicle=chronicle,
        clock=parts.clock,
        max_robots_bytes=parts.robots_settings.max_bytes,
        max_retry_after=parts.pacing_settings.max_retry_after_seconds,
    )
