"""How many pages parsers can read, by domain and version, and a word to ops when that drops.

A site that changes its pages shows here: fewer of them can be read from one day to the next. What
is usual after a week is no drop any more, unless most pages fail.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Subquery, case, func, select

from penstock.notify.ops import OpsAlert, OpsAlerts, close, open_alerts
from penstock.products.tables import domains
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.catalog.model import DAY_MS, Attempt, Fared
from penstock.workloads.catalog.tables import crawl_attempts

KIND, SEVERITY = "parse_rate_dropped", "P2"
HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class ParserSettings:
    """What counts as a drop: too few pages can be read, or far fewer than in the days before."""

    least_parses: int = 20
    worst_rate: float = 0.5
    largest_fall: float = 0.2
    #: So far above the bound an alert is over: one that is at the bound would come and go.
    recovery: float = 0.05
    window_hours: int = 24
    days_before: int = 7


@dataclass(frozen=True, slots=True)
class ParseRate:
    """How a version of a parser did on a domain; times are ms since 1970."""

    domain_id: str
    domain_name: str
    parser_version: str
    parsed: int
    failed: int
    first_at: int
    last_at: int

    @property
    def parses(self) -> int:
        """How many pages there were to read."""
        return self.parsed + self.failed

    @property
    def rate(self) -> float:
        """The share that could be read."""
        return self.parsed / self.parses

    @property
    def subject(self) -> str:
        """What an alert on it is about."""
        return f"{self.parser_version} on {self.domain_name}"

    @property
    def place(self) -> tuple[str, str]:
        """The domain, and the parser whatever its version."""
        return self.domain_id, self.parser_version.partition("@")[0]


@dataclass(frozen=True, slots=True)
class Drop:
    """A rate that is too low; `before` is the one of the days before, if enough was parsed then."""

    now: ParseRate
    before: float | None

    def as_alert(self, settings: ParserSettings) -> OpsAlert:
        """What ops are told."""
        now = self.now
        usual = "too few to compare with" if self.before is None else f"{self.before:.0%}"
        said = (
            f"{now.parser_version} could read {now.rate:.0%} of {now.parses} pages of "
            f"{now.domain_name} in the last {settings.window_hours} hours; "
            f"in the {settings.days_before} days before: {usual}. "
            "See `penstock catalog parsers rates`; prove a repaired version beside live pages with "
            "`penstock catalog parsers shadow`, then `penstock catalog tasks reparse`"
        )
        return OpsAlert(KIND, now.subject, SEVERITY, said)


def parse_rates(
    unit: Unit,
    since: int,
    domain_id: str | None = None,
    until: int | None = None,
    most: int | None = None,
) -> list[ParseRate]:
    """How each version did on each domain since a time (ms), and before another.

    Of the latest attempts of any kind so many are looked at, if that is said.
    """
    attempts = crawl_attempts.c
    chosen = [attempts.ended_at >= since]
    if domain_id is not None:
        # Named with it, so that the index of a domain's parses is used.
        chosen += [attempts.domain_id == domain_id, attempts.parser_version.is_not(None)]
    if until is not None:
        chosen.append(attempts.ended_at < until)
    needed = (attempts.domain_id, attempts.kind, attempts.status, attempts.ended_at)
    looked_at = select(*needed, attempts.parser_version).where(*chosen)
    if most is not None:
        looked_at = looked_at.order_by(attempts.ended_at.desc()).limit(most)
    found = _by_version(looked_at.subquery())
    query = (
        select(found, domains.c.domain_name)
        .join(domains, domains.c.id == found.c.domain_id)
        .order_by(domains.c.domain_name, found.c.parser_version)
    )
    return [ParseRate(**row) for row in unit.rows(query)]


def _by_version(looked_at: Subquery) -> Subquery:
    attempts = looked_at.c
    is_ok = attempts.status == Fared.OK.value
    return (
        select(
            attempts.domain_id,
            attempts.parser_version,
            func.sum(case((is_ok, 1), else_=0)).label("parsed"),
            func.sum(case((is_ok, 0), else_=1)).label("failed"),
            func.min(attempts.ended_at).label("first_at"),
            func.max(attempts.ended_at).label("last_at"),
        )
        .where(
            attempts.kind == Attempt.PARSE.value,
            attempts.parser_version.is_not(None),
            attempts.status.in_((Fared.OK.value, Fared.FAILED.value)),
        )
        .group_by(attempts.domain_id, attempts.parser_version)
        .subquery()
    )


def find_drops(
    unit: Unit, now: int, settings: ParserSettings, lasting: Collection[str] = ()
) -> list[Drop]:
    """Versions that read too few pages of a domain; those that were replaced since do not count.

    `lasting` are the subjects of alerts that are open: they are over a little later than begun.
    """
    return list(_drops(unit, _rates_now(unit, now, settings), now, settings, lasting))


def _rates_now(unit: Unit, now: int, settings: ParserSettings) -> list[ParseRate]:
    rates = parse_rates(unit, now - settings.window_hours * HOUR_MS)
    begun: dict[tuple[str, str], int] = {}
    for rate in rates:
        begun[rate.place] = max(rate.first_at, begun.get(rate.place, 0))
    # Another version that was begun after the last page of this one has replaced it.
    return [rate for rate in rates if begun[rate.place] <= rate.last_at]


def _drops(
    unit: Unit,
    rates: Iterable[ParseRate],
    now: int,
    settings: ParserSettings,
    lasting: Collection[str],
) -> Iterator[Drop]:
    for rate in rates:
        margin = settings.recovery if rate.subject in lasting else 0.0
        worst, fall = settings.worst_rate + margin, settings.largest_fall - margin
        # Where even a perfect week before would make it no drop, that need not be looked up.
        if rate.parses < settings.least_parses or rate.rate >= max(worst, 1 - fall):
            continue
        before = _rate_before(unit, rate.domain_id, now, settings)
        if rate.rate < worst or (before is not None and round(before - rate.rate, 6) > fall):
            yield Drop(rate, before)


def _rate_before(unit: Unit, domain_id: str, now: int, settings: ParserSettings) -> float | None:
    """What was usual on a domain, by any version; None if too little was parsed to say so."""
    until = now - settings.window_hours * HOUR_MS
    rates = parse_rates(unit, until - settings.days_before * DAY_MS, domain_id, until)
    parses = sum(rate.parses for rate in rates)
    return sum(rate.parsed for rate in rates) / parses if parses >= settings.least_parses else None


@dataclass(frozen=True, slots=True)
class _News:
    """What ops are to be told of, and the alerts that are over, by id."""

    drops: Sequence[Drop]
    over: Sequence[str]


class ParserUpkeep:
    """Looks from time to time whether parsers still fit the pages that they read."""

    def __init__(
        self, store: Store, alerts: OpsAlerts, settings: ParserSettings | None = None
    ) -> None:
        self._store = store
        self._alerts = alerts
        self._settings = settings or ParserSettings()

    async def look(self) -> int:
        """Tell ops of drops, and close what is over; how many alerts were closed."""
        # Counting takes a while, and whoever writes events would wait for it.
        news = await self._store.read(self._find)
        return await self._store.write(lambda unit: self._tell(unit, news), "upkeep")

    def _find(self, unit: Unit) -> _News:
        settings, now = self._settings, unit.now
        lasting = {row["subject"]: row["id"] for row in open_alerts(unit, KIND)}
        rates = _rates_now(unit, now, settings)
        drops = list(_drops(unit, rates, now, settings, lasting))
        # Where little was parsed nobody knows: it lasts until nothing has raised it for a day.
        lasts = {rate.subject for rate in rates if rate.parses < settings.least_parses}
        lasts |= {drop.now.subject for drop in drops}
        return _News(drops, [each for subject, each in lasting.items() if subject not in lasts])

    def _tell(self, unit: Unit, news: _News) -> int:
        self._alerts.tell(unit, [drop.as_alert(self._settings) for drop in news.drops])
        return close(unit, news.over)
