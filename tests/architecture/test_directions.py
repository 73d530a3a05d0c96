"""The directions of imports hold in the package, and breaking one is reported.

The contracts stand in pyproject.toml and are checked by import-linter; the doors of third-party
packages stand in the table below. Each rule is also tried on a copy with a planted violation.
"""

# ruff: noqa: S603 - every program run here is our own
from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).resolve().parents[2]
LINT_IMPORTS = Path(sys.executable).parent / "lint-imports"

ANYWHERE = "penstock"

# Third-party package -> the modules or packages of ours that may import it.
DOORS: dict[str, tuple[str, ...]] = {
    "ada_url": ("penstock.core.urls",),
    "aiohttp": ("penstock.kernel.fetchers",),
    "aiokafka": ("penstock.events.kafka", "penstock.client.stream_kafka"),
    "alembic": ("penstock.store",),
    "apprise": ("penstock.notify.alerts",),
    "babel": ("penstock.core.money", "penstock.quality.gazetteer"),
    "backports": ("penstock.kernel.fetchers",),
    "brotli": ("penstock.kernel.fetchers",),
    "cronsim": ("penstock.queue.timing",),
    "celery": ("penstock.queue.celery",),
    "cryptography": ("penstock.core.secrets",),
    "compression": ("penstock.kernel.fetchers",),  # of the standard library since Python 3.14
    "httpx": (
        *("penstock.client", "penstock.products.search.rest"),
        "penstock.workloads.catalog.clickhouse",
    ),
    "jinja2": ("penstock.console.pages",),
    "kombu": ("penstock.queue.celery",),
    "markupsafe": ("penstock.console",),
    "multidict": ("penstock.kernel.fetchers",),
    "obstore": ("penstock.blobs.s3",),
    "fastapi": (
        *("penstock.web", "penstock.api", "penstock.workloads"),
        *("penstock.console", "penstock.app.console"),
    ),
    "orjson": (ANYWHERE,),
    "phonenumbers": ("penstock.extract.values.contact",),
    "PIL": ("penstock.workloads.catalog.imaging",),
    "playwright": ("penstock.kernel.fetchers.browser",),
    "prometheus_client": ("penstock.core.metrics",),
    "pydantic": (ANYWHERE,),
    "pydantic_settings": ("penstock.kernel.settings", "penstock.settings"),
    "python_socks": ("penstock.kernel.fetchers",),
    "pyarrow": ("penstock.products.export",),
    "redis": ("penstock.kernel.redis", "penstock.client.stream_redis"),
    "rich": ("penstock.cli",),
    "selectolax": ("penstock.extract.page",),
    "snowballstemmer": ("penstock.products.search.analysis",),
    "sqlalchemy": (
        *("penstock.store", "penstock.queue", "penstock.events", "penstock.workloads"),
        *("penstock.web", "penstock.products", "penstock.cache", "penstock.notify"),
        "penstock.console",
    ),
    "stdnum": ("penstock.extract.values.gtin",),
    "starlette": (*("penstock.web", "penstock.api", "penstock.app.service", "penstock.console"),),
    "structlog": ("penstock.core.log", "penstock.web.edge"),
    "tldextract": ("penstock.core.urls",),
    "trafilatura": ("penstock.workloads.scrape.readable",),
    "typer": ("penstock.cli",),
    "uvicorn": ("penstock.api.server",),
    "uvloop": ("penstock.cli",),
    "webencodings": (ANYWHERE,),
    "yaml": ("penstock.kernel.policy", "penstock.settings", "penstock.workloads.stream.seed_file"),
    "yarl": ("penstock.kernel.fetchers",),
}


def lint_imports(folder: Path) -> tuple[int, str]:
    """Check the contracts on the `penstock` package that stands in a folder."""
    done = subprocess.run(
        [LINT_IMPORTS, "--no-logo", "--no-cache", "--config", ROOT / "pyproject.toml"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def build_graph() -> grimp.ImportGraph:
    return grimp.build_graph("penstock", include_external_packages=True, cache_dir=None)


def intruders(graph: grimp.ImportGraph) -> Iterator[str]:
    """A sentence for every third-party import that does not go through its door."""
    ours = graph.find_descendants("penstock") | {"penstock"}
    for foreign in sorted(graph.modules - ours - sys.stdlib_module_names):
        doors = DOORS.get(foreign, ())
        for importer in sorted(graph.find_modules_that_directly_import(foreign)):
            if not any(is_inside(importer, door) for door in doors):
                yield f"{importer} imports {foreign}; its doors: {doors or 'none, see DOORS'}"


def is_inside(module: str, door: str) -> bool:
    return module == door or module.startswith(f"{door}.")


@dataclass(frozen=True)
class PackageCopy:
    """A copy of the package in which violations can be planted."""

    folder: Path

    def plant(self, module: str, code: str) -> None:
        """Append code to a module, which is created where it does not exist yet."""
        path = self.folder.joinpath(*module.split("."))
        if path.is_dir():
            path /= "__init__"
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / "__init__.py").touch()
        with path.with_suffix(".py").open("a") as file:
            file.write(f"\n{code}\n")


@pytest.fixture
def package(tmp_path: Path) -> PackageCopy:
    shutil.copytree(
        ROOT / "src" / "penstock",
        tmp_path / "penstock",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    return PackageCopy(tmp_path)


def test_contracts_hold() -> None:
    code, output = lint_imports(ROOT / "src")

    assert code == 0, output


def test_every_third_party_package_goes_through_its_door() -> None:
    assert list(intruders(build_graph())) == []


@pytest.mark.parametrize(
    ("contract", "importer", "imported"),
    [
        ("Imports go downwards only", "penstock.core.clock", "penstock.kernel.model"),
        ("Imports go downwards only", "penstock.client.rest", "penstock.kernel.model"),
        ("No policy imports another", "penstock.kernel.hours", "penstock.kernel.pacing"),
        ("No workload imports another", "penstock.workloads.live", "penstock.workloads.scrape"),
        ("Only the composition root", "penstock.kernel.ports", "penstock.kernel.redis"),
    ],
)
def test_planted_violation_of_a_contract_is_reported(
    package: PackageCopy, contract: str, importer: str, imported: str
) -> None:
    package.plant(imported, "")
    package.plant(importer, f"import {imported}")

    code, output = lint_imports(package.folder)

    broken = [line for line in output.splitlines() if line.endswith("BROKEN")]
    assert code == 1
    assert any(line.startswith(contract) for line in broken), output
    assert f"{importer} -> {imported}" in output


def test_package_without_a_layer_is_reported(package: PackageCopy) -> None:
    package.plant("penstock.helpers", "")

    code, output = lint_imports(package.folder)

    assert code == 1
    assert "- penstock.helpers" in output


@pytest.mark.parametrize("foreign", ["aiohttp", "unheard_of"])
def test_planted_second_door_is_reported(
    package: PackageCopy, monkeypatch: pytest.MonkeyPatch, foreign: str
) -> None:
    package.plant("penstock.core.clock", f"import {foreign}")
    monkeypatch.syspath_prepend(package.folder)
    # An imported package would be found where it was loaded from, not on the path.
    monkeypatch.delitem(sys.modules, "penstock", raising=False)

    found = list(intruders(build_graph()))

    assert [line for line in found if f"penstock.core.clock imports {foreign}" in line]
