"""What the page fetcher's API takes and shows."""

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    StringConstraints,
)

from penstock.core.urls import MAX_URL_LENGTH
from penstock.events.ports import Event
from penstock.store.schema import storable
from penstock.web.bodies import Body, Number
from penstock.workloads.stream.desk import DeadLetter, FailureType, Refusal
from penstock.workloads.stream.model import WebpageEvent
from penstock.workloads.stream.reading import Consumer

MOST_URLS = 1000
#: Whole numbers that every reader of JSON has exactly.
LARGEST = 2**53 - 1
A_URL = "https://www.example.com/product/1"
A_KEY = "0f3c0f3fa1c2f7d9f4f6a8a5f4e3b1c0d9e8f7a6b5c4d3e2f1a0b9c8d7e6f5a4"
A_TIME = "2026-03-04T12:00:00.000Z"


def _not_too_many(urls: list[str]) -> list[str]:
    if len(urls) > MOST_URLS:
        raise ValueError(f"must be {MOST_URLS} at most")
    return urls


#: Text that may be anything: what is wrong with a URL is said of that URL.
AnyUrl = Annotated[
    str, StringConstraints(min_length=1, max_length=MAX_URL_LENGTH), Field(examples=[A_URL])
]
Urls = Annotated[
    list[AnyUrl],
    AfterValidator(_not_too_many),
    Field(min_length=1, description=f"Up to {MOST_URLS:,}."),
]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class Push(Body):
    """URLs to fetch."""

    urls: Urls


class Commit(Body):
    """The place of the last event that a consumer is done with."""

    seq: Number = Field(ge=0, le=LARGEST, examples=[1204])


class Revival(Body):
    """Which dead letters are meant: those that fit all that is given; all of them if nothing is."""

    urls: Urls | None = None
    domain: Name | None = Field(None, examples=["example.com"])
    reason: Name | None = Field(None, examples=["http_404"])


class RefusalView(BaseModel):
    """A URL that was not taken; `index` is where it stands in the request."""

    index: int
    url: str
    reason: str = Field(examples=["admission_scheme"])
    detail: str


class PushedView(BaseModel):
    """What became of the URLs; what `queue_full` rejected may be sent again."""

    accepted: int
    rejected: list[RefusalView]


class StandingView(BaseModel):
    """How many URLs could be begun now, wait for their time, are under way, and failed for good."""

    waiting: int
    parked: int
    under_way: int
    dead: int


class EventView(BaseModel):
    """An event and its place; `key` is what its body is found under."""

    seq: int = Field(examples=[1204])
    key: str = Field(examples=[A_KEY])
    event: WebpageEvent


class ConsumerView(BaseModel):
    """How far a consumer has come; `seq` 0 and no time if it never said so."""

    name: str
    seq: int
    updated_at: str | None = Field(examples=[A_TIME])


class DeadLetterView(BaseModel):
    """A URL that failed for good, and why."""

    url: str
    type: FailureType
    kind: str
    reason: str = Field(examples=["http_404"])
    detail: str
    status_code: int | None
    domain: str
    at: str | None = Field(examples=[A_TIME])


class RevivedView(BaseModel):
    """How many dead letters wait again."""

    revived: int


class DiscardedView(BaseModel):
    """How many dead letters were forgotten."""

    discarded: int


def view_refusal(refusal: Refusal) -> dict[str, Any]:
    """A refusal as it is shown."""
    return {
        "index": refusal.place,
        "url": storable(refusal.url),
        "reason": refusal.reason,
        "detail": storable(refusal.detail),
    }


def view_event(event: Event) -> dict[str, Any]:
    """An event as it is shown."""
    return {"seq": event.seq, "key": event.message.key, "event": event.message.data}


def view_consumer(consumer: Consumer) -> dict[str, Any]:
    """A consumer as it is shown."""
    at = consumer.updated_at
    time = None if at is None else _shown(datetime.fromtimestamp(at / 1000, UTC))
    return {"name": consumer.name, "seq": consumer.seq, "updated_at": time}


def view_letter(letter: DeadLetter) -> dict[str, Any]:
    """A dead letter as it is shown."""
    return {
        "url": letter.url,
        "type": letter.type,
        "kind": letter.kind,
        "reason": letter.reason,
        "detail": letter.detail,
        "status_code": letter.status_code,
        "domain": letter.domain,
        "at": None if letter.at is None else _shown(letter.at),
    }


def _shown(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
