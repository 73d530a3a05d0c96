"""`penstock extract`, `capture` and `adapter` on saved pages, in this process."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from penstock.cli import main
from tests.site.shops import product, product_page

LAMP, SOLD_OUT = product("shop01.test", 1), product("shop01.test", 7)
SETTING = "PENSTOCK_EXTRACT__ADAPTERS"


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


Run = Callable[..., Ran]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in a folder with two saved pages."""
    monkeypatch.chdir(tmp_path)
    Path("lamp.html").write_text(product_page("shop01.test", 1))
    Path("sold-out.html").write_text(product_page("shop01.test", 7))

    def run(*arguments: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["penstock", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return Ran(int(ended.value.code or 0), printed.out, printed.err)

    return run


@pytest.fixture
def draft(run: Run) -> Path:
    """An adapter that was just begun, from a case that was just captured."""
    run("capture", "lamp.html", "--url", LAMP.url, "--as", "shop01/lamp")
    ran = run("adapter", "new", "shop01", "--from", "shop01/lamp")
    assert ran.code == 0, ran.err
    return Path("adapters/shop01.py")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["capture", "lamp.html", "--url", LAMP.url, "--as", "../b"], 2, "NAME/CASE"),
        (["capture", "lamp.html", "--url", LAMP.url, "--as", "a/b/c"], 2, "NAME/CASE"),
        (["capture", "lamp.html", "--as", "a/b"], 2, "--url URL"),
        (["capture", "missing.html", "--as", "a/b"], 2, "there is no missing.html"),
        (["adapter", "new", "x", "--from", "a/b"], 2, "penstock capture URL --as a/b"),
        (["adapter", "new", "amazon", "--from", "a/b"], 2, "there is an adapter 'amazon' already"),
        (["adapter", "new", "product", "--from", "a/b"], 2, "adapter 'product' already"),
        (["adapter", "new", "../x", "--from", "a/b"], 2, "cannot name an adapter"),
        (["adapter", "test"], 1, "no cases in golden/*; first: penstock capture"),
        (["adapter", "test", "shop"], 1, "no cases in golden/shop; first: penstock capture"),
        (["adapter", "test", "../x"], 2, "is no name of golden cases"),
        (["adapter", "which", "nonsense"], 2, "not an absolute URL"),
        (["adapter", "which", LAMP.url, "--as", "nobody"], 2, "no adapter or target type 'nobody'"),
        (["extract"], 2, "nothing to read"),
        (["extract", "lamp.html"], 2, "lamp.html: say which URL"),
        (["extract", "lamp.html", "--url", LAMP.url, "--as", "nobody"], 2, "target type 'nobody'"),
        (["extract", "lamp.html", "--manifest", "m"], 2, "not both"),
        (["extract", "lamp.html", "-o", "x"], 2, "go with --manifest"),
        (["extract", "--manifest", "missing.jsonl"], 2, "missing.jsonl cannot be read"),
        (["extract", "--manifest", "lamp.html", "-o", "no/x"], 2, "no/x cannot be written"),
        (["extract", "--manifest", "lamp.html", "-o", "./lamp.html"], 2, "the manifest itself"),
    ],
)
def test_what_is_wrong_is_one_line(run: Run, arguments: list[str], code: int, says: str) -> None:
    ran = run(*arguments)

    assert (ran.code, ran.out) == (code, "")
    assert says in ran.err
    assert len(ran.err.splitlines()) == 1
    assert not Path("golden").exists()


@pytest.mark.parametrize(
    ("source", "says"),
    [("syntax error", "cannot be loaded"), ("x = 1", "no ADAPTER"), (None, "there is no file")],
)
@pytest.mark.parametrize(
    "command",
    [
        ["adapter", "list"],
        ["extract", "lamp.html", "--url", LAMP.url],
        ["extract", "--manifest", "-"],
    ],
)
def test_adapter_that_cannot_be_loaded_is_named(
    run: Run, monkeypatch: pytest.MonkeyPatch, source: str | None, says: str, command: list[str]
) -> None:
    if source:
        Path("mine.py").write_text(source)
    monkeypatch.setenv(SETTING, "mine.py")

    ran = run(*command)

    assert ran.code == 2
    assert ran.err.startswith(f"error: {SETTING}: ")
    assert says in ran.err


def test_nothing_is_overwritten_by_accident(run: Run, draft: Path) -> None:
    draft.write_text("# mine")
    meta = Path("golden/shop01/lamp/meta.json")
    capture = ["capture", "sold-out.html", "--url", SOLD_OUT.url, "--as", "shop01/lamp"]

    again = run("adapter", "new", "shop01", "--from", "shop01/lamp")
    assert (again.code, draft.read_text()) == (2, "# mine")
    again = run(*capture)
    assert (again.code, json.loads(meta.read_text())["url"]) == (2, LAMP.url)
    assert "--force" in again.err

    assert run(*capture, "--force").code == 0
    assert json.loads(meta.read_text())["url"] == SOLD_OUT.url
    expected = json.loads(meta.with_name("expected.json").read_text())
    assert expected["sku"] == SOLD_OUT.sku


