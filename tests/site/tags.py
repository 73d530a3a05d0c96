"""tagged.test and cookies.test: what pages say in headers and meta elements."""

import json

from tests.site.answers import Hit, Plan, Reply
from tests.site.pages import html, page

TAGGED: dict[str, Plan] = {
    "/header": Reply(200, html("Tagged", ""), {"X-Robots-Tag": "noindex, nofollow"}),
    "/agent": Reply(
        200,
        html("Tagged", ""),
        [("X-Robots-Tag", "otherbot: none"), ("X-Robots-Tag", "penstock: noindex")],
    ),
    "/meta": Reply(
        200, html("Tagged", "", '<meta name="robots" content="noindex, nofollow, noarchive">')
    ),
    "/untagged": page("Not tagged"),
}


def cookie_pages(hit: Hit) -> Reply:
    return Reply(
        200,
        html("Cookies", '<p>You have two now: <a href="/_echo">see</a>.</p>'),
        [
            ("Set-Cookie", "session=one; Path=/; HttpOnly"),
            ("Set-Cookie", "basket=empty; Path=/; Max-Age=3600"),
        ],
    )


def cookie_for_everyone(hit: Hit) -> Reply:
    """A cookie for the whole top-level domain, which must not be kept."""
    return Reply(200, html("Too wide", ""), {"Set-Cookie": "wide=1; Domain=test; Path=/"})


def echo(hit: Hit) -> Reply:
    """The request as it arrived, as JSON."""
    seen = {
        "host": hit.host,
        "method": hit.method,
        "path": hit.path,
        "headers": {name: ", ".join(hit.headers.getall(name)) for name in hit.headers},
        "body": hit.body.decode("latin-1"),
    }
    return Reply(200, json.dumps(seen), {"Content-Type": "application/json"})


COOKIES: dict[str, Plan] = {
    "/": cookie_pages,
    "/echo": echo,
    "/wide": cookie_for_everyone,
    "/away": Reply(
        302,
        headers=[("Location", "http://shop01.test/_echo"), ("Set-Cookie", "left=yes; Path=/")],
    ),
}
