"""Contact with the site of a feed, through all gates; a gate that is shut for long is told of."""

from penstock.core.clock import Clock
from penstock.kernel.model import Outcome, Request, Visit, Wait
from penstock.kernel.pipeline import Pipeline

#: So long a feed waits for its turn or for a browser before it is put off.
PATIENCE = 60.0
#: Gates that are shut by somebody or by the site, and not because others are before us.
SHUT = ("hours", "breaker", "pause")


class Visitor:
    """Walks the path of a URL for a feed."""

    def __init__(self, pipeline: Pipeline, clock: Clock) -> None:
        self._pipeline = pipeline
        self._clock = clock

    async def visit(self, request: Request) -> Outcome | Wait:
        """The outcome; or the wait that a gate asks for, if the site was not contacted."""
        visit = self._pipeline.admit(request)
        latest = self._clock.monotonic() + PATIENCE
        while isinstance(visit, Visit):
            step = await self._pipeline.advance(visit)
            if isinstance(step, Outcome):
                return step
            if step.gate in SHUT or step.until > latest:
                await self._pipeline.let_go(visit)
                return step
            try:
                await self._clock.sleep(step.until - self._clock.monotonic())
            except BaseException:
                await self._pipeline.let_go(visit)
                raise
        return visit
