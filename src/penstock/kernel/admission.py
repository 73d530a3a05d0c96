"""Admission: who may be contacted at all, and at which address.

A URL is checked when it is asked for and again on every hop. Its name is looked up when the
connection is made, every address it leads to is checked, and the connection goes to one of
those: nothing is looked up twice and nothing stale is trusted.
"""

import asyncio
import contextlib
import ipaddress
import socket
import threading
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from penstock.core.errors import AddressRefused, SettingsError, UrlError
from penstock.core.urls import IpAddress, Url, bare_host, ip_literal, registrable_domain
from penstock.kernel.addresses import off_limits
from penstock.kernel.model import Refused
from penstock.kernel.settings import AdmissionSettings

Lookup = Callable[[str], Awaitable[list[str]]]

WEB_PORTS: Final = frozenset({80, 443})
FIRST_FREE_PORT: Final = 1024
#: Ports from 1024 on that browsers refuse, because other protocols listen there.
BAD_PORTS: Final = frozenset(
    {1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566}
    | {6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080}
)
LOCAL_SUFFIXES: Final = (".localhost", ".local", ".internal", ".home.arpa", ".lan")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address that was checked; the one a connection may be made to."""

    address: str
    port: int


class Admission:
    """The lists, the ports and the addresses; the one guard of every way out."""

    def __init__(self, settings: AdmissionSettings, lookup: Lookup) -> None:
        self._allow = _domains("ALLOW", settings.allow)
        self._deny = _domains("DENY", settings.deny)
        self._opt_out = _domains("OPT_OUT", settings.opt_out) | _opt_out_file(settings)
        self._known = {
            pattern.lower(): _endpoint(pattern, text)
            for pattern, text in settings.known_hosts.items()
        }
        self._open_ranges = settings.open_ranges
        self._extra_ports = settings.extra_ports
        self._lookup = lookup
        # Most URLs of a run share few hosts: what depends on the host alone is kept.
        self._check_host = lru_cache(maxsize=65536)(self._judge_host)

    def check(self, url: Url) -> Refused | None:
        """Why a URL must not be contacted, or None."""
        port = url.port
        if port not in WEB_PORTS and not self._port_is_open(port):
            return _refuse("port", f"port {port} is not for the web")
        return self._check_host(url.host)

    async def endpoints(self, host: str, port: int) -> list[Endpoint]:
        """Look a host up and check where it leads; raise `AddressRefused` if anywhere wrong."""
        host = host.removesuffix(".")
        if known := self.known(host):
            return [Endpoint(known.address, known.port or port)]
        literal = ip_literal(host)
        addresses = [host] if literal else await self._lookup(host)
        if not addresses:
            raise socket.gaierror(socket.EAI_NONAME, "the name has no address")
        for address in addresses:
            self._vet(ipaddress.ip_address(address))
        return [Endpoint(address, port) for address in addresses]

    def known(self, host: str) -> Endpoint | None:
        """The fixed address that a setting gives a host; port 0 keeps the URL's."""
        if not self._known:
            return None
        for pattern in _patterns_of(host):
            if endpoint := self._known.get(pattern):
                return endpoint
        return None

    def may_connect(self, address: str, port: int) -> bool:
        """The last look at a socket's far end, whatever way it was come by."""
        for known in self._known.values():
            if known.address == address and known.port in (0, port):
                return True
        return self._rule_against(ipaddress.ip_address(address.partition("%")[0])) is None

    def _judge_host(self, host: str) -> Refused | None:
        names = (*_names_above(host), registrable_domain(host))
        if not self._opt_out.isdisjoint(names):
            return _refuse("opt-out", "the owner of this domain asked not to be contacted")
        if not self._deny.isdisjoint(names):
            return _refuse("deny-list", "this domain is on the deny list")
        if self._allow and self._allow.isdisjoint(names):
            return _refuse("allow-list", "this domain is not on the allow list")
        if self.known(host):
            return None
        if (literal := ip_literal(host)) is not None:
            rule = self._rule_against(literal)
            return _refuse(rule, f"{rule} addresses are not contacted") if rule else None
        if "." not in host or host.endswith(LOCAL_SUFFIXES):
            return _refuse("local-name", "this is a name of a local network")
        return None

    def _vet(self, address: IpAddress) -> None:
        if rule := self._rule_against(address):
            raise AddressRefused(rule)

    def _rule_against(self, address: IpAddress) -> str | None:
        rule = off_limits(address)
        if rule and any(address in network for network in self._open_ranges):
            return None
        return rule

    def _port_is_open(self, port: int) -> bool:
        return port in self._extra_ports or (port >= FIRST_FREE_PORT and port not in BAD_PORTS)


