"""A captcha, a denial or an empty shell is told from a page, whatever its status says."""

import time
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis.strategies import binary

from penstock.kernel.blocks import MAX_STRIPPED, detect, visible_text
from penstock.kernel.model import Blocked, Page
from tests.site.pages import html
from tests.site.shops import SHOPS, product_page

SOON = 0.1
HTML = {"Content-Type": "text/html; charset=utf-8"}
ARTICLE = "<p>" + "A long story about how a site works. " * 60 + "</p>"


def page(body: str | bytes, status: int = 200, headers: Mapping[str, str] = HTML) -> Page:
    content = body.encode() if isinstance(body, str) else body
    return Page("http://shop.test/", status, headers, content, 0.1)


def signal(found: Blocked | None) -> tuple[str, str] | None:
    return (found.reason, found.signal) if found else None


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("cf-mitigated", "challenge", "cloudflare"),
        ("x-datadome", "protected", "datadome"),
        ("x-amzn-waf-action", "Captcha", "aws-waf"),
        ("x-amzn-waf-action", "challenge", "aws-waf"),
    ],
)
@pytest.mark.parametrize("content_type", ["text/html", "application/json"])
def test_a_header_gives_a_block_away(name: str, value: str, kind: str, content_type: str) -> None:
    found = detect(page(ARTICLE, 403, {name: value, "Content-Type": content_type}))

    assert signal(found) == ("captcha", f"header:{kind}")


@pytest.mark.parametrize(
    ("title", "reason"),
    [
        ("Just a moment...", "captcha"),
        ("Attention Required! | Cloudflare", "captcha"),
        ("Robot Check", "captcha"),
        ("Are you a robot?", "captcha"),
        ("Human Verification", "captcha"),
        ("Security check", "captcha"),
        ("Access Denied", "access_denied"),
        ("Access to this page has been denied.", "access_denied"),
        ("Pardon Our Interruption", "access_denied"),
        ("Request blocked", "access_denied"),
    ],
)
def test_a_title_gives_a_block_away(title: str, reason: str) -> None:
    found = detect(page(html(title, ARTICLE)))

    assert found
    assert found.reason == reason
    assert found.signal.startswith("title:")


@pytest.mark.parametrize(
    "markup",
    [
        '<script src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1"></script>',
        "<script>window._cf_chl_opt={}</script>",
        '<script src="https://ct.captcha-delivery.com/c.js"></script>',
        '<div id="px-captcha"></div>',
        '<form action="/errors/validateCaptcha"></form>',
        '<iframe id="main-iframe" src="/_Incapsula_Resource?x"></iframe>',
    ],
)
@pytest.mark.parametrize("where", ["before", "after"])
def test_markup_that_only_challenges_have_gives_a_block_away(markup: str, where: str) -> None:
    body = markup + ARTICLE * 5 if where == "before" else ARTICLE * 5 + markup

    found = detect(page(html("A page", body)))

    assert found
    assert found.signal.startswith("markup:")


def test_a_large_page_may_speak_of_challenges() -> None:
    body = ARTICLE * 20 + '<div id="px-captcha"></div>'

    assert detect(page(html("A page", body))) is None


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("Please verify you are human to go on.", "captcha"),
        ("We have seen unusual traffic from your network.", "captcha"),
        ("Confirm that you are not a robot.", "captcha"),
        ("You don't have permission to access this.", "access_denied"),
        ("Sorry, you have been blocked", "access_denied"),
    ],
)
def test_words_give_a_block_away_where_a_page_says_little_else(words: str, reason: str) -> None:
    short = detect(page(html("Shop", f"<p>{words}</p>")))
    long = detect(page(html("Shop", f"<p>{words}</p>{ARTICLE}")))

    assert short
    assert short.reason == reason
    assert short.signal.startswith("text:")
    assert long is None


@pytest.mark.parametrize("host", SHOPS)
def test_no_product_page_is_taken_for_a_block(host: str) -> None:
    assert all(detect(page(product_page(host, number))) is None for number in range(1, 21))


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<p>ok</p>",
        html("Access control for beginners", ARTICLE),
        html("How captchas work", "<p>To verify you are human, sites ask …</p>" + ARTICLE),
        html("A gallery", '<img src="a.jpg"><script>start()</script>'),
        html("Sign in", '<form><input></form><script src="/a.js"></script>'),
        "<script>var words = 'access denied'</script>" + ARTICLE,
        "plain text, no markup at all",
    ],
)
def test_a_page_is_no_block(body: str) -> None:
    assert detect(page(body)) is None


@pytest.mark.parametrize("content_type", ["application/json", "text/plain", "application/pdf"])
def test_what_is_no_document_is_not_read(content_type: str) -> None:
    assert detect(page("access denied", 200, {"Content-Type": content_type})) is None


def test_an_unchanged_page_is_no_shell() -> None:
    assert detect(page("<script></script>", 304)) is None


SHELL = '<html><head><title>Shop</title></head><body><div id="root"></div>{}</body></html>'


def test_a_page_that_only_scripts_would_fill_is_an_empty_shell() -> None:
    found = detect(page(SHELL.format('<script src="/app.js"></script>')))

    assert signal(found) == ("empty_shell", "text:empty-shell")


def test_a_shell_with_a_program_in_it_is_still_empty() -> None:
    found = detect(page(SHELL.format(f"<script>{'go();' * 9000}</script>")))

    assert signal(found) == ("empty_shell", "text:empty-shell")


def test_what_was_not_looked_at_is_not_called_empty() -> None:
    state = f"<script>{'x' * MAX_STRIPPED}</script>"

    assert detect(page(SHELL.format(state + ARTICLE))) is None


@pytest.mark.parametrize(
    ("body", "seen"),
    [
        (b"", b""),
        (b"a<br>b", b"a b"),
        (b"  a \n\t b&nbsp;c ", b"a b c"),
        (b"<head><title>t</title></head>b", b"b"),
        (b"<header>h</header>b", b"h b"),
        (b"a<script>s</script>b<STYLE>s</style >c", b"a b c"),
        (b"a<!-- <p>s</p> -->b", b"a b"),
        (b"a<svg><path d='1'/></svg>b<noscript>s</noscript>c", b"a b c"),
        (b"a<script>s", b"a s"),
        (b"a<!-- s", b"a<!-- s"),
        (b"a<p", b"a<p"),
        (b"a < b", b"a < b"),
        (b"a<script>1</script><script>2</script>b", b"a b"),
    ],
)
def test_visible_text_is_what_a_reader_would_see(body: bytes, seen: bytes) -> None:
    assert visible_text(body) == seen


@given(binary())
def test_no_body_is_an_error(body: bytes) -> None:
    detect(page(body))


@pytest.mark.parametrize("tag", [b"<script ", b"<!--", b"<a ", b"<svg>", b"<head>", b"<", b"<>"])
def test_no_document_keeps_the_search_for_blocks_busy(tag: bytes) -> None:
    edge = b"<p>" + b" " * 8192
    few_and_far = page(tag * 50 + b" " * MAX_STRIPPED)
    many_in_the_middle = page(edge + tag * (MAX_STRIPPED // len(tag)) + edge)

    began = time.perf_counter()
    detect(few_and_far)
    detect(many_in_the_middle)

    assert time.perf_counter() - began < SOON
