"""Robots files, however written, against a plain reading of RFC 9309: property 25."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote, unquote_to_bytes

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.core.urls import parse
from penstock.kernel.robots import RobotsFile, read

AGENT = "Penstock"
#: What names us, what names everybody, and what only looks like us.
OURS, STAR, OTHERS = ("Penstock", "penstock/2.0", "PENSTOCK"), "*", ("Pen", "Penstockbot", "x")
#: The same letters in several spellings.
LETTERS = ("a", "b", "%61", "é", "%C3%A9", "%c3%a9", "%FF", "-", "/", "?", "/index.html")
SPELLINGS = {
    **dict.fromkeys(("a", "%61"), ("a", "%61")),
    **dict.fromkeys(("é", "%C3%A9", "%c3%a9"), ("é", "%C3%A9", "%c3%a9")),
    "%24": ("$", "%24"),
}
SPELLING = re.compile("|".join(sorted(SPELLINGS, reverse=True)))
NOISE = ("", "# a comment", "Sitemap: http://h.test/s.xml", "Noindex: /", "nonsense", "  ")


@dataclass(frozen=True)
class Rule:
    allows: bool
    pattern: str

    @property
    def octets(self) -> int:
        """How specific the rule is: the octets of its pattern, encoded the one right way."""
        body = self.pattern.removesuffix("$")
        return len(quote(unquote_to_bytes(body), safe="/*?")) + len(self.pattern) - len(body)

    def matches(self, target: str) -> bool:
        body, anchor = self.pattern.removesuffix("$"), self.pattern.endswith("$")
        parts = (re.escape(unquote_to_bytes(part)) for part in body.split("*"))
        expression = b".*".join(parts) + (b"$" if anchor else b"")
        return re.match(expression, unquote_to_bytes(target), re.S) is not None


@dataclass(frozen=True)
class Group:
    agents: tuple[str, ...]
    rules: tuple[Rule, ...]


def permitted(groups: Iterable[Group], target: str, names: Iterable[str]) -> bool:
    """Whether all groups for these names taken together permit the target."""
    rules = [rule for group in groups if set(names) & set(group.agents) for rule in group.rules]
    matching = [(rule.octets, rule.allows) for rule in rules if rule.matches(target)]
    return max(matching, default=(0, True))[1]


def oracle(groups: list[Group], target: str, obey_star: bool) -> bool:
    named = {name for group in groups for name in group.agents}
    ours = permitted(groups, target, OURS)
    star = permitted(groups, target, [STAR])
    if obey_star:
        return ours and star
    return ours if named & set(OURS) else star


letters = st.sampled_from((*LETTERS, "$"))
patterns = st.builds(
    lambda letters, end: "/" + "".join(letters) + end,
    st.lists(st.sampled_from((*LETTERS, "*", "*", "%24")), max_size=5),
    st.sampled_from(["", "", "$"]),
)
rules = st.builds(Rule, st.booleans(), patterns)
agents = st.lists(st.sampled_from((*OURS, STAR, *OTHERS)), min_size=1, max_size=2).map(tuple)
files = st.lists(
    st.builds(Group, agents, st.lists(rules, min_size=1, max_size=4).map(tuple)), max_size=4
)


@st.composite
def targets(draw: st.DrawFn, groups: list[Group]) -> str:
    """A path that a rule is likely to match: one of the patterns, spelt anew and gone on with."""
    patterns = [rule.pattern for group in groups for rule in group.rules]
    path = draw(st.sampled_from(["/", *patterns])).removesuffix("$")
    path = SPELLING.sub(lambda found: draw(st.sampled_from(SPELLINGS[found[0]])), path)
    path = re.sub(r"\*", lambda _: "".join(draw(st.lists(letters, max_size=2))), path)
    more = draw(st.lists(letters, max_size=2))
    return parse(f"http://h.test{path}{''.join(more)}").target


@st.composite
def written(draw: st.DrawFn, groups: list[Group]) -> bytes:
    """The file as somebody might write it: any case, spaces, comments, noise and line ends."""
    lines: list[str] = draw(st.sampled_from([[], ["Disallow: /"], ["\ufeff# robots"]]))
    for group in groups:
        fields = [("User-Agent", agent) for agent in group.agents]
        fields += [("Allow" if rule.allows else "Disallow", rule.pattern) for rule in group.rules]
        for name, value in fields:
            spelt = draw(st.sampled_from([name, name.lower(), name.upper(), f" {name}\t"]))
            lines = [
                *lines,
                draw(st.sampled_from(NOISE)),
                f"{spelt}:{draw(gaps)}{value}{draw(ends)}",
            ]
    return draw(st.sampled_from(["\n", "\r", "\r\n"])).join([*lines, ""]).encode()


gaps = st.sampled_from(["", " ", "\t "])
ends = st.sampled_from(["", " ", " # why not"])


# Feature: scraping-microservices, Property 25: Robots.txt compliance
@pytest.mark.property_number(25)
@settings(max_examples=500, deadline=None)
@given(st.data(), files, st.booleans())
def test_url_is_allowed_if_and_only_if_the_rules_permit_it(
    data: st.DataObject, groups: list[Group], obey_star: bool
) -> None:
    target = data.draw(targets(groups))
    file = RobotsFile(read(data.draw(written(groups)), 512 * 1024))
    expected = target.partition("?")[0] == "/robots.txt" or oracle(groups, target, obey_star)

    assert file.allows(target, AGENT, obey_star=obey_star) == expected
    assert file.decide(target, AGENT, obey_star=obey_star).allowed == expected