def test_new_adapter_joins_those_that_are_loaded(
    run: Run, draft: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SETTING, str(draft))

    ran = run("adapter", "new", "other", "--from", "shop01/lamp", "--into", "mine")

    assert f"export {SETTING}=adapters/shop01.py,mine/other.py" in ran.out
    assert "           - adapters/shop01.py\n           - mine/other.py" in ran.out


def test_page_without_a_record_is_captured_all_the_same(run: Run) -> None:
    Path("nothing.html").write_text("<p>nothing</p>")

    ran = run("capture", "nothing.html", "--url", LAMP.url, "--as", "shop01/nothing")

    assert ran.code == 0
    assert "penstock adapter new shop01 --from shop01/nothing" in ran.out
    assert json.loads(Path("golden/shop01/nothing/expected.json").read_text())["ok"] is False


def test_extract_shows_where_each_field_comes_from(run: Run) -> None:
    ran = run("extract", "lamp.html", "--url", LAMP.url, "--explain")

    assert ran.code == 0, ran.err
    assert f"✓ accept  {LAMP.url}" in ran.out
    assert "the default is 'product'" in ran.out
    assert "json-ld Product.name" in ran.out


def test_extract_ends_with_1_where_a_record_cannot_be_trusted(run: Run) -> None:
    Path("nothing.html").write_text("<p>nothing</p>")

    ran = run("extract", "lamp.html", "nothing.html", "--url", LAMP.url, "--url", LAMP.url)

    assert ran.code == 1
    assert "✓ accept" in ran.out
    assert "✗ TITLE_NOT_FOUND" in ran.out


@pytest.mark.parametrize("command", [["adapter", "test"], ["extract", "golden/shop01/lamp"]])
def test_fault_of_an_adapter_is_shown_with_its_line(
    run: Run, draft: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    draft.write_text(draft.read_text().replace("return product_page", "1 / 0  #"))
    monkeypatch.setenv(SETTING, str(draft))

    ran = run(*command)

    assert ran.code == 1
    assert "the adapter failed: ZeroDivisionError" in ran.out + ran.err
    assert "adapters/shop01.py, line " in ran.out + ran.err


def test_broken_case_does_not_hide_the_others(run: Run, draft: Path) -> None:
    run("capture", "sold-out.html", "--url", SOLD_OUT.url, "--as", "shop01/sold-out")
    Path("golden/shop01/lamp/page.html").unlink()

    ran = run("adapter", "test", "--json")

    broken, fine = ran.objects
    assert ran.code == 1
    assert "page.html cannot be read" in broken["problem"]
    assert fine == {
        "case": "shop01/sold-out",
        "passed": True,
        "accepted": False,
        "problem": None,
        "differences": [],
        "unsteady": [],
    }


def test_what_differs_between_two_runs_cannot_be_accepted(
    run: Run, draft: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moody = "from itertools import count\nN = count()\nSELECTORS"
    source = draft.read_text().replace("SELECTORS", moody, 1)
    source = source.replace(
        "return product_page(document, SELECTORS)",
        "e = product_page(document, SELECTORS)\n    e.fields['mpn'] = next(N)\n    return e",
    )
    draft.write_text(source)
    monkeypatch.setenv(SETTING, str(draft))

    ran = run("adapter", "test", "--accept")

    assert ran.code == 1
    assert "it gave two different things: mpn" in ran.out
    assert json.loads(Path("golden/shop01/lamp/expected.json").read_text())["adapter"] == "product"


def test_which_explains_and_list_lists(run: Run) -> None:
    [chosen] = run("adapter", "which", LAMP.url, "--json").objects
    listed = run("adapter", "list", "--json").objects

    assert chosen["adapter"].startswith("product@")
    others = {other["adapter"].partition("@")[0] for other in chosen["others"]}
    assert others == {adapter["id"] for adapter in listed} - {"product"}
    assert all(other["why_not"] for other in chosen["others"])
    assert "sgammo.com/product/*" in run("adapter", "list").out.replace("\n", "").replace(" ", "")
    assert "product@" in run("adapter", "which", LAMP.url).out


def test_adapter_that_is_tested_but_not_loaded_is_noted(run: Run, draft: Path) -> None:
    ran = run("adapter", "test", "shop01")

    assert ran.code == 0
    assert (
        ran.err == f"note: no adapter 'shop01' is loaded ({SETTING}); the URL decides who reads\n"
    )
