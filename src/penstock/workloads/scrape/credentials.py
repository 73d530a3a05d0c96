"""Credentials of a workspace: asked of the backend, kept for minutes in memory and nowhere else.

Where an adapter needs a login, they become headers and cookies for the page's own origin.
"""

import asyncio
import base64
import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, NoReturn, Self
from urllib.parse import quote

import orjson
from pydantic import SecretStr

from penstock.core.clock import Clock
from penstock.core.errors import CredentialNotFound, CredentialsUnavailable, SettingsError, UrlError
from penstock.core.urls import Url, parse
from penstock.extract.adapter import Adapter
from penstock.kernel.admission import Admission
from penstock.kernel.model import Failure, Page, Redirect
from penstock.kernel.ports import Fetcher, Hop

OK, NOT_FOUND, TOO_MANY, FIRST_SERVER_ERROR = 200, 404, 429, 500
MOST_BYTES = 64 * 1024
MOST_KEPT = 10_000

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[ -~]*")
_COOKIE_VALUE = re.compile(r"[!#-+\--:<-\[\]-~]*")
#: Headers that are not a credential's business.
_OURS = frozenset(
    {"connection", "content-length", "cookie", "expect", "host", "te", "transfer-encoding"}
    | {"upgrade", "proxy-authorization", "user-agent", "accept-encoding"}
)


@dataclass(frozen=True, slots=True)
class Backend:
    """Where credentials are asked for, and how patiently."""

    url: str
    key: SecretStr
    cache_seconds: float = 300.0
    retries: int = 3
    retry_seconds: float = 1.0
    timeout_seconds: float = 10.0


class Credential:
    """What a login needs; cannot be printed, compared or written down by accident."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def reveal(self) -> Mapping[str, Any]:
        """The values; for the one who sends them."""
        return self._values

    def __repr__(self) -> str:
        return "Credential(***)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a credential is not written down")


Key = tuple[str, str]


@dataclass(slots=True)
class _Kept:
    credential: Credential
    until: float


class CredentialClient:
    """Asks the backend once for all who want the same; use as an async context manager."""

    def __init__(
        self, backend: Backend, fetcher: Fetcher, admission: Admission, clock: Clock
    ) -> None:
        self._backend = backend
        self._fetcher = fetcher
        self._admission = admission
        self._clock = clock
        self._base = _require_safe(backend.url, admission)
        self._kept: OrderedDict[Key, _Kept] = OrderedDict()
        self._flights: dict[Key, asyncio.Task[Credential]] = {}
        self._tasks: set[asyncio.Task[Credential]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._kept.clear()

    async def get_credential(self, workspace: str, provider: str) -> Credential:
        """The credential of a provider, not older than the cache allows."""
        key = (workspace, provider)
        kept = self._kept.get(key)
        if kept and self._clock.monotonic() < kept.until:
            return kept.credential
        flight = self._flights.get(key)
        if flight is None:
            flight = self._flights[key] = asyncio.create_task(self._fly(key))
            self._tasks.add(flight)
            flight.add_done_callback(self._landed)
        # Whoever gives up waiting does not spoil it for the others.
        return await asyncio.shield(flight)

    def invalidate(self, workspace: str, provider: str) -> None:
        """Ask again next time; what is being asked for right now is not kept either."""
        self._kept.pop((workspace, provider), None)
        self._flights.pop((workspace, provider), None)

    async def _fly(self, key: Key) -> Credential:
        flight = asyncio.current_task()
        try:
            asked = self._clock.monotonic()
            credential = await self._ask_patiently(*key)
            if self._flights.get(key) is flight:
                self._keep(key, _Kept(credential, asked + self._backend.cache_seconds))
            return credential
        finally:
            if self._flights.get(key) is flight:
                del self._flights[key]

    def _landed(self, flight: asyncio.Task[Credential]) -> None:
        self._tasks.discard(flight)
        if not flight.cancelled():
            # All who waited may have gone: then nobody else looks at what went wrong.
            flight.exception()

    def _keep(self, key: Key, kept: _Kept) -> None:
        self._kept[key] = kept
        self._kept.move_to_end(key)
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)

    async def _ask_patiently(self, workspace: str, provider: str) -> Credential:
        url = self._url_of(workspace, provider)
        attempts = self._backend.retries + 1
        for attempt in range(attempts):
            if attempt:
                await self._clock.sleep(self._backend.retry_seconds * 2.0 ** (attempt - 1))
            answer = await self._ask(url)
            if not _is_worth_a_retry(answer):
                return _read(answer, provider)
        raise CredentialsUnavailable(f"the backend did not answer {attempts} times")

    async def _ask(self, url: Url) -> Page | Redirect | Failure:
        if refused := self._admission.check(url):
            return refused
        headers = {
            "X-Service-Key": self._backend.key.get_secret_value(),
            "Accept": "application/json",
        }
        hop = Hop(url, headers, self._backend.timeout_seconds, max_bytes=MOST_BYTES)
        return await self._fetcher.fetch(hop)

    def _url_of(self, workspace: str, provider: str) -> Url:
        names = [workspace, provider]
        # As a part of a path these mean another path.
        if not {"", ".", ".."}.isdisjoint(names):
            raise CredentialNotFound(f"no credential for provider '{provider}'")
        safe_workspace, safe_provider = (quote(name, safe="") for name in names)
        return parse(f"{self._base}/workspaces/{safe_workspace}/credentials/{safe_provider}")


def _require_safe(text: str, admission: Admission) -> str:
    """The backend's URL, if what is asked there can be read by nobody else."""
    try:
        url = parse(text)
    except UrlError as error:
        raise SettingsError(f"PENSTOCK_SCRAPE__BACKEND_API_URL: {error}") from error
    if url.scheme != "https" and not admission.known(url.host):
        raise SettingsError(
            "PENSTOCK_SCRAPE__BACKEND_API_URL: credentials are asked for over https only"
        )
    return url.href.rstrip("/")


