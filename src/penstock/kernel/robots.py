"""Robots: what a site lets us fetch, by RFC 9309, and why.

The group of our product token speaks to us if there is one, else `*` (`obey_star` obeys
both). Of its rules that match a path the longest decides, and Allow before Disallow.
"""

import re
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import cached_property

from penstock.core.clock import Clock
from penstock.kernel.ports import RobotsAnswer, RobotsCache
from penstock.kernel.settings import RobotsSettings

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: What a parsed file costs beside its text, for the bound of the cache.
ENTRY_BYTES = 2048
MAX_PARSED = 4096
#: More would change nothing: so long nobody is put off.
MOST_DOUBLINGS = 30
#: More claims than this are looked through for those that have run out.
MANY_CLAIMS = 4096

_PRODUCT_TOKEN = re.compile(r"[a-z_-]*", re.I)
_LINE_END = re.compile(r"\r\n|\r|\n")
_WILDCARDS = re.compile(r"\*+")
_STRAY_OCTET = re.compile("[\udc80-\udcff]")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_NOT_BARE = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9._~/?:@!&'()+,;=\[\]-]")


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
class _Block:
    """The lines below some User-agent lines; all agents named there share it."""

    rules: list[Rule] = field(default_factory=list)
    crawl_delay: float | None = None


@dataclass(slots=True)
class _Group:
    """All blocks for one agent, wherever in the file they stand."""

    agent: str
    blocks: list[_Block] = field(default_factory=list)

    @property
    def rules(self) -> list[Rule]:
        return [rule for block in self.blocks for rule in block.rules]

    @property
    def crawl_delay(self) -> float | None:
        delays = (block.crawl_delay for block in self.blocks)
        return max((delay for delay in delays if delay is not None), default=None)


class Pattern:
    """The path of a rule: `*` stands for anything, a final `$` for the end."""

    __slots__ = ("_anchored", "_parts", "length", "prefix")

    def __init__(self, path: str) -> None:
        self._anchored = path.endswith("$")
        parts = _WILDCARDS.split(path.removesuffix("$"))
        self._parts = [comparable(part) for part in parts]
        self.prefix = self._parts[0]
        # Octets as they were written: of two that match, the longer one decides.
        self.length = sum(map(len, self._parts)) + path.count("*") + self._anchored

    def matches(self, target: str) -> bool:
        """Whether a comparable path matches; each part is sought once, so nothing blows up."""
        first, *others = self._parts
        if not target.startswith(first):
            return False
        if not others:
            return not self._anchored or target == first
        at = len(first)
        for part in others[:-1]:
            at = target.find(part, at) + len(part)
            if at < len(part):
                return False
        last = others[-1]
        if self._anchored:
            return target.endswith(last) and at <= len(target) - len(last)
        return target.find(last, at) >= 0


def comparable(path: str) -> str:
    """A path as it is compared: what needs no encoding bare, everything else encoded."""
    return _NOT_BARE.sub(_encode, path) if _NOT_BARE.search(path) else path


def _encode(match: re.Match[str]) -> str:
    unit = match[0]
    if len(unit) == len("%00"):
        bare = chr(int(unit[1:], 16))
        return bare if bare in _UNRESERVED else unit.upper()
    return "".join(f"%{octet:02X}" for octet in unit.encode())


class Matcher:
    """The rules of one group, ready to be asked: the one that decides comes first."""

    def __init__(self, group: _Group) -> None:
        self.agent = group.agent
        self.crawl_delay = group.crawl_delay
        rules = [(Pattern(rule.path), rule) for rule in group.rules]
        self._rules = sorted(rules, key=lambda pair: (-pair[0].length, pair[1].field != "allow"))
        self._prefixes = tuple(pattern.prefix for pattern, _ in rules)

    def decide(self, target: str) -> Decision:
        """Whether the path and query of a URL may be fetched, and the rule that says so."""
        target = comparable(target)
        if target.startswith(self._prefixes):
            for pattern, rule in self._rules:
                if pattern.matches(target):
                    return Decision(rule.field == "allow", self.agent, rule)
        return Decision(allowed=True, group=self.agent)


