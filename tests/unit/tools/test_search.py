"""The search server comes with Java and Maven, is fetched once, and is unpacked for each run."""

import os
import zipfile
from pathlib import Path

import pytest

from tests.unit.tools.test_servers import server_that_says
from tools.provision import maven as mvn
from tools.provision import search
from tools.provision.model import UnavailableError
from tools.provision.search import VERSION, archive, search_answers, search_arguments

MAVEN_THAT_COPIES = """#!/bin/sh
echo asked >> "$0.calls"
for word; do case $word in -DoutputDirectory=*) cp "$0.zip" "${word#*=}/NAME" ;; esac; done
"""


@pytest.fixture(autouse=True)
def maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Maven that has a very small server."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    program = tmp_path / "mvn"
    program.write_text(MAVEN_THAT_COPIES.replace("NAME", f"opensearch-{VERSION}.zip"))
    program.chmod(0o755)
    with zipfile.ZipFile(tmp_path / "mvn.zip", "w") as packed:
        for name in ("lib/a.jar", "config/opensearch.yml", "logs/x"):
            packed.writestr(f"opensearch-{VERSION}/{name}", "")
    monkeypatch.setenv("PENSTOCK_TEST_MAVEN", str(program))
    return program


def test_the_server_is_fetched_once(maven: Path) -> None:
    assert archive() == archive()
    assert zipfile.is_zipfile(archive())
    assert len(maven.with_suffix(".calls").read_text().splitlines()) == 1
    assert [path.name for path in mvn.cache_folder().iterdir()] == [f"opensearch-{VERSION}.zip"]


def test_no_maven_means_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PENSTOCK_TEST_MAVEN")
    monkeypatch.setattr(mvn, "find", lambda _tool: None)

    with pytest.raises(UnavailableError, match="no mvn"):
        archive()


def test_a_run_has_a_server_of_its_own_that_is_there_when_it_is_started_again(
    tmp_path: Path,
) -> None:
    arguments = search_arguments("java", tmp_path, 1234)
    (kept := tmp_path / f"opensearch-{VERSION}" / "data" / "x").touch()
    search_arguments("java", tmp_path, 1234)

    assert "-Ehttp.port=1234" in arguments
    assert kept.exists()
    if os.geteuid() == 0:
        assert arguments[0] == "setpriv"
        assert kept.parent.owner() == search.USER


@pytest.mark.parametrize(
    ("body", "is_ready"),
    [(b'{"status":"yellow"}', True), (b'{"status":"red"}', False)],
)
def test_the_server_is_ready_when_its_data_are(body: bytes, is_ready: bool) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode()

    with server_that_says(head + body) as port:
        assert search_answers(f"http://127.0.0.1:{port}") is is_ready


def test_a_server_that_has_no_master_is_not_ready() -> None:
    with server_that_says(b"HTTP/1.1 503 Unavailable\r\nContent-Length: 0\r\n\r\n") as port:
        assert not search_answers(f"http://127.0.0.1:{port}")
