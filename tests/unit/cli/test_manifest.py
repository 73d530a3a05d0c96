"""A manifest over several processes: order, broken lines, and workers that die."""

import json
from pathlib import Path
from typing import Any

import pytest

from penstock.cli.manifest import AHEAD, CHUNK, Manifest, ReadingCrew, run_manifest
from penstock.settings import Settings, load_settings
from tests.unit.extract.readers import FILE, LAMP

JOBS = 2
#: More lines than are under way at a time.
MANY = JOBS * AHEAD * CHUNK * 2 + 3


@pytest.fixture
def settings() -> Settings:
    return load_settings(extract={"adapters": (str(FILE),)})


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lamp.html").write_bytes(LAMP)
    Path("deadly.html").write_text("PLEASE DIE")
    Path("faulty.html").write_text("PLEASE FAIL")


def line(number: int, path: str = "lamp.html", **fields: Any) -> str:
    return json.dumps({"path": path, "url": f"https://shop.example/{number}", **fields})


def run(lines: list[str], settings: Settings) -> tuple[int, list[dict[str, Any]]]:
    Path("manifest.jsonl").write_text("\n".join(lines) + "\n")
    manifest = Manifest("manifest.jsonl", Path("out.jsonl"), "", explain=False, jobs=JOBS)
    code = run_manifest(manifest, settings)
    return code, [json.loads(text) for text in Path("out.jsonl").read_text().splitlines()]


def test_lines_come_out_in_order(settings: Settings) -> None:
    code, out = run([line(number) for number in range(MANY)], settings)

    assert code == 0
    assert [read["url"] for read in out] == [f"https://shop.example/{n}" for n in range(MANY)]
    assert {read["price"] for read in out} == {"12.50"}
    assert {read["path"] for read in out} == {"lamp.html"}


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ("nonsense", "not JSON"),
        ("[]", "a line must be"),
        ('{"path": 1, "url": "https://shop.example/"}', "a line must be"),
        ('{"path": "lamp.html"}', "a line must be"),
        (line(0, "missing.html"), "missing.html cannot be read"),
        (line(0, "."), ". cannot be read"),
        (line(0, "lamp\0.html"), "is no path"),
        (line(0, "lamp\ud800.html"), "is no path"),
        (line(0, url="ftp://shop.example/"), "only http and https"),
        (line(0, **{"as": "nobody"}), "no adapter or target type 'nobody'"),
        (line(0, "faulty.html"), "the adapter failed: ZeroDivisionError"),
    ],
)
def test_a_line_that_cannot_be_read_says_why_in_its_place(
    settings: Settings, broken: str, says: str
) -> None:
    code, (first, second, third) = run([line(1), broken, line(3)], settings)

    assert code == 1
    assert (first["ok"], second["ok"], third["ok"]) == (True, False, True)
    assert says in second["error"]
    assert set(second) == {"ok", "error", "path", "url"}


def test_a_worker_that_dies_takes_only_its_page_along(settings: Settings) -> None:
    deadly = {5, 6, MANY - 1}
    lines = [line(n, "deadly.html" if n in deadly else "lamp.html") for n in range(MANY)]

    code, out = run(lines, settings)

    assert code == 1
    assert {number for number, read in enumerate(out) if not read["ok"]} == deadly
    assert [read["url"] for read in out] == [f"https://shop.example/{n}" for n in range(MANY)]
    assert "died of it" in out[5]["error"]


def test_paths_are_seen_from_here_then_from_the_manifest(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "elsewhere"
    here.mkdir()
    (here / "both.html").write_bytes(LAMP.replace(b"Lamp", b"Here"))
    (tmp_path / "both.html").write_bytes(LAMP.replace(b"Lamp", b"There"))
    (tmp_path / "manifest.jsonl").write_text(f"{line(1)}\n{line(2, 'both.html')}\n")
    monkeypatch.chdir(here)

    manifest = Manifest("../manifest.jsonl", None, "", explain=True, jobs=1)
    with ReadingCrew(manifest, settings) as crew:
        read = list(crew.read((tmp_path / "manifest.jsonl").read_bytes().splitlines()))

    assert [json.loads(one.line)["name"] for one in read] == ["Lamp", "Here"]
    assert json.loads(read[0].line)["evidence"]["price"]["source"] == "css .price"


def test_a_page_without_a_record_is_still_a_line_that_could_be_read(settings: Settings) -> None:
    Path("empty.html").write_text("")

    code, [read] = run(["", line(1, "empty.html"), "  "], settings)

    assert code == 0
    assert (read["ok"], read["reason"]) == (False, "EMPTY_PAGE")
