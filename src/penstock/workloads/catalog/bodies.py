"""What admins of the crawler send."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import ConfigDict, Field, StrictBool, model_validator

from penstock.web.asking import milliseconds
from penstock.web.bodies import JSON_NUMBER, AdapterName, Address, Body, Domain, Id, Moment, named
from penstock.workloads.catalog.domains import LARGEST_DELAY, MOST_AT_ONCE
from penstock.workloads.catalog.model import (
    DEFAULT_PRIORITY,
    HIGHEST,
    LOWEST,
    Category,
    Status,
)
from penstock.workloads.catalog.submitting import Options
from penstock.workloads.catalog.tasks import Filter

MOST_URLS, MOST_IDS = 10_000, 1000
LARGEST = 2**31 - 1
_NOT_NULL: dict[str, Any] = {"not": {"type": "null"}}


class Action(StrEnum):
    """What can be done to tasks."""

    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    RETRY = "retry"
    RECRAWL = "recrawl"
    REPARSE = "reparse"
    PRIORITISE = "prioritise"


def _one_of(*names: str) -> list[dict[str, Any]]:
    """The schema of a body in which one of some fields must say something."""
    return [{"required": [name], "properties": {name: _NOT_NULL}} for name in names]


Priority = Annotated[
    int,
    Field(ge=HIGHEST, le=LOWEST, description=f"{HIGHEST} goes first, {LOWEST} last."),
    JSON_NUMBER,
]
Frequency = Annotated[
    int,
    Field(ge=0, le=LARGEST, description="Seconds between two crawls; 0: once.", examples=[86_400]),
    JSON_NUMBER,
]
Retries = Annotated[int, Field(ge=0, le=LARGEST), JSON_NUMBER]
Delay = Annotated[int, Field(ge=0, le=LARGEST_DELAY), JSON_NUMBER]
AtOnce = Annotated[int, Field(ge=1, le=MOST_AT_ONCE), JSON_NUMBER]
Ids = Annotated[list[Id], Field(max_length=MOST_IDS)]
Word = Annotated[str, Field(min_length=1, max_length=200)]


class NewTasks(Body):
    """Pages to crawl: `urls`, or all that the sitemap at `sitemap_url` lists."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [
                {
                    "required": ["urls"],
                    "properties": {"urls": {"minItems": 1}, "sitemap_url": {"type": "null"}},
                },
                {
                    "required": ["sitemap_url"],
                    "properties": {
                        "sitemap_url": {"type": "string"},
                        "urls": {"maxItems": 0, "minItems": 0},
                    },
                },
            ],
            "examples": [
                {
                    "urls": [
                        "https://shop.example.com/product/1",
                        "https://shop.example.com/product/2",
                    ],
                    "priority": 3,
                    "crawl_frequency": 86_400,
                },
                {"sitemap_url": "https://shop.example.com/sitemap.xml"},
            ],
        }
    )

    urls: Annotated[list[Address], Field(max_length=MOST_URLS)] = Field(default_factory=list)
    sitemap_url: Address | None = Field(
        None, description="A sitemap, an index of some, or a robots.txt that names them."
    )
    priority: Priority = DEFAULT_PRIORITY
    crawl_frequency: Frequency | None = Field(None, description="As the domain says if absent.")
    max_retries: Retries | None = None
    scheduled_at: Moment | None = Field(None, description="Not before; at once if absent.")
    parser: AdapterName | None = Field(None, description="The adapter that reads the pages.")
    recrawl: StrictBool = Field(False, description="Crawl pages now that are known already, too.")

    @model_validator(mode="after")
    def _says_what(self) -> "NewTasks":
        if bool(self.urls) == (self.sitemap_url is not None):
            raise ValueError("say either urls or sitemap_url")
        return self

    def as_options(self) -> Options:
        """How they are crawled."""
        return Options(
            priority=self.priority,
            crawl_frequency=self.crawl_frequency,
            max_retries=self.max_retries,
            scheduled_at=milliseconds(self.scheduled_at),
            parser=self.parser,
            recrawl=self.recrawl,
        )


