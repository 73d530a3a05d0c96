"""Templates: everything is escaped, and nothing runs or is styled but by files of ours."""

import re
from pathlib import Path

import pytest

from penstock.console.pages import POLICY, TEMPLATES


def test_policy_lets_nothing_run_that_is_not_a_file_of_ours() -> None:
    assert "default-src 'none'" in POLICY
    assert "script-src 'self';" in POLICY
    assert "style-src 'self';" in POLICY
    assert "frame-ancestors 'none'" in POLICY
    assert "base-uri 'none'" in POLICY
    assert "unsafe" not in POLICY


@pytest.mark.parametrize("path", sorted(TEMPLATES.glob("*.html")), ids=lambda path: path.name)
def test_templates_escape_everything_and_have_no_script_or_style_of_their_own(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert not re.search(r"\|\s*safe\b|Markup|autoescape\s+false", text)
    assert not re.search(r"<style|\sstyle\s*=|\son[a-z]+\s*=|javascript:", text, re.I)
    assert re.findall(r"<script[^>]*>", text) == (
        ['<script src="{{ root }}/static/console.js" defer>'] if path.name == "base.html" else []
    )
    assert not re.search(r"(?:src|href)\s*=\s*[\"']?(?:https?:)?//", text, re.I)
    # An attribute without quotes ends wherever its value says.
    assert not re.search(r"\s[a-z-]+=\{\{", text)
