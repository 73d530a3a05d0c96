"""What is seen of a page that is followed in a terminal, and how it is told."""

import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from penstock.app.live_following import Follower
from penstock.cli.live_changes import Change, changes_between, fields_of, in_one_line
from penstock.cli.output import safe, stderr, stdout, write_json
from penstock.cli.stores import moment
from penstock.notify.ops import OpsAlert
from penstock.web import views
from penstock.workloads.live.desk import Trouble
from penstock.workloads.live.model import Resolution, Update
from penstock.workloads.live.scraper import End

#: Updates that stay on the screen.
MOST_SHOWN = 8
REFRESH_PER_SECOND = 4
STYLES = {"in_play": "bold green", "break": "bold yellow", "ended": "bold blue"}


class News(NamedTuple):
    """An update, its fields, and which of them changed; the first one is all new."""

    update: Update
    fields: dict[str, str]
    changes: list[Change]
    is_first: bool

    @property
    def line(self) -> str:
        """The update in a line for people."""
        told = ", ".join(map(str, self.changes)) if self.is_first else in_one_line(self.changes)
        return f"{time_of(self.update.scraped_at)}  #{self.update.sequence:<4} {told}"


class Teller(Protocol):
    """Tells of what is seen as it is seen; to be entered while it does."""

    def __enter__(self) -> object: ...
    def __exit__(self, *_error: object) -> None: ...

    def news(self, news: News) -> None:
        """The page shows something new."""
        ...

    def trouble(self, trouble: Trouble) -> None:
        """A look went wrong."""
        ...

    def end(self, end: End) -> None:
        """It is over."""
        ...


@dataclass(slots=True)
class Story:
    """The desk of a scraper whose page somebody follows; `enough` is called after so many."""

    teller: Teller
    most: int | None
    enough: Callable[[], None]
    updates: int = 0
    _fields: dict[str, str] = field(default_factory=dict, init=False)

    def take(self, update: Update) -> None:
        fields = fields_of(update.payload)
        changes = changes_between(self._fields, fields)
        self.teller.news(News(update, fields, changes, is_first=not self.updates))
        self._fields = fields
        self.updates += 1
        if self.updates == self.most:
            self.enough()

    def lacks(self, match_id: str) -> bool:
        del match_id
        return False

    def looked(self, match_id: str, seconds: float, *, changed: bool) -> None:
        """What a screen shows of looks is asked of the scraper."""

    def trouble(self, trouble: Trouble) -> None:
        self.teller.trouble(trouble)

    def settle(self, match_id: str, method: Resolution) -> None:
        """Nothing is kept that could be settled."""

    def alert(self, alert: OpsAlert) -> None:
        """Whoever follows the page has seen the error."""

    def calm(self, kind: str, match_id: str) -> None:
        """Nobody was alerted."""


class JsonTeller:
    """An object on a line for each thing that happens."""

    def __enter__(self) -> object:
        return self

    def __exit__(self, *_error: object) -> None:
        return

    def news(self, news: News) -> None:
        update = news.update
        self._write(
            "update",
            match_id=update.match_id,
            sequence=update.sequence,
            state=update.state,
            payload=update.payload,
            changed=[change.name for change in news.changes],
            critical=update.critical,
            final=update.final,
            scraped_at=views.moment(update.scraped_at),
            scraper_id=update.scraper_id,
            latency_ms=update.latency_ms,
        )

    def trouble(self, trouble: Trouble) -> None:
        at = views.moment(trouble.at)
        self._write("error", at=at, error_type=trouble.type, error_message=trouble.message)

    def end(self, end: End) -> None:
        self._write("end", kind=end.kind, reason=end.reason)

    def _write(self, event: str, **said: Any) -> None:
        write_json({"event": event, **said})
        # Who reads from a pipe sees an update when it comes.
        sys.stdout.flush()


class LineTeller:
    """A line for each thing that happens, for people who read a file or a pipe."""

    def __init__(self) -> None:
        self._out = stdout()

    def __enter__(self) -> object:
        return self

    def __exit__(self, *_error: object) -> None:
        return

    def news(self, news: News) -> None:
        self._say(f"{news.line}  ({news.update.state})")

    def trouble(self, trouble: Trouble) -> None:
        message = f"{trouble.type} error: {safe(trouble.message)}"
        stderr().print(f"{time_of(trouble.at)}  {message}", markup=False)

    def end(self, end: End) -> None:
        self._say(f"{end.kind}: {safe(end.reason)}")

    def _say(self, text: str) -> None:
        self._out.print(text, markup=False)
        sys.stdout.flush()


class ScreenTeller:
    """A view that keeps itself up to date: fields, what changed of them, and the last updates."""

    def __init__(self, follower: Follower, console: Console) -> None:
        self._follower = follower
        self._latest: News | None = None
        self._recent: deque[str] = deque(maxlen=MOST_SHOWN)
        self._error = ""
        self._end: End | None = None
        self._live = Live(
            console=console, get_renderable=self.render, refresh_per_second=REFRESH_PER_SECOND
        )

    def __enter__(self) -> object:
        self._live.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._live.stop()

    def news(self, news: News) -> None:
        self._latest, self._error = news, ""
        if not news.is_first:
            self._recent.append(news.line)

    def trouble(self, trouble: Trouble) -> None:
        self._error = f"{trouble.type} error: {safe(trouble.message)}"

    def end(self, end: End) -> None:
        self._end = end

    def render(self) -> RenderableType:
        """The view as it is now."""
        parts: list[RenderableType] = [
            Text(safe(self._follower.feed.url), "bold"),
            self._standing(),
        ]
        if self._latest:
            parts.append(_table(self._latest))
        parts += [Text(line, "dim") for line in self._recent]
        if self._error:
            parts.append(Text(self._error, "red"))
        if self._end:
            parts.append(Text(f"{self._end.kind}: {safe(self._end.reason)}", "bold"))
        return Group(*parts)

    def _standing(self) -> Text:
        """Where the page stands, how old that is, and how the looks go."""
        scraper, text = self._follower.scraper, Text()
        if self._latest:
            update = self._latest.update
            text.append(update.state.replace("_", " "), STYLES.get(update.state, "bold"))
            text.append(f"  #{update.sequence}")
        if scraper is None:
            return text
        context = scraper.context
        if context.last_update_time:
            text.append(f"  seen {context.staleness:.0f} s ago")
        else:
            text.append("not seen yet", "yellow")
        text.append(f"  every {context.polling_interval:g} s", "dim")
        text.append(f"  {context.total_updates} looks, {context.total_errors} errors", "dim")
        if scraper.waits_for:
            text.append(f"  waits: {safe(scraper.waits_for)}", "yellow")
        return text


def time_of(milliseconds: int) -> str:
    """The time of day, for people."""
    return moment(milliseconds).partition(" ")[2]


def _table(news: News) -> Table:
    """All fields; of those that the last update changed, what they said before."""
    changed = {} if news.is_first else {each.name: each for each in news.changes}
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for name, value in news.fields.items():
        before = changed[name].before if name in changed else None
        style = "bold green" if name in changed else ""
        was = f"was {before}" if before is not None else ""
        table.add_row(Text(name, "dim"), Text(value, style), Text(was, "dim"))
    return table
