"""What a process says of itself."""

from typing import Any, NamedTuple


class Signs(NamedTuple):
    """How a process is: one with problems cannot do its work now, a warning is only a danger."""

    problems: list[str]
    warnings: list[str]
    figures: dict[str, Any]
