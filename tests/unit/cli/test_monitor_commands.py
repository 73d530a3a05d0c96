"""`penstock monitor`: what ops type, and what they are told."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from penstock.cli.monitor import app
from penstock.core.errors import PenstockError
from tests.stores import make_sqlite

PAGE = "https://shop.example/product/1"


class Desk:
    """The command on a store with one source."""

    def run(self, *arguments: str, stdin: str = "") -> Result:
        ran = CliRunner().invoke(app, arguments, input=stdin)
        if ran.exception and not isinstance(ran.exception, SystemExit | PenstockError):
            raise ran.exception
        return ran

    def rows(self, *arguments: str) -> list[dict[str, Any]]:
        ran = self.run(*arguments, "--json")
        assert ran.exit_code == 0, ran.output
        return [json.loads(line) for line in ran.stdout.splitlines()]

    def refused(self, *arguments: str, stdin: str = "") -> str:
        """What is said of something that cannot be done, in one line."""
        ran = self.run(*arguments, stdin=stdin)
        assert ran.exit_code != 0
        said = str(ran.exception) if isinstance(ran.exception, PenstockError) else ran.stderr
        return " ".join(said.split())


@pytest.fixture
async def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    await make_sqlite(tmp_path)
    monkeypatch.setenv("PENSTOCK_STORE__FOLDER", str(tmp_path))
    return Desk()


@pytest.fixture
def shop(desk: Desk) -> Desk:
    assert desk.run("sources", "add", "Shop", "shop.example").exit_code == 0
    return desk


def test_a_new_source_is_told_what_is_missing(desk: Desk) -> None:
    added = desk.run("sources", "add", "Shop", "shop.example", "--retailer", "Shops & Co")
    assert "penstock monitor sources approve 'Shop'" in added.stdout
    [source] = desk.rows("sources", "list")
    assert (source["visibility_status"], source["retailer"]) == ("INELIGIBLE", "Shops & Co")
    [approved] = desk.rows("sources", "approve", "Shop")
    assert approved["tos_approved_by"]
    [revoked] = desk.rows("sources", "revoke", "Shop")
    assert revoked["tos_approved_by"] is None


def test_a_source_is_changed(shop: Desk) -> None:
    config = '{"rateLimit": {"requestsPerSecond": 0.2}, "fetcherType": "browser"}'
    [source] = shop.rows(
        *("sources", "edit", "Shop", "--config", config, "--trust-upc", "--adapter", "sgammo"),
        *("--visibility", "ELIGIBLE", "--not-robots-compliant"),
    )
    assert source["scrape_config"]["rateLimit"] == {"requestsPerSecond": 0.2}
    assert (source["upc_trusted"], source["robots_compliant"]) == (True, False)
    assert (source["adapter_id"], source["visibility_status"]) == ("sgammo", "ELIGIBLE")
    assert "not JSON" in shop.refused("sources", "edit", "Shop", "--config", "{")
    assert "scrape_config.speed" in shop.refused(
        "sources", "edit", "Shop", "--config", '{"speed": 1}'
    )
    assert "say what to change" in shop.refused("sources", "edit", "Shop")


def test_a_target_says_what_it_waits_for(shop: Desk) -> None:
    added = shop.run("targets", "add", PAGE, "--schedule", "6h")
    assert added.exit_code == 0
    assert "nobody has approved the terms of service of source 'Shop'" in added.stderr
    assert "penstock monitor sources approve 'Shop'" in added.stderr
    shop.run("sources", "approve", "Shop")
    assert shop.run("targets", "list").stderr == ""
    paused = shop.run("targets", "pause", PAGE)
    assert "it is paused" in paused.stderr


@pytest.mark.parametrize(
    ("command", "column", "value"),
    [
        ("pause", "status", "PAUSED"),
        ("resume", "status", "ACTIVE"),
        ("disable", "enabled", False),
        ("enable", "enabled", True),
        ("block", "robots_path_blocked", True),
        ("unblock", "robots_path_blocked", False),
    ],
)
def test_targets_are_switched_by_id_or_url(
    shop: Desk, command: str, column: str, value: object
) -> None:
    [target] = shop.rows("targets", "add", PAGE)
    [by_url] = shop.rows("targets", command, f"{PAGE}?utm_source=mail")
    assert by_url[column] == value
    [by_id] = shop.rows("targets", command, target["id"])
    assert by_id[column] == value


def test_a_target_is_edited_and_removed(shop: Desk) -> None:
    shop.rows("targets", "add", PAGE, "--schedule", "6h", "--notes", "a box")
    [edited] = shop.rows("targets", "edit", PAGE, "--no-schedule", "--priority", "4", "--notes", "")
    assert (edited["schedule"], edited["priority"], edited["notes"]) == (None, 4, None)
    assert "say what to change" in shop.refused("targets", "edit", PAGE)
    assert "no schedule" in shop.refused("targets", "edit", PAGE, "--schedule", "often")
    assert [row["note"] for row in shop.rows("targets", "remove", PAGE)] == ["deleted"]
    assert shop.rows("targets", "list") == []


def test_a_file_with_something_wrong_is_reported_by_line(shop: Desk, tmp_path: Path) -> None:
    file = tmp_path / "targets.csv"
    file.write_text(f"url,notes\n{PAGE},=1+1\nnonsense,\n", encoding="utf-8")
    ran = shop.run("targets", "import", str(file))
    assert ran.exit_code == 1
    assert "nonsense" in ran.stdout
    assert "1 lines cannot be imported: nothing was added" in ran.stderr
    assert shop.rows("targets", "list") == []


def test_a_file_goes_in_and_comes_out(shop: Desk, tmp_path: Path) -> None:
    text = f"url,notes\n{PAGE},=1+1\n"
    dry = shop.run("targets", "import", "-", "--dry-run", stdin=text)
    assert "1 lines: 1 would be added" in dry.stdout
    added = shop.run("targets", "import", "-", "--schedule", "1d", stdin=text)
    assert "1 lines: 1 added" in added.stdout
    assert "nothing was added" in shop.refused("targets", "import", "-", stdin=text)
    again = shop.run("targets", "import", "-", "--existing", "skip", stdin=text)
    assert "1 lines: 0 added, 1 skipped" in again.stdout

    file = tmp_path / "out.csv"
    assert shop.run("targets", "export", str(file)).exit_code == 0
    assert file.read_text(encoding="utf-8").splitlines()[1].endswith("'=1+1")
    [row] = shop.rows("targets", "export")
    assert (row["url"], row["notes"], row["schedule"]) == (PAGE, "=1+1", "1d")


def test_a_file_that_cannot_be_read_or_written_is_named(shop: Desk, tmp_path: Path) -> None:
    assert "No such file" in shop.refused("targets", "import", str(tmp_path / "none.csv"))
    (tmp_path / "latin.csv").write_bytes(b"url\nhttps://shop.example/caf\xe9\n")
    assert "see line 2" in shop.refused("targets", "import", str(tmp_path / "latin.csv"))
    assert "cannot be written" in shop.refused("targets", "export", str(tmp_path))


def test_a_run_is_started_by_hand_once_the_terms_are_approved(shop: Desk) -> None:
    shop.rows("targets", "add", PAGE)
    assert "no target can be read now" in shop.refused("runs", "start", PAGE)
    assert "say which targets" in shop.refused("runs", "start")
    shop.run("sources", "approve", "Shop")
    [launch] = shop.rows("runs", "start", "--source", "Shop")
    [run] = shop.rows("runs", "list", "--source", "Shop")
    assert (launch["runs"], run["trigger"]) == ([run["id"]], "MANUAL")
    assert shop.rows("runs", "show", run["id"]) == [run]
    [adapter] = shop.rows("adapters", "disable", "product@Shop", "--reason", "ToS_VIOLATION")
    assert (adapter["enabled"], adapter["disabled_reason"]) == (False, "ToS_VIOLATION")
    [adapter] = shop.rows("adapters", "enable", "product@Shop")
    assert adapter["needs_canary"]


def test_rules_are_kept(shop: Desk) -> None:
    shop.rows("targets", "add", PAGE)
    arguments = ("rules", "add", "below_price", "--target", PAGE, "--threshold", "9.50")
    assert "needs its currency" in shop.refused(*arguments)
    [rule] = shop.rows(*arguments, "--currency", "USD")
    assert rule["threshold"] == "9.50"
    assert not shop.rows("rules", "disable", rule["id"])[0]["enabled"]
    assert shop.rows("rules", "show", rule["id"]) == [rule | {"enabled": False}]
    shop.rows("rules", "remove", rule["id"])
    assert shop.rows("rules", "list") == []
    assert "is no amount" in shop.refused(*arguments[:-1], "much")


def test_rules_are_found_by_what_they_are_of(shop: Desk) -> None:
    other = "https://shop.example/product/2"
    shop.rows("targets", "add", PAGE, other)
    rules = [shop.rows("rules", "add", "back_in_stock", "--target", each) for each in (PAGE, other)]
    assert shop.rows("rules", "list", "--target", other) == rules[1]
    assert shop.rows("rules", "list") == [rule for [rule] in rules]
    assert shop.rows("rules", "list", "--product", "nothing") == []


def test_a_retailer_may_have_several_sources(desk: Desk) -> None:
    [added] = desk.rows("retailers", "add", "Shops & Co", "--website", "https://shops.example")
    assert added["website_url"] == "https://shops.example/"
    for name in ("one", "two"):
        desk.rows("sources", "add", name, f"{name}.example", "--retailer", "Shops & Co")
    assert desk.rows("retailers", "list") == [added]
    [source] = desk.rows("sources", "list", "--domain", "two.example")
    assert (source["name"], source["retailer_id"]) == ("two", added["id"])
    assert "one of that name" in desk.refused("retailers", "add", "Shops & Co")
    assert "website_url" in desk.refused("retailers", "add", "Other", "--website", "nonsense")


def test_a_source_that_moves_has_to_be_approved_anew(shop: Desk) -> None:
    shop.run("sources", "approve", "Shop")
    moved = shop.run("sources", "edit", "Shop", "--domain", "www.shop2.example")
    assert "penstock monitor sources approve 'Shop'" in moved.stdout
    [source] = shop.rows("sources", "show", "Shop")
    assert (source["domain"], source["tos_approved_by"]) == ("shop2.example", None)
    assert "domain" in shop.refused("sources", "edit", "Shop", "--domain", "..")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("targets", "show", PAGE), "There is no target with this URL"),
        (("targets", "pause", "0" * 32), "Target not found"),
        (("targets", "list", "--source", "Nobody"), "There is no such source"),
        (("runs", "show", "nothing"), "penstock monitor runs list"),
        (("adapters", "enable", "nothing"), "nothing"),
        (("quarantine", "discard", "nothing", "--why", "x"), "quarantine"),
        (("prices", "history", PAGE), "There is no target with this URL"),
        (("prices", "show", "nothing"), "see `penstock monitor prices list`"),
        (("prices", "list", "--target", PAGE), "There is no target with this URL"),
        (("prices", "list", "--until", "soon"), "'soon' is no time; write 7d"),
        (("rules", "show", "nothing"), "see `penstock monitor rules list`"),
        (("runs", "retry", "nothing"), "see `penstock monitor runs list`"),
        (("sources", "show", "Nobody"), "see `penstock monitor sources list`"),
        (("prices", "current", "nothing"), "Product not found"),
        (("prices", "correct", "nothing", "--why", "x"), "--hide or --amount"),
        (("why", PAGE), "There is no target with this URL"),
        (("replay", "--adapter", "nothing"), "there is no adapter 'nothing'"),
    ],
)
def test_what_is_not_there_is_said(desk: Desk, arguments: tuple[str, ...], said: str) -> None:
    assert said in desk.refused(*arguments)


def test_the_help_teaches(desk: Desk) -> None:
    shown = " ".join(desk.run("--help").stdout.split())
    for name in ("sources", "targets", "runs", "adapters", "quarantine", "prices", "why", "replay"):
        assert name in shown
    assert "terms of service" in shown
