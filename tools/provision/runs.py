"""One run: provide everything, run a command with it, say what became of it, clean up."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from tools.provision.absences import KNOWN_ABSENCES_FILE, known_absences, unexcused
from tools.provision.model import Available, Finding, Missing, Run, Server
from tools.provision.output import print_table, say
from tools.provision.requirements import REQUIREMENTS
from tools.provision.signals import Interrupted, end_on_signals, ignore_signals
from tools.provision.ways import foresee, provide_all

WIND_DOWN_SECONDS = 10.0


def list_requirements() -> int:
    print_table("What a run would use:", "from", [foresee(each) for each in REQUIREMENTS])
    return 0


def run_with_servers(command: Sequence[str]) -> int:
    if shutil.which(command[0]) is None:
        say(f"{command[0]} is no program")
        return 127
    excuses = known_absences()
    end_on_signals()
    with ExitStack() as undo:
        folder = undo.enter_context(tempfile.TemporaryDirectory(prefix="penstock-servers-"))
        run = Run(Path(folder), undo)
        run.folder.chmod(0o711)  # a server may run as another user, who passes through
        findings = provide_all(run)
        undo.callback(ignore_signals)
        return run_between_tables(command, findings, excuses)


def run_between_tables(
    command: Sequence[str], findings: Sequence[Finding], excuses: Mapping[str, str]
) -> int:
    print_table("Servers and programs for the tests:", "ready", findings)
    if os.environ.get("CI") == "true" and (names := unexcused(findings, excuses)):
        say(f"CI=true and missing without a reason in {KNOWN_ABSENCES_FILE.name}: {names}")
        return 1
    code = run_command(command, environment_with(findings))
    print_table(
        "What was exercised, and what had to be skipped and why:",
        "exercised",
        [look_again(finding) for finding in findings],
    )
    return code


def environment_with(findings: Sequence[Finding]) -> dict[str, str]:
    environment = dict(os.environ)
    for finding in findings:
        match finding:
            case Available(requirement=requirement, value=value):
                environment[requirement.variable] = value
            case Missing(requirement=requirement):
                environment.pop(requirement.variable, None)
    return environment


def look_again(finding: Finding) -> Finding:
    match finding:
        case Available(requirement=Server() as server, value=address):
            if not server.answers(address):
                return Missing(server, "it stopped answering during the run")
    return finding


def run_command(command: Sequence[str], environment: Mapping[str, str]) -> int:
    process = subprocess.Popen(command, env=environment)
    try:
        code = process.wait()
    except Interrupted as interruption:
        wind_down(process, interruption.signal_number)
        raise
    return code if code >= 0 else 128 - code


def wind_down(process: subprocess.Popen[bytes], signal_number: int) -> None:
    # A terminal sends Ctrl-C to the command too, which then ends in its own way; others do not.
    if signal_number != signal.SIGINT:
        process.terminate()
    for escalate in (process.terminate, process.kill):
        try:
            process.wait(WIND_DOWN_SECONDS)
        except subprocess.TimeoutExpired:
            escalate()
    process.wait()