class TaskChanges(Body):
    """What to change of a task; what is absent stays, null is what its domain says."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"priority": 1, "crawl_frequency": 3600}]}
    )

    priority: Priority = DEFAULT_PRIORITY
    crawl_frequency: Frequency | None = None
    max_retries: Retries = 0
    parser: AdapterName | None = None

    def given(self) -> dict[str, Any]:
        """What was said."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class TaskFilter(Body):
    """Which tasks are meant: those that fit all that is said, and something must be."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {"required": ["ids"], "properties": {"ids": {"minItems": 1}}},
                *_one_of("domain", "submission", "status", "paused", "dead"),
                *_one_of("category", "error_type", "url", "priority"),
            ]
        }
    )

    ids: Ids = Field(default_factory=list)
    domain: Domain | None = Field(None, description="The name or id of a domain.")
    submission: Id | None = None
    status: Status | None = None
    paused: StrictBool | None = None
    dead: StrictBool | None = Field(None, description="Failed for good, or not.")
    category: Category | None = Field(None, description="That had such an error.")
    error_type: Word | None = None
    url: Word | None = Field(None, description="With this in their URL.")
    priority: Priority | None = None

    @model_validator(mode="after")
    def _says_which(self) -> "TaskFilter":
        if self.as_filter().says_nothing:
            raise ValueError("say which tasks: an empty filter would be all of them")
        return self

    def as_filter(self) -> Filter:
        """The filter itself."""
        return Filter(**{**dict(self), "ids": tuple(self.ids)})


class TaskAction(Body):
    """Something to do to many tasks."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [
                {
                    "required": ["priority"],
                    "properties": {
                        "action": {"const": Action.PRIORITISE.value},
                        "priority": _NOT_NULL,
                        "accept": {"const": False},
                    },
                },
                {
                    "properties": {
                        "action": {"const": Action.REPARSE.value},
                        "priority": {"type": "null"},
                    }
                },
                {
                    "properties": {
                        "action": {"enum": ["pause", "resume", "stop", "retry", "recrawl"]},
                        "priority": {"type": "null"},
                        "accept": {"const": False},
                    }
                },
            ],
            "examples": [
                {"action": "pause", "filter": {"domain": "shop.example.com"}},
                {"action": "prioritise", "filter": {"status": "pending"}, "priority": 1},
            ],
        }
    )

    action: Action
    filter: TaskFilter
    priority: Priority | None = Field(None, description="For `prioritise`, and for that alone.")
    accept: StrictBool = Field(
        False, description="For `reparse`: what the pages cost is right, however unlikely it looks."
    )

    @model_validator(mode="after")
    def _fits_its_action(self) -> "TaskAction":
        if (self.priority is not None) != (self.action is Action.PRIORITISE):
            raise ValueError("priority belongs to prioritise, and to that alone")
        if self.accept and self.action is not Action.REPARSE:
            raise ValueError("accept belongs to reparse alone")
        return self


class Acceptance(Body):
    """Whether what a page costs is right, however unlikely it looks."""

    accept: StrictBool = False


class NewDomain(Body):
    """A site to crawl; what is not said is as the settings have it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "domain": "shop.example.com",
                    "crawl_delay_seconds": 2,
                    "max_concurrent_requests": 2,
                    "crawl_frequency": 86_400,
                }
            ]
        }
    )

    domain: Domain = Field(description="A name such as example.com, or a URL of the site.")
    source: Annotated[str, named("source")] | None = Field(
        None, description="The source that its products belong to; a new one if absent."
    )
    crawl_delay_seconds: Delay | None = None
    max_concurrent_requests: AtOnce | None = None
    crawl_frequency: Frequency | None = None
    parser: AdapterName | None = None

    def given(self) -> dict[str, Any]:
        """What was said beside the name and the source."""
        found = self.model_dump(exclude={"domain", "source"})
        return {name: value for name, value in found.items() if value is not None}


class DomainChanges(Body):
    """What to change of a domain; what is absent stays, null is what the settings say."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"crawl_delay_seconds": 5}]})

    base_url: Address = ""
    crawl_delay_seconds: Delay = 1
    max_concurrent_requests: AtOnce = 5
    crawl_frequency: Frequency | None = None
    parser: AdapterName | None = None

    def given(self) -> dict[str, Any]:
        """What was said."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class Revival(Body):
    """Which dead letters to try again: those that fit all that is said, or `all` of them."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {"required": ["all"], "properties": {"all": {"const": True}}},
                {"required": ["ids"], "properties": {"ids": {"minItems": 1}}},
                *_one_of("domain", "category", "error_type"),
            ],
            "examples": [{"domain": "shop.example.com", "category": "network"}],
        }
    )

    ids: Ids = Field(default_factory=list)
    domain: Domain | None = Field(None, description="The name or id of a domain.")
    category: Category | None = None
    error_type: Word | None = None
    all: StrictBool = False

    @model_validator(mode="after")
    def _says_which(self) -> "Revival":
        if not (self.all or self.ids or self.domain or self.category or self.error_type):
            raise ValueError("say which: ids, domain, category or error_type; or all")
        return self

    def as_filter(self) -> Filter:
        """The filter for tasks."""
        return Filter(
            ids=tuple(self.ids),
            domain=self.domain,
            category=self.category,
            error_type=self.error_type,
            dead=True,
        )
