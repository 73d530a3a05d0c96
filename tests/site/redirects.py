"""moved.test: redirects, good ones and such as a crawler must refuse."""

from urllib.parse import unquote

from tests.site.answers import Hit, Plan, Reply
from tests.site.pages import page


def to(location: str, status: int = 302) -> Reply:
    return Reply(status, headers={"Location": location})


def chain(hit: Hit) -> Reply:
    left = hit.last_number
    return to(f"/chain/{left - 1}") if left > 0 else page("The end of the chain")


def to_canary(hit: Hit) -> Reply:
    return to(f"http://127.0.0.1:{hit.canary_port}/")


def verbatim(hit: Hit) -> Reply:
    """Location is everything after `to=`, percent-decoded once, byte for byte."""
    status = 302 if hit.last_segment == "redirect" else hit.last_number
    return to(unquote(hit.path.partition("to=")[2], encoding="latin-1"), status)


PAGES: dict[str, Plan] = {
    "/old": to("/new", 301),
    "/new": page("The new place"),
    "/relative": to("new?from=relative"),
    "/to-shop": to("http://shop01.test/product/1"),
    "/chain/*": chain,
    "/loop": to("/loop"),
    "/to-private": to_canary,
    "/to-metadata": to("http://169.254.169.254/latest/"),
    "/to-file": to("file:///etc/passwd"),
    "/to-ftp": to("ftp://moved.test/file"),
    "/to-javascript": to("javascript:alert(1)"),
    "/redirect": verbatim,
    "/redirect/*": verbatim,
}
