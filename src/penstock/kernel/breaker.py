"""The breaker: one state machine per domain, with two ways to trip.

    closed ──too many failures──▶ open ──cooldown──▶ half-open ──good probes──▶ closed
                                    ▲                    │
                                    └────bad probe───────┘

`window` trips on more than `threshold` failures among the last `window` requests,
`consecutive` on `threshold` in a row. Half-open lets exactly one probe through at a time.
Every change of state begins a new epoch; what was sent in an older one is not counted.
"""

from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from penstock.core.clock import Clock
from penstock.kernel.model import Pass
from penstock.kernel.ports import CircuitState, Turned
from penstock.kernel.settings import BreakerSettings

MAX_CIRCUITS = 100_000
#: While a probe is under way, the others look again after at most so many seconds.
PROBE_PATIENCE = 1.0


@dataclass(slots=True)
class Circuit:
    """The breaker of one domain; `state` is closed, open or half_open."""

    state: str = "closed"
    epoch: int = 0
    recent: deque[bool] = field(default_factory=deque)
    open_until: float = 0.0
    cooldown: float = 0.0
    good_probes: int = 0
    probe_until: float = 0.0
    #: In a row, up to now: those that opened it, and the probes since.
    failures: int = 0
    #: Seconds for which somebody opened it, instead of the cooldown of the rule.
    told: float = 0.0


class MemoryBreaker:
    """Circuits in this process. A domain without trouble takes no memory."""

    def __init__(self, settings: BreakerSettings, clock: Clock) -> None:
        self._rule = settings
        self._clock = clock
        self._circuits: OrderedDict[str, Circuit] = OrderedDict()
        self._epoch = 0

    def __len__(self) -> int:
        return len(self._circuits)

    def state_of(self, domain: str) -> str:
        """`closed`, `open` or `half_open`."""
        circuit = self._circuits.get(domain)
        return self._refreshed(circuit).state if circuit else "closed"

    async def look(self, domain: str) -> float | None:
        circuit = self._circuits.get(domain)
        if circuit is None or self._refreshed(circuit).state == "closed":
            return None
        if circuit.state == "open":
            return circuit.open_until - self._clock.monotonic()
        probed_for = circuit.probe_until - self._clock.monotonic()
        return min(probed_for, PROBE_PATIENCE) if probed_for > 0 else None

    def circuit(self, domain: str) -> str:
        del domain
        return ""

    async def enter(self, domain: str, *, is_clean: bool = False) -> Pass | float:
        del is_clean
        circuit = self._circuits.get(domain)
        if circuit is None:
            return Pass(domain, 0)
        if (seconds := await self.look(domain)) is not None:
            return seconds
        if circuit.state == "half_open":
            circuit.probe_until = self._clock.monotonic() + self._rule.probe_seconds
            circuit.epoch = self._next_epoch()
            return Pass(domain, circuit.epoch, probe=True)
        return Pass(domain, circuit.epoch)

    async def report(self, leave: Pass, *, well: bool | None) -> Turned | None:
        circuit = self._circuits.get(leave.key)
        if circuit is None:
            if leave.epoch or well is not False:
                return None
            circuit = self._new_circuit(leave.key)
        if leave.epoch != circuit.epoch:
            return None
        if leave.probe:
            self._judge_probe(circuit, well)
        elif well is not None:
            self._count(leave.key, circuit, well)
        if circuit.epoch == leave.epoch:
            return None
        return Turned("open", circuit.cooldown) if circuit.state == "open" else Turned("closed")

    async def troubled(self) -> Sequence[CircuitState]:
        circuits = ((domain, self._refreshed(each)) for domain, each in self._circuits.items())
        return [
            CircuitState(domain, circuit.state, circuit.failures, circuit.cooldown)
            for domain, circuit in circuits
            if circuit.state != "closed"
        ]

    def open_for(self, domain: str, seconds: float) -> None:
        """Open a circuit whatever was counted; a bad probe opens it for as long again."""
        circuit = self._circuits.get(domain) or self._new_circuit(domain)
        circuit.told, circuit.probe_until = seconds, 0.0
        self._open(circuit, seconds)

    def close(self, domain: str) -> None:
        """Close a circuit whatever was counted; what is still under way is not."""
        self._circuits.pop(domain, None)

    def _judge_probe(self, circuit: Circuit, well: bool | None) -> None:
        circuit.probe_until = 0.0
        if well is False:
            circuit.failures += 1
            longer = circuit.cooldown * self._rule.cooldown_factor
            self._open(circuit, circuit.told or min(longer, self._rule.max_cooldown_seconds))
        elif well:
            circuit.good_probes += 1
            if circuit.good_probes >= self._rule.probes_to_close:
                circuit.state, circuit.epoch = "closed", self._next_epoch()
                circuit.failures, circuit.told = 0, 0.0

    def _count(self, domain: str, circuit: Circuit, well: bool) -> None:
        circuit.recent.append(well)
        if self._rule.trip == "consecutive":
            if well:
                circuit.recent.clear()
            tripped = len(circuit.recent) >= self._rule.threshold
        else:
            if len(circuit.recent) > self._rule.window:
                circuit.recent.popleft()
            tripped = circuit.recent.count(False) > self._rule.threshold
        if tripped:
            circuit.failures = circuit.recent.count(False)
            self._open(circuit, self._rule.cooldown_seconds)
        elif False not in circuit.recent and not circuit.epoch:
            # Never open and no failure left to count: the same as no circuit at all.
            del self._circuits[domain]

    def _open(self, circuit: Circuit, cooldown: float) -> None:
        circuit.state, circuit.epoch = "open", self._next_epoch()
        circuit.cooldown = cooldown
        circuit.open_until = self._clock.monotonic() + cooldown
        circuit.recent.clear()
        circuit.good_probes = 0

    def _refreshed(self, circuit: Circuit) -> Circuit:
        if circuit.state == "open" and self._clock.monotonic() >= circuit.open_until:
            circuit.state, circuit.epoch = "half_open", self._next_epoch()
        return circuit

    def _new_circuit(self, domain: str) -> Circuit:
        if len(self._circuits) >= MAX_CIRCUITS:
            self._circuits.popitem(last=False)
        circuit = self._circuits[domain] = Circuit()
        return circuit

    def _next_epoch(self) -> int:
        self._epoch += 1
        return self._epoch
