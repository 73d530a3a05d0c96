"""The benchmark of the console, small: every page answers on rows that nobody typed."""

from pathlib import Path

from benchmarks.console import crowd, tell, visit


async def test_every_page_is_shown_with_many_rows(tmp_path: Path) -> None:
    where = {"folder": tmp_path}
    await crowd(where, 200)
    found = await visit(where, looks=1)

    assert len(found) > 60
    assert "/console/monitor/targets?after=…" in tell({"SQLite": found}, 200)
