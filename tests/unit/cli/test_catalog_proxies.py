"""`penstock catalog proxies`: what operators type, and what they are told."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from penstock.cli.catalog_proxies import app
from penstock.core.errors import PenstockError
from tests.stores import make_sqlite

PASSWORD = "hunter2"
KEYS = "PENSTOCK_PROXIES__ENCRYPTION_KEYS"
UNKNOWN = "0" * 32


class Desk:
    """The command on a store; whatever it says, it does not say the password."""

    def run(self, *arguments: str, stdin: str = "") -> Result:
        ran = CliRunner().invoke(app, arguments, input=stdin)
        if ran.exception and not isinstance(ran.exception, SystemExit | PenstockError):
            raise ran.exception
        assert PASSWORD not in ran.output + repr(ran.exception)
        return ran

    def rows(self, *arguments: str, stdin: str = "", code: int = 0) -> list[dict[str, Any]]:
        ran = self.run(*arguments, "--json", stdin=stdin)
        assert ran.exit_code == code, ran.output
        return [json.loads(line) for line in ran.stdout.splitlines()]

    def refused(self, *arguments: str) -> str:
        """What is said of something that cannot be done, in one line."""
        ran = self.run(*arguments)
        assert ran.exit_code != 0
        said = str(ran.exception) if isinstance(ran.exception, PenstockError) else ran.stderr
        return " ".join(said.split())


@pytest.fixture
async def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    await make_sqlite(tmp_path)
    monkeypatch.setenv("PENSTOCK_STORE__FOLDER", str(tmp_path))
    return Desk()


@pytest.fixture
def open_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_proxy_is_added_switched_and_removed(desk: Desk) -> None:
    [added] = desk.rows("add", "-", stdin=f"socks5://jo:{PASSWORD}@p.test:1#DE\n")
    assert (added["proxy_protocol"], added["region"]) == ("socks5", "de")
    assert added["has_password"]
    [off] = desk.rows("disable", added["id"])
    assert not off["is_active"]
    assert desk.rows("list", "--active") == []
    [on] = desk.rows("enable", added["id"])
    assert on["is_active"]
    assert desk.rows("list", "--active", "--healthy") == [on]
    desk.rows("remove", added["id"])
    assert desk.rows("list") == []


def test_what_cannot_be_done_is_said_in_a_line(desk: Desk) -> None:
    [added] = desk.rows("add", "http://p.test:1", "--cost-per-gb-micros", "4500000")
    assert added["cost_micros"] == 0
    assert "each proxy is http, https or socks5" in desk.refused("add", f"jo:{PASSWORD}@p.test")
    assert added["id"] in desk.refused("add", "http://p.test:1")
    assert "see `penstock catalog proxies list`" in desk.refused("enable", UNKNOWN)
    assert "--all" in desk.refused("test")
    assert "cannot be read" in desk.refused("import", "nowhere.txt")


def test_a_table_is_for_people(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    [added] = desk.rows("add", f"http://jo:{PASSWORD}@p.test:1")
    desk.run("disable", added["id"])

    shown = desk.run("list").stdout

    assert "1 proxies" in shown
    assert f"{added['id']}  http://p.test:1" in shown
    assert "inactive" in shown


def test_a_file_is_imported_or_its_lines_are_named(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "proxies.txt"
    file.write_text(f"http://jo:{PASSWORD}@a.test:1\nhttp://b.test:2\n", encoding="utf-8")

    [dry] = desk.rows("import", str(file), "--dry-run")
    assert (dry["added"], desk.rows("list")) == (2, [])
    assert "2 proxies: 2 added, 0 there already" in desk.run("import", str(file)).stdout
    [again] = desk.rows("import", str(file))
    assert (again["added"], again["skipped"]) == (0, 2)
    [wrong] = desk.rows("import", "-", stdin=f"\nftp://jo:{PASSWORD}@c.test\n", code=1)
    assert [each["line"] for each in wrong["problems"]] == [2]


def test_proxies_are_tested(desk: Desk, open_port: int) -> None:
    [good] = desk.rows("add", f"http://jo:{PASSWORD}@127.0.0.1:{open_port}")
    assert [row["ok"] for row in desk.rows("test", good["id"])] == [True]
    desk.rows("add", "http://127.0.0.1:1")

    tested = desk.rows("test", "--all", code=1)

    assert sorted(row["ok"] for row in tested) == [False, True]
    [bad] = desk.rows("list", "--unhealthy")
    assert bad["proxy_port"] == 1


def test_keys_are_rotated(desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    desk.rows("add", f"http://jo:{PASSWORD}@a.test:1")
    old = (tmp_path / "keys" / "proxy-key").read_text()
    (tmp_path / "keys" / "proxy-key").unlink()
    monkeypatch.setenv(KEYS, "a passphrase of ours")
    [lost] = desk.rows("list")
    assert KEYS in lost["problem"]
    assert lost["id"] in desk.refused("rotate-keys")

    monkeypatch.setenv(KEYS, f"a passphrase of ours,{old}")
    assert desk.rows("rotate-keys") == [{"rotated": 1, "lost": []}]
    assert "1 passwords are encrypted" in desk.run("rotate-keys").stdout

    monkeypatch.setenv(KEYS, "a passphrase of ours")
    assert [row["problem"] for row in desk.rows("list")] == [None]


def test_a_key_that_is_too_short_is_refused_without_being_told(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEYS, PASSWORD)

    refused = desk.run("list")

    assert refused.exit_code != 0
    assert f"{KEYS}: " in str(refused.exception)
    assert "at least 16 characters" in str(refused.exception)
