"""Endpoints of proxies: what requests leave through, how it does, and what it costs."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field, SecretStr, StrictBool, StringConstraints

from penstock.kernel.model import Proxy
from penstock.kernel.proxies import DEFAULT_PORTS, FORM
from penstock.store.proxies import Filter, Origin
from penstock.web.bodies import JSON_NUMBER
from penstock.web.documents import ACCEPTED, answers
from penstock.web.envelope import ApiResponse, answer
from penstock.web.errors import Forbidden
from penstock.web.guard import Admin
from penstock.web.keys import Key
from penstock.workloads.catalog.proxies import (
    LONGEST_PASSWORD,
    LONGEST_USER,
    Proxies,
)

MOST_LISTED = 200
#: However it is written in JSON, it fits a body.
LONGEST_TEXT = 80_000
HIGHEST_PRICE = 10**12
A_TIME = "2026-03-04T12:00:00.000Z"
AN_ID = "019570c251f07c3a9c1e2f6f0a3b4c5d"

Act = Callable[[str, str], Awaitable[dict[str, Any]]]
Cursor = Annotated[
    str | None,
    Query(pattern=r"^[0-9a-f]{32}$", description="`meta.next_cursor` of the part before."),
]
Limit = Annotated[int, Query(ge=1, le=MOST_LISTED)]
#: Ids are shown without dashes, and taken with and without.
Id = Annotated[UUID, Path(description="Its id.")]
Host = Annotated[
    str,
    StringConstraints(
        to_lower=True, max_length=253, pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$"
    ),
]
User = Annotated[str, StringConstraints(max_length=LONGEST_USER, pattern=r"^[!-~]*$")]
Password = Annotated[SecretStr, Field(max_length=LONGEST_PASSWORD)]
Region = Annotated[
    str, StringConstraints(to_lower=True, max_length=32, pattern=r"^[A-Za-z0-9_-]+$")
]
Price = Annotated[
    int,
    Field(ge=0, le=HIGHEST_PRICE, description="Of a gigabyte, in millionths."),
    JSON_NUMBER,
]


async def _operator(key: Admin) -> Key:
    if key.workspace_id is not None:
        raise Forbidden("Proxies are not for keys of one workspace")
    return key


Operator = Annotated[Key, Depends(_operator)]


class Body(BaseModel):
    """What is sent; names that are not known are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class NewProxy(Body):
    """A proxy to be used from now on."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "proxy_protocol": "socks5",
                    "proxy_url": "proxy.example",
                    "proxy_port": 1080,
                    "proxy_username": "penstock",
                    "proxy_password": "a password",
                    "region": "de",
                    "cost_per_gb_micros": 4_500_000,
                }
            ]
        }
    )

    proxy_url: Host = Field(description="A host name or an address.")
    proxy_port: Annotated[int, Field(ge=1, le=65535), JSON_NUMBER] | None = Field(
        None, description="The usual one of the protocol if not said."
    )
    proxy_protocol: Literal["http", "https", "socks5"] = "http"
    proxy_username: User = ""
    proxy_password: Password | None = None
    region: Region | None = None
    cost_per_gb_micros: Price | None = None

    def as_proxy(self) -> Proxy:
        """The proxy itself."""
        return Proxy(
            self.proxy_protocol,
            self.proxy_url,
            self.proxy_port or DEFAULT_PORTS[self.proxy_protocol],
            self.proxy_username,
            self.proxy_password.get_secret_value() if self.proxy_password else "",
            self.region,
        )


class ProxyChanges(Body):
    """What to change; what is not named stays, and null takes it away."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"region": "fr"}]})

    proxy_password: Password | None = None
    region: Region | None = None
    cost_per_gb_micros: Price | None = None

    def given(self) -> dict[str, Any]:
        """What was named."""
        found = self.model_dump(exclude_unset=True, exclude={"proxy_password"})
        if "proxy_password" in self.model_fields_set:
            password = self.proxy_password
            found["password"] = password.get_secret_value() if password else None
        return found


