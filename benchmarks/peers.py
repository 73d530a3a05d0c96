"""The other crawlers: pinned, and installed in a virtual environment of their own."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "benchmarks" / "requirements.txt"
ENVIRONMENT = ROOT / ".venv-bench"
PYTHON = ENVIRONMENT / "bin" / "python"


def install() -> None:
    """Create the environment, or renew it if the pins have changed since."""
    installed = ENVIRONMENT / "installed.txt"
    pins = REQUIREMENTS.read_text()
    if installed.exists() and installed.read_text() == pins:
        return
    print(f"installing the peers into {ENVIRONMENT.name} ...", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", "--clear", ENVIRONMENT], check=True)
    subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", "-r", REQUIREMENTS], check=True)
    installed.write_text(pins)


def versions() -> dict[str, str]:
    """What the table compares, by package."""
    pins = dict(line.split("==") for line in REQUIREMENTS.read_text().split())
    return {
        "penstock": version("penstock"),
        "scrapy": pins["scrapy"],
        "crawlee": pins["crawlee[parsel,playwright]"],
        "playwright": pins["playwright"],
        "extruct": pins["extruct"],
        "aiohttp": pins["aiohttp"],
        "uvloop": pins["uvloop"],
    }
