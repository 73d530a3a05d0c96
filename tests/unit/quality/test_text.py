"""Texts come out as a reader would see them."""

import time

import pytest

from penstock.quality.text import MAX_RAW_TEXT, Unfit, clean_text


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("  Red \n\t shoe ", "Red shoe"),
        ("Red\u00a0shoe\u2003size\u30008", "Red shoe size 8"),
        ("<h1>Red <b>sh</b>oe</h1>", "Red shoe"),
        ("Red<br>shoe<br/>new", "Red shoe new"),
        ("Red<BR CLASS=x>shoe", "Red shoe"),
        ("Black &amp; Decker", "Black & Decker"),
        ("Black & Decker", "Black & Decker"),
        ("&lt;b&gt;bold&lt;/b&gt;", "bold"),
        ("&amp;lt;b&amp;gt;bold", "bold"),
        ("<<b>b>bold", "bold"),
        ("<scr\x00ipt>x</script>shoe", "shoe"),
        ('<a title="a > b">shoe</a>', "shoe"),
        ("<a title='it\"s > b'>shoe</a>", "shoe"),
        ('<a title="never closed>shoe</a>', "shoe"),
        ("<b don't>shoe's", "shoe's"),
        ("shoe <a href='x", "shoe"),
        ("shoe </", "shoe"),
        ("<script>if (a > b) {}</script>shoe<style>p {}</style >", "shoe"),
        ("shoe <SCRIPT type=x>never closed", "shoe"),
        ("shoe<!-- a > b --> new<!-->!<!-- never closed", "shoe new !"),
        ("<!DOCTYPE html><?xml?>shoe", "shoe"),
        ("width < 5 and > 3, I <3 it", "width < 5 and > 3, I <3 it"),
        ("re\x00d\x07 \ud800sh\u200boe\u202e", "red shoe"),
        ("red&#0;&#xD800;", "red\ufffd\ufffd"),
        ("<p> </p>", ""),
    ],
)
def test_text_is_what_a_reader_would_see(raw: str, clean: str) -> None:
    assert clean_text(raw) == clean


@pytest.mark.parametrize("text", ["&" + "amp;" * 50 + "lt;", "<" * 50 + "b>" * 50])
def test_text_wrapped_many_times_over_is_refused(text: str) -> None:
    with pytest.raises(Unfit, match="many times"):
        clean_text(text)


@pytest.mark.parametrize(
    "pattern",
    ["<", "<a ", '<a x="', "<a x='\"", "<!--", "<!", "<script>", "</", "&", "&amp;", "= ", "<b>"],
)
def test_hostile_text_takes_no_longer_than_its_length(pattern: str) -> None:
    text = pattern * (MAX_RAW_TEXT // len(pattern))

    started = time.process_time()
    clean_text(text)

    assert time.process_time() - started < 2
