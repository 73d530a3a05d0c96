"""Programs: found on this machine, or installed from their Debian package."""

import functools
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tools.provision.model import Tool, UnavailableError, Way
from tools.provision.output import say
from tools.provision.processes import call

INSTALL_SECONDS = 900.0


def ways_to_program(tool: Tool) -> Iterator[Way]:
    if found := find(tool):
        yield Way(found, lambda _run: found)
    elif tool.package and can_install():
        yield Way(f"apt-get install {tool.package}", lambda _run: install(tool))


def find(tool: Tool) -> str | None:
    """The tool's program: in the newest of its own folders, else on the PATH."""
    folders = [str(folder) for pattern in tool.folders for folder in Path("/").glob(pattern[1:])]
    newest_first = sorted(folders, key=version_in, reverse=True)
    return shutil.which(tool.program, path=os.pathsep.join([*newest_first, *os.get_exec_path()]))


def version_in(path: str) -> list[int]:
    return [int(digits) for digits in re.findall(r"\d+", path)]


def require_program(path: str) -> str:
    found = shutil.which(path)
    if found is None:
        raise UnavailableError(f"{path} is no program")
    return found


@functools.cache
def can_install() -> bool:
    is_debian = Path("/etc/debian_version").exists()
    return is_debian and os.geteuid() == 0 and shutil.which("apt-get") is not None


def install(tool: Tool) -> str:
    if found := find(tool):
        return found
    say(f"Installing {tool.package} with apt-get")
    update_package_lists()
    options = ["-o", "DPkg::Lock::Timeout=400", "install", "--yes", "--no-install-recommends"]
    call(
        ["apt-get", *options, tool.package],
        INSTALL_SECONDS,
        DEBIAN_FRONTEND="noninteractive",
    )
    if (found := find(tool)) is None:
        raise UnavailableError(f"the package {tool.package} brought no {tool.program}")
    return found


@functools.cache
def update_package_lists() -> None:
    # Older lists may still do, so a failure here is left to the installation to report.
    with suppress(UnavailableError):
        call(["apt-get", "update", "--quiet"], INSTALL_SECONDS)
