"""Commands where there is no store: those that look at one, or change what is in it, make none."""

from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run

URL = "https://shop.example/product/1"
#: Words of command lines, each of which needs a store that is there already.
NEEDY = """
status
queue stats
queue stats --by domain
queue list
queue dead
queue revive --all
queue purge --state done --yes
queue stale
pause
resume --domain shop.example
events tail
events deliveries
events retry
webhooks list
webhooks resend --all
keys list
keys revoke somebody
schedule list
schedule remove first
forget --workspace acme --yes
backup all.tar.gz
monitor sources list
monitor sources approve Shop
monitor retailers list
monitor targets list
monitor targets add URL
monitor targets export
monitor runs list
monitor adapters list
monitor quarantine list
monitor prices list
monitor prices list --csv prices.csv
monitor prices history URL
monitor rules list
monitor why URL
monitor replay --adapter product
monitor shadow product
monitor alerts
live list
live show final
live updates final
live stop final
live restart final
live remove final --yes
live errors
live resolve 0
live health
"""


@pytest.mark.parametrize("line", NEEDY.split("\n")[1:-1])
def test_a_command_that_finds_no_store_names_the_place_and_makes_none(
    run: Run, tmp_path: Path, line: str
) -> None:
    ran = run(*line.replace("URL", URL).split())
    assert (ran.code, ran.out) == (2, "")
    assert f"no store in {tmp_path / 'penstock-data'}" in ran.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "line",
    [
        "keys create backend",
        "schedule add https://shop.example/ --every 1h",
        "monitor sources add Shop shop.example",
        "monitor retailers add Shop",
        "live start https://score.example/7 --select runs=.runs",
    ],
)
def test_a_command_that_begins_something_makes_a_store(run: Run, tmp_path: Path, line: str) -> None:
    assert run(*line.split()).code == 0
    assert (tmp_path / "penstock-data" / "penstock.db").exists()
