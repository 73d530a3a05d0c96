"""What callers send."""

import hashlib
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import orjson
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    ValidationInfo,
    field_validator,
)

from penstock.core.errors import UrlError
from penstock.core.urls import MAX_URL_LENGTH, parse
from penstock.web.bodies import Number
from penstock.workloads.scrape.model import LARGEST_JOB, Format, TargetType, fields_of

EXAMPLE = {
    "target_type": "company_website",
    "target_url": "https://example.com/",
    "requested_fields": ["company_name", "contact_email"],
    "workspace_id": "acme",
    "callback_url": "https://backend.example.com/hooks/scraper",
}
PAGE_EXAMPLE = {
    "target_type": "page",
    "target_url": "https://example.com/news",
    "workspace_id": "acme",
    "formats": ["markdown", "screenshot"],
}
BATCH_EXAMPLE: Any = {
    "targets": [
        {
            "target_type": "job_posting",
            "target_url": "https://example.com/jobs/1",
            "workspace_id": "acme",
        },
        {"target_type": "product", "target_url": "https://example.com/p/1", "workspace_id": "acme"},
    ],
    "callback_url": "https://backend.example.com/hooks/scraper",
}


def _as_url(text: str) -> str:
    try:
        parse(text)
    except UrlError as error:
        raise ValueError(str(error)) from None
    return text


Address = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_URL_LENGTH,
        json_schema_extra={"format": "uri"},
        description="An http or https URL of a public host.",
    ),
    AfterValidator(_as_url),
]
#: Words for people and programs; nothing that no database or log could hold.
Workspace = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[!-~]+$")]


def _tell_fields(schema: dict[str, Any]) -> None:
    """Say in the schema which fields and formats belong to which target type."""
    schema["examples"] = [EXAMPLE, PAGE_EXAMPLE]
    schema["oneOf"] = [_properties_of(each) for each in TargetType]


def _properties_of(target_type: TargetType) -> dict[str, Any]:
    names = {"type": "array", "items": {"enum": list(fields_of(target_type))}}
    properties: dict[str, Any] = {
        "target_type": {"const": target_type.value},
        "requested_fields": {"anyOf": [names, {"type": "null"}]},
    }
    if target_type is not TargetType.PAGE:
        properties["formats"] = {"type": "null"}
    return {"properties": properties}


class ScrapeRequest(BaseModel):
    """One page, and what is wanted from it."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=_tell_fields)

    target_type: TargetType
    target_url: Address
    requested_fields: list[str] | None = Field(
        None,
        max_length=50,
        description="Only these fields; all if left out. Names depend on the target type.",
    )
    workspace_id: Workspace
    callback_url: Address | None = None
    formats: list[Format] | None = Field(
        None,
        min_length=1,
        max_length=4,
        description="For `page`: html if left out; a screenshot needs the browser.",
    )
    fetcher: Literal["http", "browser"] | None = Field(
        None, description="How to get it; policy and adapter decide if left out."
    )
    wait_for: str | None = Field(
        None,
        min_length=1,
        max_length=500,
        description="A CSS selector that the browser waits for.",
    )
    scroll: StrictBool = Field(False, description="Whether the browser scrolls for lazy content.")

    @field_validator("requested_fields")
    @classmethod
    def _has_the_fields(cls, names: list[str] | None, info: ValidationInfo) -> list[str] | None:
        if not names or (target_type := info.data.get("target_type")) is None:
            return names
        known = fields_of(target_type)
        if unknown := [name for name in names if name not in known]:
            raise ValueError(
                f"{target_type} has no field {unknown[0][:100]!r}; it has {', '.join(known)}"
            )
        return names

    @field_validator("formats")
    @classmethod
    def _has_formats(
        cls, formats: list[Format] | None, info: ValidationInfo
    ) -> list[Format] | None:
        if formats and info.data.get("target_type") not in (None, TargetType.PAGE):
            raise ValueError("only the target type `page` has formats")
        return formats

    @property
    def options(self) -> dict[str, Any]:
        """How the page is to be got, as plain data."""
        formats = self.formats or ([Format.HTML] if self.target_type is TargetType.PAGE else [])
        return {
            "formats": list(dict.fromkeys(each.value for each in formats)),
            "fetcher": self.fetcher or "",
            "wait_for": self.wait_for or "",
            "scroll": self.scroll,
        }


class SyncScrapeRequest(ScrapeRequest):
    """One page, and for how long to wait for it."""

    timeout_seconds: Number = Field(60, ge=5, le=120)


class BatchScrapeRequest(BaseModel):
    """Many pages, as one job."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [BATCH_EXAMPLE]})

    targets: list[ScrapeRequest] = Field(min_length=1, max_length=LARGEST_JOB)
    callback_url: Address | None = None

    @property
    def workspace_id(self) -> str:
        """Whose job it is; empty if its targets are of several workspaces."""
        found = {target.workspace_id for target in self.targets}
        return found.pop() if len(found) == 1 else ""


def digest_of(kind: str, request: BaseModel) -> str:
    """What is the same for two requests that ask for the same."""
    content = [kind, request.model_dump(mode="json")]
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()


def addresses_in(request: ScrapeRequest, where: Sequence[str] = ()) -> list[tuple[str, str]]:
    """Where which URL stands in a request."""
    found = [(".".join(("body", *where, "target_url")), request.target_url)]
    if request.callback_url:
        found.append((".".join(("body", *where, "callback_url")), request.callback_url))
    return found
