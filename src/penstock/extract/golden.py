"""Golden cases: a saved page, where it came from, and what has to be read from it.

<golden>/NAME/CASE/page.html      the bytes as they came
                   meta.json      the URL, how to read it, and when it was taken
                   expected.json  what somebody accepted as right
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from penstock.core.errors import SettingsError
from penstock.kernel.model import Page
from penstock.kernel.reader import Reader
from penstock.kernel.reading import Reading

PAGE, META, EXPECTED = "page.html", "meta.json", "expected.json"
HTML = "text/html"

_SAFE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}", re.ASCII)


class Meta(BaseModel):
    """Where a page came from. Cookies and other headers are not kept."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    url: str
    wanted: str | None = Field(None, alias="as", description="an adapter or type; else by URL")
    time: datetime
    content_type: str = HTML
    status: int = 200


@dataclass(frozen=True, slots=True)
class Case:
    """One golden case."""

    name: str
    folder: Path
    meta: Meta

    @classmethod
    def open(cls, folder: Path) -> Self:
        """The case in a folder; the error says which of its files is wrong."""
        name = f"{folder.absolute().parent.name}/{folder.absolute().name}"
        try:
            return cls(name, folder, Meta.model_validate_json(_read(folder / META)))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"])) or "content"
            raise SettingsError(f"{folder / META}: {where}: {first['msg']}") from error

    @property
    def wanted(self) -> str:
        """The adapter or type to read it with; empty if the URL decides."""
        return self.meta.wanted or ""

    @property
    def page(self) -> Page:
        """The page as it came."""
        headers = {"Content-Type": self.meta.content_type}
        return Page(self.meta.url, self.meta.status, headers, _read(self.folder / PAGE), 0.0)

    @property
    def expected(self) -> dict[str, Any]:
        """What has to be read; nothing as long as nobody accepted anything."""
        path = self.folder / EXPECTED
        if not path.exists():
            return {}
        try:
            content = json.loads(_read(path))
        except ValueError as error:
            raise SettingsError(f"{path} is not JSON: {error}") from error
        if not isinstance(content, dict):
            raise SettingsError(f"{path} must hold one JSON object")
        return content

    def accept(self, reading: Mapping[str, Any]) -> None:
        """Make what was read what has to be read from now on."""
        _write(self.folder / EXPECTED, _dump(reading))


@dataclass(frozen=True, slots=True)
class Difference:
    """A field that was read otherwise than expected."""

    field: str
    expected: Any
    got: Any


@dataclass(frozen=True, slots=True)
class Trial:
    """What became of a case: what was read, what is different, and what differs between runs."""

    case: Case
    reading: Mapping[str, Any]
    differences: tuple[Difference, ...]
    unsteady: tuple[Difference, ...]

    @property
    def passed(self) -> bool:
        """Whether everything was read as expected, twice."""
        return not self.differences and not self.unsteady


def split_name(name: str) -> tuple[str, str]:
    """The two parts of NAME/CASE; neither can lead out of the folder of golden cases."""
    group, _, case = name.partition("/")
    if not (is_safe_name(group) and is_safe_name(case)):
        raise SettingsError(
            f"'{name}' cannot name a golden case; write NAME/CASE, "
            "both of a-z, 0-9, - and _, such as myshop/sold-out"
        )
    return group, case


def is_safe_name(name: str) -> bool:
    """Whether a name can be that of a file, anywhere, and of an adapter."""
    return _SAFE_NAME.fullmatch(name) is not None


def case_folder(root: Path, name: str) -> Path:
    """Where the case NAME/CASE is or will be."""
    return root.joinpath(*split_name(name))


def save_case(root: Path, name: str, page: Page, wanted: str, time: datetime) -> Case:
    """Keep a page as a case, in place of one of that name; nothing is expected of it yet."""
    folder = case_folder(root, name)
    content_type = page.headers.get("Content-Type") or HTML
    meta = Meta(
        url=page.url,
        wanted=wanted or None,
        time=time.replace(microsecond=0),
        content_type=content_type,
        status=page.status,
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"{folder} cannot be made: {error.strerror}") from error
    _write(folder / PAGE, page.body)
    # Last: a folder without it is no case yet.
    _write(folder / META, _dump(meta.model_dump(mode="json", by_alias=True)))
    return Case(name, folder, meta)


def find_cases(root: Path, group: str = "") -> Iterator[Path]:
    """The folders of all cases, or of those named GROUP/…, in order."""
    if group and not is_safe_name(group):
        raise SettingsError(f"'{group}' is no name of golden cases; see the folders in {root}")
    for meta in sorted(root.glob(f"{group or '*'}/*/{META}")):
        yield meta.parent


def is_case(folder: Path) -> bool:
    """Whether a folder is a golden case."""
    return (folder / META).is_file()


def try_case(case: Case, reader: Reader) -> Trial:
    """Read a case, twice, and compare with what is expected."""
    first, second = (comparable(reader.read(case.page, case.wanted)) for _ in range(2))
    return Trial(case, first, compare(case.expected, first), compare(first, second))


def comparable(reading: Reading) -> dict[str, Any]:
    """A reading as plain JSON; the adapter's version is left out, for it alone changes nothing."""
    data = {**reading.as_json(), "adapter": reading.extraction.adapter.partition("@")[0]}
    content: dict[str, Any] = json.loads(_dump(data))
    return content


def compare(expected: Mapping[str, Any], got: Mapping[str, Any]) -> tuple[Difference, ...]:
    """Every field that differs, objects field by field; what is missing counts as null."""
    return tuple(_differences(expected, got, ""))


def _differences(
    expected: Mapping[str, Any], got: Mapping[str, Any], within: str
) -> Iterator[Difference]:
    for name in dict.fromkeys([*got, *expected]):
        left, right = expected.get(name), got.get(name)
        field = f"{within}{name}"
        if isinstance(left, dict) and isinstance(right, dict):
            yield from _differences(left, right, f"{field}.")
        elif left != right or type(left) is not type(right):
            yield Difference(field, left, right)


def _dump(data: Mapping[str, Any]) -> bytes:
    text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    # A lone half of a character, which UTF-8 has no bytes for, becomes the escape JSON has for it.
    return text.encode("utf-8", "backslashreplace")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}") from error


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error.strerror}") from error
