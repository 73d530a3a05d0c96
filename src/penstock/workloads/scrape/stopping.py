"""The end of a service, in two steps: no new work is taken, then nobody is kept waiting."""

from penstock.web.errors import ShuttingDown


class Stopping:
    """Whether this process takes no new work any more, and whether it waits for none either."""

    def __init__(self, retry_after: float) -> None:
        self._retry_after = retry_after
        self.is_set = False
        self.is_final = False

    def __call__(self) -> bool:
        return self.is_set

    def refuse(self) -> None:
        """Raise if no new work is taken."""
        if self.is_set:
            raise self.refusal()

    def refusal(self) -> ShuttingDown:
        """What a caller is told, with when to come back."""
        return ShuttingDown(retry_after=self._retry_after)