class Import(Body):
    """Proxies as text, one a line: all that are new are taken in, or nothing."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"text": "http://user:password@proxy.example:3128#de", "dry_run": True}]
        }
    )

    text: Annotated[SecretStr, Field(min_length=1, max_length=LONGEST_TEXT, description=FORM)]
    dry_run: StrictBool = False


class ProxyView(BaseModel):
    """A proxy, how it does and what it has cost; its password is never shown.

    `failure_count` are the failures since the last success. `problem` says why it cannot be used.
    """

    id: str = Field(examples=[AN_ID])
    proxy_url: str = Field(examples=["proxy.example"])
    proxy_port: int = Field(examples=[1080])
    proxy_protocol: str = Field(examples=["socks5"])
    proxy_username: str
    has_password: bool
    region: str | None
    origin: Origin
    is_active: bool
    is_healthy: bool
    problem: str | None
    failure_count: int
    success_count: int
    total_failures: int
    last_used_at: str | None = Field(examples=[A_TIME])
    last_success_at: str | None
    last_failure_at: str | None
    avg_response_time_ms: int | None
    bytes_carried: int
    cost_per_gb_micros: int | None
    cost_micros: int | None = Field(description="Bytes times price, in millionths of a unit.")
    created_at: str
    updated_at: str


class ProblemView(BaseModel):
    """What is wrong with a line."""

    line: int
    problem: str


class ImportView(BaseModel):
    """What came of an import; `skipped` are those that were there already."""

    lines: int
    added: int
    skipped: int
    dry_run: bool
    problems: list[ProblemView]


class TestView(BaseModel):
    """Whether a proxy accepts connections."""

    __test__ = False

    id: str = Field(examples=[AN_ID])
    ok: bool
    problem: str | None


def view_proxy(row: Mapping[str, Any]) -> dict[str, Any]:
    """A proxy as callers see it: times in ISO 8601."""
    return {name: _plain(name, row[name]) for name in ProxyView.model_fields}


def _plain(name: str, value: Any) -> Any:
    if not name.endswith("_at") or value is None:
        return value
    at = datetime.fromtimestamp(value / 1000, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def add(router: APIRouter, proxies: Proxies) -> None:
    """Add everything under `/proxies`, for admins."""
    _add_lists(router, proxies)
    _add_import(router, proxies)
    _add_one(router, proxies)
    _add_test(router, proxies)
    _add_switch(router, "enable", proxies.enable, "Let a proxy be chosen again")
    _add_switch(router, "disable", proxies.disable, "Choose a proxy no more until it is enabled")


def _add_lists(router: APIRouter, proxies: Proxies) -> None:
    @router.get(
        "/proxies",
        summary="List proxies, newest first",
        response_model=ApiResponse[list[ProxyView]],
        responses=answers(),
    )
    async def list_proxies(
        *,
        key: Operator,
        active: bool | None = None,
        healthy: bool | None = None,
        cursor: Cursor = None,
        limit: Limit = 50,
    ) -> Response:
        del key
        rows = await proxies.list(Filter(active, healthy, cursor, limit))
        shown = [view_proxy(row) for row in rows[:limit]]
        next_cursor = shown[-1]["id"] if len(rows) > limit else None
        return answer(shown, meta={"limit": limit, "next_cursor": next_cursor})

    @router.post(
        "/proxies",
        status_code=201,
        summary="Add a proxy",
        description="Every process uses it within seconds. Its password is kept encrypted.",
        response_model=ApiResponse[ProxyView],
        responses=answers(*ACCEPTED),
    )
    async def add_proxy(body: NewProxy, key: Operator) -> Response:
        row = await proxies.add(body.as_proxy(), key.name, body.cost_per_gb_micros)
        return answer(view_proxy(row), status=201)


def _add_import(router: APIRouter, proxies: Proxies) -> None:
    @router.post(
        "/proxies/import",
        summary="Add many proxies, one a line",
        description=f"All that are not there yet, or none if a line is wrong: {FORM}.",
        response_model=ApiResponse[ImportView],
        responses=answers(*ACCEPTED),
    )
    async def import_proxies(body: Import, key: Operator) -> Response:
        text = body.text.get_secret_value()
        report = await proxies.load(text, key.name, dry_run=body.dry_run)
        return answer(asdict(report))


def _add_one(router: APIRouter, proxies: Proxies) -> None:
    @router.get(
        "/proxies/{proxy_id:uuid}",
        summary="A proxy",
        response_model=ApiResponse[ProxyView],
        responses=answers(404),
    )
    async def get_proxy(proxy_id: Id, key: Operator) -> Response:
        del key
        return answer(view_proxy(await proxies.get(proxy_id.hex)))

    @router.patch(
        "/proxies/{proxy_id:uuid}",
        summary="Change password, region or price of a proxy",
        description="Password and region of one that stands in the settings are changed there.",
        response_model=ApiResponse[ProxyView],
        responses=answers(*ACCEPTED, 404),
    )
    async def edit_proxy(proxy_id: Id, body: ProxyChanges, key: Operator) -> Response:
        return answer(view_proxy(await proxies.edit(proxy_id.hex, key.name, **body.given())))

    @router.delete(
        "/proxies/{proxy_id:uuid}",
        summary="Remove a proxy and what was counted of it",
        description="One that stands in the settings is disabled instead, or taken out there.",
        response_model=ApiResponse[ProxyView],
        responses=answers(404, 409),
    )
    async def remove_proxy(proxy_id: Id, key: Operator) -> Response:
        return answer(view_proxy(await proxies.remove(proxy_id.hex, key.name)))


def _add_test(router: APIRouter, proxies: Proxies) -> None:
    @router.post(
        "/proxies/{proxy_id:uuid}/test",
        summary="Connect to a proxy once",
        description="One that accepts is healthy again, one that does not is unhealthy.",
        response_model=ApiResponse[TestView],
        responses=answers(404),
    )
    async def test_proxy(proxy_id: Id, key: Operator) -> Response:
        del key
        return answer(asdict(await proxies.test(proxy_id.hex)))


def _add_switch(router: APIRouter, name: str, act: Act, summary: str) -> None:
    @router.post(
        f"/proxies/{{proxy_id:uuid}}/{name}",
        name=f"{name}_proxy",
        summary=summary,
        response_model=ApiResponse[ProxyView],
        responses=answers(404),
    )
    async def switch(proxy_id: Id, key: Operator) -> Response:
        return answer(view_proxy(await act(proxy_id.hex, key.name)))
