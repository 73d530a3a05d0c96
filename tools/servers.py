#!/usr/bin/env python3
"""Start the real servers that the tests use, run a command with their addresses, stop them.

    python tools/servers.py list                       what would be used, without starting anything
    python tools/servers.py run -- pytest -k redis     start, run the command, stop

Each one comes from the first of these that works:
  1. its environment variable, if set: an address that must answer, or the path of a program
  2. its program on this machine
  3. its Debian package, installed with apt-get (on Debian, as root)
  4. Docker Compose with tools/compose.yaml (servers only, if an engine answers)
  5. something that plays it (Kafka only, with confluent_kafka's mock cluster); the table says so

The command finds what it may use in the same environment variables; one that is absent means the
server is missing and its tests should skip. With CI=true a missing one fails the run before the
command starts, unless tools/known_absences.toml names it with a reason.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

if __name__ == "__main__":
    # A script finds what is beside it; the package is found from the folder above.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from tools.provision.runs import list_requirements, run_with_servers


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tools/servers.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="verb", required=True, metavar="list | run")
    commands.add_parser("list", help="show what would be used")
    run = commands.add_parser("run", help="start everything, run COMMAND, stop everything")
    run.add_argument("command", nargs="+", metavar="COMMAND", help="after --, with its arguments")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    options = parse(arguments)
    return list_requirements() if options.verb == "list" else run_with_servers(options.command)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
