"""The names of everything that the stream's queue keeps in Redis."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Keys:
    """A list that producers push to, a list of dead letters, and what stands beside them."""

    name: str
    dead: str

    @property
    def parked(self) -> str:
        """Groups by the time at which they are due; behind a colon and its name, a group's line."""
        return f"{self.name}:parked"

    @property
    def workers(self) -> str:
        """Workers by the time of their last beat."""
        return f"{self.name}:workers"

    @property
    def processes(self) -> str:
        """The process that each worker is."""
        return f"{self.name}:processes"

    @property
    def lost(self) -> str:
        """URLs that were lost with workers, and how often."""
        return f"{self.name}:lost"

    @property
    def reasons(self) -> str:
        """Why URLs are dead letters."""
        return f"{self.dead}:reasons"

    def claimed(self, worker: str) -> str:
        """What is in the hands of a worker."""
        return f"{self.name}:claimed:{worker}"


def raw(text: str) -> bytes:
    """A text as it came from Redis: half of a character is the byte that it was made of."""
    return text.encode("utf-8", "surrogateescape")


def text_of(raw_text: bytes) -> str:
    """What was pushed, whatever bytes it consists of."""
    return raw_text.decode("utf-8", "surrogateescape")