class RobotsFile:
    """A parsed robots.txt."""

    def __init__(self, text: str) -> None:
        self._groups = _read_groups(text)
        self._voices: dict[tuple[str, bool], tuple[Matcher, ...]] = {}

    def allows(self, target: str, agent: str, *, obey_star: bool = False) -> bool:
        """Whether the agent may fetch the path and query of a URL."""
        if is_robots_txt(target):
            return True
        return all(voice.decide(target).allowed for voice in self._voices_for(agent, obey_star))

    def decide(self, target: str, agent: str, *, obey_star: bool = False) -> Decision:
        """The same, explained."""
        if is_robots_txt(target):
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


def is_robots_txt(target: str) -> bool:
    """Whether a path is the robots.txt itself, which is always allowed."""
    return target.startswith("/robots.txt") and target.partition("?")[0] == "/robots.txt"


def read(body: bytes, max_bytes: int) -> str:
    """The text of a robots.txt as far as it is looked at; a cut line at the end is dropped."""
    if len(body) >= max_bytes:
        body = body[: max(body.rfind(b"\n", 0, max_bytes), body.rfind(b"\r", 0, max_bytes)) + 1]
    text = body.removeprefix(BYTE_ORDER_MARK).decode("utf-8", errors="surrogateescape")
    return _STRAY_OCTET.sub(lambda stray: f"%{ord(stray[0]) - 0xDC00:02X}", text)


def _read_groups(text: str) -> dict[str, _Group]:
    """Collect the blocks by agent; consecutive User-agent lines share what follows."""
    groups: dict[str, _Group] = {}
    block = _Block()
    names_open = False
    for number, line in enumerate(_LINE_END.split(text), start=1):
        word, separator, value = line.partition("#")[0].partition(":")
        word, value = word.strip().lower(), value.strip()
        if not separator:
            continue
        if word == "user-agent":
            if not names_open:
                block, names_open = _Block(), True
            name = _agent_name(value)
            blocks = groups.setdefault(name, _Group(name)).blocks
            if not blocks or blocks[-1] is not block:
                blocks.append(block)
        elif word in ("allow", "disallow"):
            names_open = False
            if value:
                block.rules.append(Rule(number, word, value))
        elif word == "crawl-delay":
            names_open = False
            block.crawl_delay = _seconds(value, block.crawl_delay)
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
    """What robots.txt says: parsed answers in front of the cache, and the one who may ask."""

    def __init__(self, cache: RobotsCache, settings: RobotsSettings, clock: Clock) -> None:
        self._cache = cache
        self._settings = settings
        self._clock = clock
        self._parsed: OrderedDict[str, Rules] = OrderedDict()
        #: How often in a row an origin could not be reached.
        self._misses: OrderedDict[str, int] = OrderedDict()

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
        misses = self._misses.pop(origin, 0)
        if answer.status == "unreachable":
            self._misses[origin] = misses + 1
            seconds = self._until_asked_again(misses)
        else:
            seconds = self._settings.lifetime_seconds
        if len(self._misses) > MAX_PARSED:
            self._misses.popitem(last=False)
        await self._cache.put(origin, answer, seconds)
        self._parsed.pop(origin, None)
        await self._cache.unclaim(origin)

    def _until_asked_again(self, misses: int) -> float:
        """Soon at first, for most outages are short; a site that stays away is left in peace."""
        first, most = self._settings.unreachable_first_seconds, self._settings.unreachable_seconds
        return float(min(first * 2.0 ** min(misses, MOST_DOUBLINGS), most))

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
        if len(self._claims) >= MANY_CLAIMS:
            self._claims = {one: until for one, until in self._claims.items() if until > now}
        self._claims[origin] = now + seconds
        return True

    async def unclaim(self, origin: str) -> None:
        self._claims.pop(origin, None)

    def _drop(self, origin: str) -> None:
        if entry := self._answers.pop(origin, None):
            self._bytes -= ENTRY_BYTES + len(entry[0].text)
