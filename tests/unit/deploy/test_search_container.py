"""The search server in a container: the one that the tests use, reached by the service alone."""

from pathlib import Path
from typing import Any

import yaml

from penstock.products.search.rest import open_http
from penstock.products.search.settings import SearchSettings
from tools.provision.search import VERSION

ROOT = Path(__file__).resolve().parents[3]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "deploy" / "compose.search.yaml").read_text())
SEARCH: dict[str, Any] = COMPOSE["services"]["search"]


def test_it_is_the_version_of_the_tests() -> None:
    tests = yaml.safe_load((ROOT / "tools" / "compose.yaml").read_text())["services"]["search"]

    assert SEARCH["image"] == tests["image"] == f"opensearchproject/opensearch:{VERSION}"


def test_the_service_knows_where_it_is_and_waits_for_it() -> None:
    service = COMPOSE["services"]["penstock"]
    url = service["environment"]["PENSTOCK_SEARCH__URL"]

    assert open_http(SearchSettings(url=url)).base_url.host == "search"
    assert service["depends_on"]["search"]["condition"] == "service_healthy"


def test_nobody_else_reaches_it_and_it_is_bounded() -> None:
    assert "ports" not in SEARCH
    assert SEARCH["cap_drop"] == ["ALL"]
    assert {"cpus", "memory", "pids"} == set(SEARCH["deploy"]["resources"]["limits"])
    assert SEARCH["volumes"][0].partition(":")[0] in COMPOSE["volumes"]
