"""What may be missing in CI, and why."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.provision.model import Finding, Missing

KNOWN_ABSENCES_FILE = Path(__file__).resolve().parents[1] / "known_absences.toml"


def known_absences(file: Path = KNOWN_ABSENCES_FILE) -> dict[str, str]:
    """The reasons for what may be missing in CI, by name."""
    reasons = tomllib.loads(file.read_text())
    for name, reason in reasons.items():
        if not isinstance(reason, str) or not reason.strip():
            raise SystemExit(f'{file.name}: write {name} = "the reason it may be missing"')
    return reasons


def unexcused(findings: Sequence[Finding], excuses: Mapping[str, str]) -> list[str]:
    """The names of what is missing without a reason in the table of known absences."""
    missing = [finding.requirement.name for finding in findings if isinstance(finding, Missing)]
    return [name for name in missing if name not in excuses]
