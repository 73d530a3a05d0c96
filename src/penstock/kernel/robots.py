"""Robots: what a site lets us fetch, by RFC 9309, and why.

Which group speaks to us is decided here: the group of our product token if there is one,
else `*` (`obey_star` obeys both). Whether a rule matches a URL is Protego's work.
"""

import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from protego import Protego

from penstock.core.clock import Clock
from penstock.kernel.ports import RobotsAnswer, RobotsCache
from penstock.kernel.settings import RobotsSettings

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: Put before a path that is asked of Protego: alone, one that begins with // is no path to it.
SOME_ORIGIN = "http://origin"
#: What a parsed file costs beside its text, for the bound of the cache.
ENTRY_BYTES = 2048
MAX_PARSED = 4096

_PRODUCT_TOKEN = re.compile(r"[a-z_-]*", re.I)
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a robots file that may decide: `field` is allow or disallow."""

    line: int
    field: str
    path: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.field.capitalize()}: {self.path}"


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a URL may be fetched, and which group and line said so."""

    allowed: bool
    group: str
    rule: Rule | None = None
    reason: str = ""

    def __str__(self) -> str:
        if not self.group:
            return self.reason or "no group applies"
        if self.rule is None:
            return f"group '{self.group}', no rule matches"
        return f"group '{self.group}', {self.rule}"


@dataclass(slots=True)
class _Group:
    """All rules for one agent, wherever in the file they stand."""

    agent: str
    rules: list[Rule] = field(default_factory=list)
    crawl_delay: float | None = None


class Matcher:
    """The rules of one group, ready to be asked."""

    def __init__(self, group: _Group) -> None:
        self.agent = group.agent
        self.crawl_delay = group.crawl_delay
        self._rules = group.rules
        self._protego = _as_protego(group.rules)

    def allows(self, target: str) -> bool:
        """Whether the path and query of a URL may be fetched."""
        return self._protego.can_fetch(SOME_ORIGIN + target, "*")

    def decide(self, target: str) -> Decision:
        """The same with the reason: the longest rule that matches, Allow before Disallow."""
        allowed = self.allows(target)
        word = "allow" if allowed else "disallow"
        matching = [
            rule
            for rule in self._rules
            if rule.field == word
            and not _as_protego([Rule(0, "disallow", rule.path)]).can_fetch(
                SOME_ORIGIN + target, "*"
            )
        ]
        longest = max(matching, key=lambda rule: len(rule.path), default=None)
        return Decision(allowed, self.agent, longest)


class RobotsFile:
    """A parsed robots.txt."""

    def __init__(self, text: str) -> None:
        self._groups = _read_groups(text)
        self._voices: dict[tuple[str, bool], tuple[Matcher, ...]] = {}

    def allows(self, target: str, agent: str, *, obey_star: bool = False) -> bool:
        """Whether the agent may fetch the path and query of a URL."""
        if target == "/robots.txt":
            return True
        return all(voice.allows(target) for voice in self._voices_for(agent, obey_star))

    def decide(self, target: str, agent: str, *, obey_star: bool = False) -> Decision:
        """The same, explained."""
        if target == "/robots.txt":
            return Decision(allowed=True, group="")
        decisions = [voice.decide(target) for voice in self._voices_for(agent, obey_star)]
        denied = next((decision for decision in decisions if not decision.allowed), None)
        return denied or next(iter(decisions), Decision(allowed=True, group=""))

    def crawl_delay(self, agent: str, *, obey_star: bool = False) -> float | None:
        """The longest delay that the groups for the agent ask for, if any."""
        delays = (voice.crawl_delay for voice in self._voices_for(agent, obey_star))
        return max((delay for delay in delays if delay is not None), default=None)

    def _voices_for(self, agent: str, obey_star: bool) -> tuple[Matcher, ...]:
        voices = self._voices.get((agent, obey_star))
        if voices is None:
            voices = tuple(Matcher(group) for group in self._groups_for(agent, obey_star))
            self._voices[agent, obey_star] = voices
        return voices

    def _groups_for(self, agent: str, obey_star: bool) -> list[_Group]:
        own = self._groups.get(agent.lower())
        star = self._groups.get("*")
        chosen = [own] if own else []
        if star and (obey_star or not own):
            chosen.append(star)
        return chosen


def read(body: bytes, max_bytes: int) -> str:
    """The text of a robots.txt as far as it is looked at; a cut line at the end is dropped."""
    if len(body) >= max_bytes:
        body = body[: max(body.rfind(b"\n", 0, max_bytes), body.rfind(b"\r", 0, max_bytes)) + 1]
    return body.removeprefix(BYTE_ORDER_MARK).decode("utf-8", errors="replace")


