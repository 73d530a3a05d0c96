"""The robots.txt of each host."""

from tests.site.answers import Hit, Plan, Reply, as_number
from tests.site.pages import every_path, html

PLAIN_TEXT = {"Content-Type": "text/plain; charset=utf-8"}
SIZE_THAT_MUST_BE_READ = 500 * 1024

OPEN = "User-agent: *\nAllow: /\n"
DENY_ALL = "User-agent: *\nDisallow: /\n"
HIDDEN = "User-agent: *\nDisallow: /hidden\n"

PARTLY = """\
# Penstock may do more than others, but not everything.
User-agent: *
Disallow: /
Allow: /public/

User-agent: Penstock
User-agent: SomeOtherBot
Disallow: /private/
Allow: /private/open/
Disallow: /*.pdf$
Disallow: /exact$
Disallow: /search?*sort=
Disallow: /tie
Allow: /tie
Disallow: /shorter
Allow: /shorter-is-weaker
Disallow: /caf%C3%A9

User-agent: penstock
Disallow: /second-group/
"""


def robots_reply(robots: str | Plan) -> Plan:
    return Reply(200, robots, PLAIN_TEXT) if isinstance(robots, str) else robots


def shop_robots(host: str, *extra: str) -> str:
    lines = ["User-agent: *", "Disallow: /cart", *extra, "", f"Sitemap: http://{host}/sitemap.xml"]
    return "\n".join([*lines, ""])


def oversized() -> str:
    """`/hidden` is denied just before the 500 KiB that must be read.

    A reader that cuts there and keeps the piece of a line before the cut reads
    `Disallow: /` and wrongly denies everything.
    """
    start = "User-agent: *\n"
    rule = "Disallow: /hidden\n"
    cut_rule = "Disallow: /"
    room = SIZE_THAT_MUST_BE_READ - len(start) - len(rule) - len(cut_rule)
    return start + _comments(room) + rule + cut_rule + "past-the-limit\n" + _comments(200 * 1024)


def _comments(size: int) -> str:
    line = "# " + "x" * 97 + "\n"
    whole, rest = divmod(size, len(line))
    return line * whole + "#" * (rest - 1) + "\n" * (rest > 0)


def slow(hit: Hit) -> Reply:
    return Reply(200, HIDDEN, PLAIN_TEXT, delay=hit.settings.robots_slow_seconds)


def redirected_pages(hit: Hit) -> Reply:
    """`/robots-N.txt` leads to the next, and the last of the chain has the rules."""
    if not hit.last_segment.startswith("robots-"):
        return every_path(hit)
    hop = int(as_number(hit.last_segment.removeprefix("robots-").removesuffix(".txt")))
    if hop < hit.settings.robots_redirects:
        return Reply(302, headers={"Location": f"http://{hit.host}/robots-{hop + 1}.txt"})
    return Reply(200, HIDDEN, PLAIN_TEXT)


LOOP = Reply(302, headers={"Location": "/robots.txt"})
MISSING = Reply(404, html("Not found", "<p>No robots.txt here.</p>"))
FAILING = Reply(500, html("Server error", "<p>Try again.</p>"))
SERVED_AS_HTML = Reply(200, html("Welcome", "<p>Every path shows this page.</p>"))
FIRST_REDIRECT = Reply(301, headers={"Location": "/robots-1.txt"})
