"""Kafka comes with Java and Maven, is fetched once, and is played where there is none."""

import importlib.util
from pathlib import Path

import pytest

from tools.provision import maven as mvn
from tools.provision import programs
from tools.provision.kafka import KAFKA, class_path, mock_cluster
from tools.provision.model import UnavailableError
from tools.provision.ways import ways_to

MAVEN_THAT_ANSWERS = """#!/bin/sh
echo asked >> "$0.calls"
for word; do case $word in -Dmdep.outputFile=*) printf %s "$0" > "${word#*=}" ;; esac; done
"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Maven that says of everything that it is where Maven itself is."""
    program = tmp_path / "mvn"
    program.write_text(MAVEN_THAT_ANSWERS)
    program.chmod(0o755)
    monkeypatch.setenv("PENSTOCK_TEST_MAVEN", str(program))
    return program


def times_asked(maven: Path) -> int:
    return len(maven.with_suffix(".calls").read_text().splitlines())


def test_kafka_is_fetched_once(maven: Path) -> None:
    assert class_path() == class_path() == str(maven)
    assert times_asked(maven) == 1


def test_kafka_is_fetched_again_where_something_of_it_is_gone(maven: Path) -> None:
    class_path()
    (answer,) = mvn.cache_folder().glob("*.classpath")
    answer.write_text(f"{maven}:/no/such.jar")

    assert class_path() == str(maven)
    assert times_asked(maven) == 2


def test_no_maven_means_no_kafka(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PENSTOCK_TEST_MAVEN", raising=False)
    monkeypatch.setattr(mvn, "find", lambda _tool: None)

    with pytest.raises(UnavailableError, match="no mvn"):
        class_path()


@pytest.mark.parametrize("is_there", [True, False])
def test_kafka_is_played_only_where_the_player_is_installed(
    monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    monkeypatch.delenv(KAFKA.variable, raising=False)
    monkeypatch.delenv(KAFKA.tool.variable, raising=False)
    monkeypatch.setattr(programs, "find", lambda _tool: None)
    monkeypatch.setattr(programs, "can_install", lambda: False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: is_there or None)

    assert len(list(mock_cluster())) == is_there
    assert ["mock" in way.origin for way in ways_to(KAFKA)] == [True] * is_there