class SystemLookup:
    """Names through the operating system, one daemon thread each, so that none holds us up.

    A look-up cannot be cancelled: its permit comes back when the thread ends, and a process
    that ends does not wait for it.
    """

    def __init__(self, threads: int) -> None:
        self._permits = asyncio.Semaphore(threads)

    async def __call__(self, host: str) -> list[str]:
        await self._permits.acquire()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[list[str]] = loop.create_future()

        def finish(found: list[str] | OSError | UnicodeError) -> None:
            self._permits.release()
            if answer.done():
                return
            if isinstance(found, list):
                answer.set_result(found)
            else:
                answer.set_exception(found)

        def look_up() -> None:
            found = _getaddrinfo(host)
            with contextlib.suppress(RuntimeError):  # the loop may be closed by now
                loop.call_soon_threadsafe(finish, found)

        threading.Thread(target=look_up, name=f"dns {host}", daemon=True).start()
        return await answer


def _getaddrinfo(host: str) -> list[str] | OSError | UnicodeError:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        return error
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def refusal(error: UrlError | AddressRefused) -> Refused:
    """The refusal that an error of a URL or address means."""
    return _refuse(error.rule, str(error))


def _refuse(rule: str, detail: str) -> Refused:
    return Refused(reason=f"admission_{rule.replace('-', '_')}", detail=detail, gate="admission")


def _names_above(host: str) -> Iterable[str]:
    """The host and every name above it: `a.b.c`, `b.c`, `c`."""
    labels = host.split(".")
    return (".".join(labels[start:]) for start in range(len(labels)))


def _patterns_of(host: str) -> Iterable[str]:
    yield host
    for name in _names_above(host):
        yield f"*.{name}"


def _endpoint(pattern: str, text: str) -> Endpoint:
    """Read `address`, `address:port` or `[address]:port` of a known host."""
    address, separator, port = text.rpartition(":")
    if not separator or (":" in address and not address.startswith("[")):
        address, port = text, "0"
    try:
        return Endpoint(str(ipaddress.ip_address(address.strip("[]"))), int(port))
    except ValueError as error:
        raise SettingsError(
            f"PENSTOCK_ADMISSION__KNOWN_HOSTS: '{text}' of '{pattern}' is not an address "
            "or address:port"
        ) from error


def _domains(setting: str, names: Iterable[str]) -> frozenset[str]:
    """The names of a list as keys; `*.` and a leading dot mean the same as the bare name."""
    domains = set()
    for name in names:
        try:
            domains.add(bare_host(name.removeprefix("*").removeprefix(".")))
        except UrlError as error:
            raise SettingsError(
                f"PENSTOCK_ADMISSION__{setting}: '{name}' is not a bare domain name"
            ) from error
    return frozenset(domains)


def _opt_out_file(settings: AdmissionSettings) -> frozenset[str]:
    path = settings.opt_out_file
    if path is None:
        return frozenset()
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"PENSTOCK_ADMISSION__OPT_OUT_FILE: {path} cannot be read: {error}"
        ) from error
    names = (line.partition("#")[0].strip() for line in lines)
    return _domains("OPT_OUT_FILE", (name for name in names if name))
