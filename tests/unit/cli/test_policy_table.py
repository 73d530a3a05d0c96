"""The table of policy keys for operators: complete, and without a key that does not exist."""

import re
from pathlib import Path

from penstock.kernel.policy import PolicyEntry

TABLE = Path(__file__).resolve().parents[3] / "docs" / "operations" / "policies.md"


def test_every_key_of_a_policy_is_explained() -> None:
    rows = re.findall(r"^\| (`.*?) \|", TABLE.read_text().split("\n## ")[0], re.MULTILINE)
    explained = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert explained == set(PolicyEntry.model_fields)
