"""What is told to whoever started the run."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from tools.provision.model import Available, Finding, Missing


def say(line: str) -> None:
    print(line, flush=True)


def print_table(title: str, state: str, findings: Sequence[Finding]) -> None:
    say(title)
    for finding in findings:
        name = finding.requirement.name
        match finding:
            case Available(origin=origin, value=value):
                shown = without_password(value) if value not in ("", origin) else ""
                say(f"  {name:<15} {state:<10} {origin}  {shown}".rstrip())
            case Missing(reason=reason):
                say(f"  {name:<15} {'missing':<10} {reason}")


def without_password(address: str) -> str:
    password = urlsplit(address).password
    return address.replace(f":{password}@", ":***@") if password else address
