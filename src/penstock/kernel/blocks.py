"""Blocks: captchas, access-denied pages and empty shells, whatever their status says.

A page with a reCAPTCHA in its review form is a page. So what proves a block is looked for in
headers, in the title and in markup that only challenge pages have; words that any page may
contain count only where a page says little else.
"""

import re

from penstock.kernel.model import Blocked, Page

#: A page with so few tags at its beginning may be a refusal or a shell.
EDGE = 4096
FEW_TAGS = 60
TITLE_REACH = 16 * 1024
#: Challenge pages without a telling title or header are smaller than this.
LARGE = 16 * 1024
OK, NOT_MODIFIED = 200, 304
#: What has more of them is no refusal and no shell, however little its edges say.
MANY_TAGS = 600
#: A refusal page has no more visible text than this; an article about one has.
SHORT_TEXT = 600
SHELL_TEXT = 40
#: What scripts have had their time with says what it has to say, be it little.
EMPTY = 1
MAX_STRIPPED = 256 * 1024

_HEADER_SIGNALS = (
    ("cf-mitigated", "challenge", "cloudflare"),
    ("x-datadome", "protected", "datadome"),
    ("x-amzn-waf-action", "captcha", "aws-waf"),
    ("x-amzn-waf-action", "challenge", "aws-waf"),
)
_TITLES = (
    (b"just a moment...", "captcha", "cloudflare"),
    (b"attention required! | cloudflare", "captcha", "cloudflare"),
    (b"robot check", "captcha", "robot-check"),
    (b"are you a robot", "captcha", "robot-check"),
    (b"human verification", "captcha", "human-verification"),
    (b"security check", "captcha", "security-check"),
    (b"captcha", "captcha", "captcha-title"),
    (b"access denied", "access_denied", "access-denied"),
    (b"access to this page has been denied", "access_denied", "access-denied"),
    (b"pardon our interruption", "access_denied", "interruption"),
    (b"request blocked", "access_denied", "request-blocked"),
)
_MARKUP = (
    (b"orchestrate/chl_page", "captcha", "cloudflare"),
    (b"_cf_chl_opt", "captcha", "cloudflare"),
    (b"captcha-delivery.com", "captcha", "datadome"),
    (b"px-captcha", "captcha", "perimeterx"),
    (b"/errors/validatecaptcha", "captcha", "amazon"),
    (b'main-iframe" src="/_incapsula_resource', "captcha", "imperva"),
)
_TITLE = re.compile(rb"<title[^>]*>([^<]{0,200})", re.I)
_WORDS = (
    (b"verify you are human", "captcha", "verify-human"),
    (b"verify you are a human", "captcha", "verify-human"),
    (b"are you a robot", "captcha", "robot-check"),
    (b"not a robot", "captcha", "robot-check"),
    (b"complete the captcha", "captcha", "captcha-text"),
    (b"enter the characters you see", "captcha", "captcha-text"),
    (b"unusual traffic", "captcha", "unusual-traffic"),
    (b"access denied", "access_denied", "access-denied"),
    (b"you don't have permission to access", "access_denied", "permission"),
    (b"you have been blocked", "access_denied", "blocked-text"),
    (b"your ip has been", "access_denied", "ip-blocked"),
)
_HIDING = re.compile(rb"<(script|style|noscript|template|svg|head)\b|<!--")
_SPACE = re.compile(rb"\s+|&nbsp;")
_MEDIA = (b"<img", b"<video", b"<object", b"<embed", b"<iframe", b"<frame", b"<form")


def detect(page: Page) -> Blocked | None:
    """What kind of block a page is, with the signal that gave it away; None for a page."""
    # A challenge that says so in a header never comes as a plain success.
    if page.status != OK and (blocked := _by_header(page)):
        return blocked
    if page.status == NOT_MODIFIED or not page.is_html:
        return None
    body = page.body
    return (
        _by_title(page)
        or (_by_markup(page) if len(body) <= LARGE else None)
        or (_by_text(page) if body.count(b"<", 0, EDGE) < FEW_TAGS else None)
    )


def _by_header(page: Page) -> Blocked | None:
    for name, value, signal in _HEADER_SIGNALS:
        if value in page.headers.get(name, "").lower():
            return _blocked(page, "captcha", f"header:{signal}")
    return None


def _by_title(page: Page) -> Blocked | None:
    match = _TITLE.search(page.body, 0, TITLE_REACH)
    if not match:
        return None
    title = match[1].strip().lower()
    for words, kind, signal in _TITLES:
        if title.startswith(words):
            return _blocked(page, kind, f"title:{signal}")
    return None


def _by_markup(page: Page) -> Blocked | None:
    body = page.body.lower()
    for markup, kind, signal in _MARKUP:
        if markup in body:
            return _blocked(page, kind, f"markup:{signal}")
    return None


def _by_text(page: Page) -> Blocked | None:
    """Only a page with few tags is worth reading: refusals and shells are small."""
    start = page.body[:MAX_STRIPPED]
    if start.count(b"<") >= MANY_TAGS:
        return None
    text = visible_text(start).lower()
    if len(text) < SHORT_TEXT:
        for words, kind, signal in _WORDS:
            if words in text:
                return _blocked(page, kind, f"text:{signal}")
    lowered = start.lower()
    if (
        len(text) < (SHELL_TEXT if page.fetcher == "http" else EMPTY)
        and len(start) == len(page.body)
        and b"<script" in lowered
        and not any(tag in lowered for tag in _MEDIA)
    ):
        return _blocked(page, "empty_shell", "text:empty-shell")
    return None


def visible_text(body: bytes) -> bytes:
    """Roughly what a reader would see, in one pass, without building the document."""
    seen: list[bytes] = []
    missing: set[bytes] = set()
    lowered = body.lower()
    at = 0
    while (start := lowered.find(b"<", at)) >= 0:
        end = _end_of_hidden(lowered, start, missing)
        if end == 0:
            break
        seen.append(body[at:start])
        at = end
    seen.append(body[at:])
    return _SPACE.sub(b" ", b" ".join(seen)).strip()


def _end_of_hidden(lowered: bytes, start: int, missing: set[bytes]) -> int:
    """Where a tag ends, with what it hides; 0 if nowhere. What is `missing` is not sought again."""
    hiding = _HIDING.match(lowered, start)
    closings = (b"-->" if hiding[0] == b"<!--" else b"</" + hiding[1], b">") if hiding else (b">",)
    for closing in closings:
        if closing not in missing:
            at = lowered.find(closing, start)
            if at >= 0:
                return lowered.find(b">", at) + 1
            missing.add(closing)
    return 0


def _blocked(page: Page, kind: str, signal: str) -> Blocked:
    details = {
        "captcha": "the site asks for a captcha",
        "access_denied": "the site denies access",
        "empty_shell": "the page is an empty shell that needs JavaScript",
    }
    return Blocked(kind, details[kind], page.status, signal)
