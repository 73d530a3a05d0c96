"""Which breaker answers for a visit: that of its workload, if it has rules of its own."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from penstock.kernel.model import Pass, Visit
from penstock.kernel.ports import Breaker, Turned


class RuleSet(NamedTuple):
    """A breaker, the name of its rules, and whether its probes ask for the site's root only."""

    name: str
    breaker: Breaker
    knocks: bool = False


@dataclass(frozen=True, slots=True)
class Circuits:
    """The state of domains, by rule set: what one workload takes for down another may not."""

    common: RuleSet
    of_workloads: Mapping[str, RuleSet] = field(default_factory=dict)

    def rules_for(self, visit: Visit) -> RuleSet:
        """The rules that hold for a visit."""
        return self.of_workloads.get(visit.request.workload, self.common)

    async def look(self, visit: Visit) -> float | None:
        """None if a request could go; else in how many seconds to look again."""
        return await self.rules_for(visit).breaker.look(visit.domain)

    def circuit_of(self, visit: Visit) -> str:
        """What the circuit is called that a visit has to pass, for who keeps its turns."""
        return self.rules_for(visit).breaker.circuit(visit.domain)

    async def enter(self, visit: Visit) -> Pass | float:
        """Leave to contact the domain of a visit, or in how many seconds to ask again."""
        is_clean = visit.ticket is not None and visit.ticket.is_clean
        return await self.rules_for(visit).breaker.enter(visit.domain, is_clean=is_clean)

    async def report(self, visit: Visit, leave: Pass, *, well: bool | None) -> Turned | None:
        """Tell how it went; what that made of the circuit, if it changed."""
        return await self.rules_for(visit).breaker.report(leave, well=well)
