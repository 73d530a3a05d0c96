"""Maven, which fetches what runs on this machine's Java; it is kept from run to run."""

import os
from pathlib import Path

from tools.provision.model import Tool, UnavailableError
from tools.provision.output import say
from tools.provision.processes import call
from tools.provision.programs import find

MAVEN_SECONDS = 300.0

JAVA = Tool("java", "PENSTOCK_TEST_JAVA", "java", "default-jre-headless")
MAVEN = Tool("maven", "PENSTOCK_TEST_MAVEN", "mvn", "maven")

PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.6.0"


def ask_maven(what: str, goal: str, pom: Path, *options: str) -> None:
    """Have a goal of its dependency plugin reached, for a project."""
    maven = os.environ.get(MAVEN.variable) or find(MAVEN)
    if maven is None:
        raise UnavailableError(f"{what} comes with Maven, and there is no mvn")
    say(f"Fetching {what} with Maven")
    project = ["--batch-mode", "--quiet", "--file", str(pom)]
    call([maven, *project, f"{PLUGIN}:{goal}", *options], MAVEN_SECONDS)


def cache_folder() -> Path:
    """Where things stay from run to run."""
    home = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    return Path(home) / "penstock"
