"""Any page, watched without code: the options of a feed say which selectors give its fields."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from penstock.extract.live.adapter import (
    COMMON,
    LiveAdapter,
    OptionsRefused,
    Snapshot,
    Source,
    State,
    Unreadable,
)
from penstock.extract.live.fields import Fields, refusals
from penstock.extract.live.phrase import compile_phrase, is_in
from penstock.extract.page.selectors import is_selector

MAX_FIELDS = 50
MAX_FALLBACKS = 10
MAX_SELECTOR = 300


def _checked_selector(text: str) -> str:
    css = text.partition("@")[0]
    if not is_selector(css):
        raise ValueError(f"'{css}' is no CSS selector")
    return text


def _checked_phrase(pattern: str) -> str:
    compile_phrase(pattern)
    return pattern


Selector = Annotated[
    str, Field(min_length=1, max_length=MAX_SELECTOR), AfterValidator(_checked_selector)
]
FieldName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,99}$")]


class _Options(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Sign(_Options):
    """What a field says in one state of a page."""

    field: FieldName
    text: Annotated[str, Field(min_length=1), AfterValidator(_checked_phrase)]


class SelectorOptions(_Options):
    """The options of a feed that names its own selectors, for each field in order."""

    select: Annotated[
        dict[FieldName, Annotated[list[Selector], Field(min_length=1, max_length=MAX_FALLBACKS)]],
        Field(min_length=1, max_length=MAX_FIELDS),
    ]
    optional: list[FieldName] = Field(default_factory=list)
    ended: Sign | None = None
    break_: Annotated[Sign | None, Field(alias="break")] = None

    @model_validator(mode="after")
    def _knows_its_fields(self) -> "SelectorOptions":
        signs = [sign.field for sign in (self.ended, self.break_) if sign]
        for name in (*self.optional, *signs):
            if name not in self.select:
                raise ValueError(f"'{name}' is not among the fields of 'select'")
        return self

    def state_of(self, payload: Mapping[str, str | None]) -> State:
        """The state of a page that says this."""
        signs: tuple[tuple[State, Sign | None], ...] = (
            ("ended", self.ended),
            ("break", self.break_),
        )
        for state, sign in signs:
            if sign and is_in(compile_phrase(sign.text), payload[sign.field] or ""):
                return state
        return "in_play"


def options_of(options: Mapping[str, Any]) -> SelectorOptions:
    """The options, checked; common ones are left to others."""
    own = {name: value for name, value in options.items() if name not in COMMON}
    try:
        return SelectorOptions.model_validate(own)
    except ValidationError as error:
        raise OptionsRefused(refusals(error.errors(include_input=False))) from error


def check(options: Mapping[str, Any]) -> None:
    """Raise `OptionsRefused` unless a page can be read with these."""
    options_of(options)


def read(source: Source) -> Snapshot | Unreadable:
    """The fields that the options name; one that is missing makes the page unreadable."""
    options = options_of(source.options)
    fields = Fields(source.document)
    payload = {
        name: fields.optional(name, *selectors)
        if name in options.optional
        else fields.text(name, *selectors)
        for name, selectors in options.select.items()
    }
    return fields.snapshot(payload, options.state_of(payload))


SELECTORS = LiveAdapter("selectors", "1.0.0", read, ways=("http", "page"), check_own=check)
