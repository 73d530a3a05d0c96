"""Cricket matches: one payload, read from a page that is kept open, from HTML or from data.

    cricket       the page, kept open in a browser; its script writes the score
    cricket-html  plain HTML, asked for at every look
    cricket-data  the page's own data call, asked for at every look; no page at all

A feed chooses by the id of the adapter. `/match/7` of the test site is such a page.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from penstock.extract.live.adapter import LiveAdapter, Snapshot, Source, State, Unreadable
from penstock.extract.live.fields import Fields, odd, refusals

VERSION = "1.0.0"
STATES: Mapping[str, State] = {"live": "in_play", "innings break": "break", "ended": "ended"}
#: Overs change with every ball, and the batters with most.
CRITICAL = frozenset({"score.runs", "score.wickets", "status", "result"})
DATA = "/data.json"
OTHER_VIEWS = ("/plain", "/socket")

Name = Annotated[str, Field(min_length=1, max_length=100)]
Count = Annotated[int, Field(ge=0, le=100_000)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)


class Score(_Part):
    """How the side that bats stands; `overs` are written like 12.3."""

    batting: Name
    runs: Count
    wickets: Annotated[int, Field(ge=0, le=10)]
    overs: Annotated[str, Field(pattern=r"^[0-9]{1,3}(?:\.[0-5])?$")]
    target: Count | None


class Batter(_Part):
    """Who is at the crease."""

    name: Name
    runs: Count
    balls: Count


class Match(_Part):
    """A match as it stands; it has a result when it has ended, and not before."""

    match_id: Annotated[int, Field(alias="matchId", ge=0, le=2**53)]
    teams: Annotated[list[Name], Field(min_length=2, max_length=2)]
    status: Literal["live", "innings break", "ended"]
    innings: Annotated[int, Field(ge=1, le=4)]
    score: Score
    batters: Annotated[list[Batter], Field(max_length=2)]
    result: Name | None

    @model_validator(mode="after")
    def _ends_with_a_result(self) -> "Match":
        if (self.status == "ended") != (self.result is not None):
            raise ValueError(f"the status is '{self.status}' and the result is {self.result!r}")
        return self


def read_page(source: Source) -> Snapshot | Unreadable:
    """A match as its page shows it."""
    fields = Fields(source.document)
    payload = {
        "matchId": fields.number("matchId", "#match@data-match-id", "[data-match]@data-match"),
        "teams": fields.texts("teams", ".team", ".m-team"),
        "status": fields.text("status", ".status", ".m-status"),
        "innings": fields.number("innings", ".innings", ".m-innings"),
        "score": _read_score(fields),
        "batters": _read_batters(fields),
        "result": fields.optional("result", ".result", ".m-result"),
    }
    gathered = fields.snapshot(payload, "in_play")
    return _judged(payload, gathered.notes) if isinstance(gathered, Snapshot) else gathered


def read_data(source: Source) -> Snapshot | Unreadable:
    """A match as the data of its page has it."""
    return _judged(source.json)


def data_url(url: str) -> str:
    """Where the page of a match gets its data."""
    parts = urlsplit(url)
    path = parts.path.removesuffix(DATA)
    for view in OTHER_VIEWS:
        path = path.removesuffix(view)
    return urlunsplit(parts._replace(path=path + DATA))


def _read_score(fields: Fields) -> dict[str, Any]:
    return {
        "batting": fields.text("batting", ".batting", ".m-batting"),
        "runs": fields.number("runs", ".runs", ".m-runs"),
        "wickets": fields.number("wickets", ".wickets", ".m-wickets"),
        "overs": fields.text("overs", ".overs", ".m-overs"),
        "target": fields.optional_number("target", ".target", ".m-target"),
    }


def _read_batters(fields: Fields) -> list[dict[str, Any]]:
    names = fields.texts("batters", ".batter-name", ".m-batter-name")
    runs = fields.numbers("batters' runs", ".batter-runs", ".m-batter-runs")
    balls = fields.numbers("batters' balls", ".batter-balls", ".m-batter-balls")
    if not len(names) == len(runs) == len(balls):
        fields.refuse("batters", f"{names} with {runs} runs of {balls} balls")
        return []
    columns = zip(names, runs, balls, strict=True)
    return [{"name": name, "runs": made, "balls": faced} for name, made, faced in columns]


def _judged(payload: Any, notes: tuple[str, ...] = ()) -> Snapshot | Unreadable:
    """The snapshot of a match that makes sense."""
    try:
        match = Match.model_validate(payload)
    except ValidationError as error:
        return odd(refusals(error.errors(include_input=False)))
    return Snapshot(match.model_dump(by_alias=True), STATES[match.status], notes)


CRICKET = LiveAdapter(
    "cricket",
    VERSION,
    read_page,
    urls=("test/match/*",),
    ways=("page",),
    critical=CRITICAL,
    wait_for="[data-match-id], [data-match]",
)
CRICKET_HTML = LiveAdapter(
    "cricket-html", VERSION, read_page, urls=("test/match/*/plain*",), critical=CRITICAL
)
CRICKET_DATA = LiveAdapter(
    "cricket-data",
    VERSION,
    read_data,
    urls=("test/match/*/data.json*",),
    data_url=data_url,
    critical=CRITICAL,
)
