"""axe-core, which finds what keeps people from using a page; npm fetches it, once."""

import hashlib
import os
import shutil
import tarfile
from pathlib import Path

from tools.provision.maven import cache_folder
from tools.provision.model import Tool, UnavailableError
from tools.provision.output import say
from tools.provision.processes import call
from tools.provision.programs import find

NPM = Tool("npm", "PENSTOCK_TEST_NPM", "npm", "npm")
NPM_SECONDS = 120.0
VERSION = "4.11.0"
SCRIPT = "package/axe.min.js"
SHA256 = "e9e5863c33a874f09bc01acd9234b7e3c871479f5eef8802fa582544465e6d01"


def axe_script() -> Path:
    """Where the script is that looks at a page; `UnavailableError` if it cannot be had."""
    kept = cache_folder() / f"axe-core-{VERSION}.js"
    if not kept.exists():
        _fetch(kept)
    return kept


def _fetch(kept: Path) -> None:
    npm = os.environ.get(NPM.variable) or find(NPM)
    if npm is None:
        raise UnavailableError("axe-core comes with npm, and there is no npm")
    say("Fetching axe-core with npm")
    fresh = kept.with_name(f"axe.{os.getpid()}")
    fresh.mkdir(parents=True)
    try:
        call([npm, "pack", f"axe-core@{VERSION}", "--pack-destination", str(fresh)], NPM_SECONDS)
        script = _script_in(fresh / f"axe-core-{VERSION}.tgz")
        (fresh / kept.name).write_bytes(script)
        (fresh / kept.name).replace(kept)
    finally:
        shutil.rmtree(fresh)


def _script_in(package: Path) -> bytes:
    with tarfile.open(package) as packed:
        member = packed.extractfile(SCRIPT)
        script = member.read() if member else b""
    if hashlib.sha256(script).hexdigest() != SHA256:
        raise UnavailableError(f"what npm brought is not axe-core {VERSION} as we know it")
    return script