def _is_worth_a_retry(answer: Page | Redirect | Failure) -> bool:
    match answer:
        case Page(status=status):
            return status >= FIRST_SERVER_ERROR or status == TOO_MANY
        case Failure():
            return answer.retriable
        case _:
            return False


def _read(answer: Page | Redirect | Failure, provider: str) -> Credential:
    match answer:
        case Page(status=status) if status == OK:
            return Credential(_values(answer.body))
        case Page(status=status) if status == NOT_FOUND:
            raise CredentialNotFound(f"no credential for provider '{provider}'")
        case Page(status=status) | Redirect(status=status):
            raise CredentialsUnavailable(f"the backend answered {status}")
        case Failure():
            raise CredentialsUnavailable(f"the backend was not reached: {answer.detail}")


def _values(body: bytes) -> Mapping[str, Any]:
    """The credential in an answer, with or without an envelope around it."""
    try:
        content = orjson.loads(body)
    except orjson.JSONDecodeError:
        # Not as the cause: it would quote what stands there.
        content = None
    if isinstance(content, dict) and "success" in content:
        content = content.get("data")
    if not isinstance(content, dict):
        raise CredentialsUnavailable("the backend's answer is no credential")
    return content


@dataclass(frozen=True, slots=True)
class Login:
    """What proves to a site who asks: for the request's own origin, and nowhere else."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    cookies: Mapping[str, str] = field(default_factory=dict, repr=False)


NO_LOGIN = Login()


class Logins:
    """Logins for the pages of adapters that need one."""

    def __init__(self, credentials: CredentialClient, admission: Admission) -> None:
        self._credentials = credentials
        self._admission = admission

    async def login_for(self, adapter: Adapter | None, url: Url, workspace: str) -> Login:
        """What to send along for a page; nothing to a site that is not the adapter's own.

        Else whoever names any URL and the adapter's kind would be handed the login.
        """
        if adapter is None or not adapter.login or not self._is_at_home(adapter, url):
            return NO_LOGIN
        return as_login(await self._credentials.get_credential(workspace, adapter.login), url)

    def _is_at_home(self, adapter: Adapter, url: Url) -> bool:
        if url.scheme != "https" and not self._admission.known(url.host):
            return False
        return any(_is_host_of(url.host, domain) for domain in adapter.domains)


def as_login(credential: Credential, url: Url) -> Login:
    """A credential as headers and cookies: `headers`, `cookies`, a token, or name and password."""
    values = credential.reveal()
    try:
        headers = {**_authorization(values), **_headers(values.get("headers") or {})}
        cookies = dict(_cookies(values.get("cookies") or {}, url))
    except (AttributeError, KeyError, TypeError, ValueError):
        headers, cookies = {}, {}
    if not headers and not cookies:
        # Not as the cause: it would quote the credential.
        raise CredentialsUnavailable("the credential holds nothing that can be sent to this site")
    return Login(headers, cookies)


def _authorization(values: Mapping[str, Any]) -> dict[str, str]:
    token = values.get("access_token") or values.get("token")
    if token:
        return _headers({"Authorization": f"Bearer {token}"})
    if values.get("username") and values.get("password"):
        pair = f"{values['username']}:{values['password']}".encode()
        return {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}
    return {}


def _headers(given: Mapping[str, Any]) -> dict[str, str]:
    headers = {str(name): str(value) for name, value in given.items()}
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
            raise ValueError
        if name.lower() in _OURS:
            raise ValueError
    return headers


def _cookies(given: Mapping[str, Any] | list[Any], url: Url) -> Iterable[tuple[str, str]]:
    """Cookies as a map, or as a browser exports them; those of other sites are left out."""
    entries = (
        [{"name": name, "value": value} for name, value in given.items()]
        if isinstance(given, Mapping)
        else given
    )
    for entry in entries:
        name, value = str(entry["name"]), str(entry["value"])
        if not _TOKEN.fullmatch(name) or not _COOKIE_VALUE.fullmatch(value):
            raise ValueError
        domain = str(entry.get("domain") or url.host).removeprefix(".")
        if _is_host_of(url.host, domain):
            yield name, value


def _is_host_of(host: str, domain: str) -> bool:
    return host == domain.lower() or host.endswith(f".{domain.lower()}")