def _read_groups(text: str) -> dict[str, _Group]:
    """Collect the rules by agent; consecutive User-agent lines share what follows."""
    groups: dict[str, _Group] = {}
    current: list[_Group] = []
    names_open = False
    for number, line in enumerate(_LINE_END.split(text), start=1):
        word, separator, value = line.partition("#")[0].partition(":")
        word, value = word.strip().lower(), value.strip()
        if not separator:
            continue
        if word == "user-agent":
            if not names_open:
                current, names_open = [], True
            name = _agent_name(value)
            current.append(groups.setdefault(name, _Group(name)))
        elif word in ("allow", "disallow"):
            names_open = False
            if value:
                for group in current:
                    group.rules.append(Rule(number, word, value))
        elif word == "crawl-delay":
            names_open = False
            for group in current:
                group.crawl_delay = _seconds(value, group.crawl_delay)
    return groups


def _agent_name(value: str) -> str:
    """The product token a User-agent line names: `Penstock/2.0 beta` is `penstock`."""
    if value.startswith("*"):
        return "*"
    match = _PRODUCT_TOKEN.match(value)
    return match[0].lower() if match else ""


def _seconds(value: str, before: float | None) -> float | None:
    try:
        seconds = float(value)
    except ValueError:
        return before
    # NaN and negative numbers compare false.
    return max(seconds, before or 0.0) if 0 <= seconds < float("inf") else before


def _as_protego(rules: Sequence[Rule]) -> Protego:
    lines = (f"{rule.field}: {rule.path}" for rule in rules)
    return Protego.parse("User-agent: *\n" + "\n".join(lines))


class Rules:
    """What holds for one origin right now; parsing waits until somebody asks."""

    def __init__(self, answer: RobotsAnswer, good_until: float) -> None:
        self.answer = answer
        self.good_until = good_until

    @cached_property
    def file(self) -> RobotsFile:
        """The parsed file; an origin without one allows everything."""
        return RobotsFile(self.answer.text)


class Robots:
    """The robots gate: parsed answers in front of the cache, and the one who may ask."""

    def __init__(self, cache: RobotsCache, settings: RobotsSettings, clock: Clock) -> None:
        self._cache = cache
        self._settings = settings
        self._clock = clock
        self._parsed: OrderedDict[str, Rules] = OrderedDict()

    async def known(self, origin: str) -> Rules | None:
        """What the origin said, unless that is not known or too old."""
        now = self._clock.monotonic()
        rules = self._parsed.get(origin)
        if rules is not None and rules.good_until > now:
            return rules
        entry = await self._cache.get(origin)
        if entry is None:
            self._parsed.pop(origin, None)
            return None
        rules = self._parsed[origin] = Rules(entry[0], now + entry[1])
        if len(self._parsed) > MAX_PARSED:
            self._parsed.popitem(last=False)
        return rules

    def delay(self, rules: Rules, agent: str, *, obey_star: bool) -> float:
        """The crawl delay the origin asks for, within bounds; 0 if it asks for none."""
        delay = rules.file.crawl_delay(agent, obey_star=obey_star)
        if delay is None:
            return 0.0
        return min(max(delay, self._settings.min_crawl_delay), self._settings.max_crawl_delay)

    async def claim(self, origin: str) -> bool:
        """True for the one that shall ask the origin."""
        return await self._cache.claim(origin, self._settings.claim_seconds)

    async def learn(self, origin: str, answer: RobotsAnswer) -> None:
        """Keep an answer for everybody, as long as its kind is good for."""
        unreachable = answer.status == "unreachable"
        settings = self._settings
        seconds = settings.unreachable_seconds if unreachable else settings.lifetime_seconds
        await self._cache.put(origin, answer, seconds)
        self._parsed.pop(origin, None)
        await self._cache.unclaim(origin)

    async def forgo(self, origin: str) -> None:
        """Give up a claim without an answer, so that another may ask."""
        await self._cache.unclaim(origin)


class MemoryRobotsCache:
    """Answers in this process, oldest thrown out first when they take too much room."""

    def __init__(self, clock: Clock, max_bytes: int) -> None:
        self._clock = clock
        self._max_bytes = max_bytes
        self._bytes = 0
        self._answers: OrderedDict[str, tuple[RobotsAnswer, float]] = OrderedDict()
        self._claims: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._answers)

    async def get(self, origin: str) -> tuple[RobotsAnswer, float] | None:
        entry = self._answers.get(origin)
        if entry is None:
            return None
        remaining = entry[1] - self._clock.monotonic()
        if remaining <= 0:
            self._drop(origin)
            return None
        return entry[0], remaining

    async def put(self, origin: str, answer: RobotsAnswer, seconds: float) -> None:
        self._drop(origin)
        self._answers[origin] = (answer, self._clock.monotonic() + seconds)
        self._bytes += ENTRY_BYTES + len(answer.text)
        while self._bytes > self._max_bytes and len(self._answers) > 1:
            self._drop(next(iter(self._answers)))

    async def claim(self, origin: str, seconds: float) -> bool:
        now = self._clock.monotonic()
        if self._claims.get(origin, 0.0) > now:
            return False
        self._claims[origin] = now + seconds
        return True

    async def unclaim(self, origin: str) -> None:
        self._claims.pop(origin, None)

    def _drop(self, origin: str) -> None:
        if entry := self._answers.pop(origin, None):
            self._bytes -= ENTRY_BYTES + len(entry[0].text)
