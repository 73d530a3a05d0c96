"""What `penstock doctor` found."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, how it is, and what to do about it."""

    subject: str
    state: Literal["ok", "note", "problem"]
    says: str
    do: str = ""
