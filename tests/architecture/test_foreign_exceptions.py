"""Every exception of the clients has a meaning; a new one of a new version is noticed."""

import asyncio
import inspect
import socket
import ssl
from types import ModuleType

import aiohttp.client_exceptions
import aiokafka.errors
import obstore.exceptions
import pytest
import python_socks

from penstock.blobs.s3 import mapped
from penstock.blobs.settings import BlobSettings
from penstock.core.errors import AddressRefused, BlobError, EventRefused, EventsLost
from penstock.events.kafka.cluster import TROUBLE, Cluster
from penstock.kernel.fetchers.http import failure_of
from penstock.kernel.model import Broken, Failure, ProxyFailed, Refused, SiteWide, UrlSpecific

#: Exported, but of WebSockets: no request for a page can raise it.
NOT_OF_PAGES = {aiohttp.client_exceptions.WSMessageTypeError}


def exported(module: ModuleType) -> list[type[Exception]]:
    things = (getattr(module, name) for name in module.__all__)
    return [
        thing
        for thing in things
        if inspect.isclass(thing) and issubclass(thing, Exception) and thing not in NOT_OF_PAGES
    ]


def instance(kind: type[Exception]) -> Exception:
    """One of its kind, whatever its constructor asks for."""
    return kind.__new__(kind)


FOREIGN = [*exported(aiohttp.client_exceptions), *exported(python_socks)]
FOREIGN_OF_BLOBS = [
    thing
    for thing in vars(obstore.exceptions).values()
    if inspect.isclass(thing) and issubclass(thing, Exception)
]
FOREIGN_OF_EVENTS = [
    thing
    for thing in vars(aiokafka.errors).values()
    if inspect.isclass(thing)
    and issubclass(thing, Exception)
    # That is what those with a number are derived from; it has none.
    and thing is not aiokafka.errors.BrokerResponseError
]


@pytest.mark.parametrize("kind", FOREIGN, ids=lambda kind: kind.__name__)
def test_every_exception_of_the_clients_is_a_failure(kind: type[Exception]) -> None:
    assert isinstance(failure_of(instance(kind)), Failure)


@pytest.mark.parametrize(
    "kind", [*FOREIGN_OF_BLOBS, FileNotFoundError, ValueError], ids=lambda kind: kind.__name__
)
def test_every_exception_of_the_object_store_is_a_blob_error(kind: type[Exception]) -> None:
    with pytest.raises(BlobError), mapped(BlobSettings(url="s3://pages")):
        raise instance(kind)


@pytest.mark.parametrize(
    "kind", [*FOREIGN_OF_EVENTS, OSError, TimeoutError], ids=lambda kind: kind.__name__
)
def test_every_exception_of_kafka_loses_or_refuses_events(kind: type[Exception]) -> None:
    assert issubclass(kind, TROUBLE)
    meaning = Cluster("kafka.test:9092", {}).meaning_of(instance(kind))
    assert isinstance(meaning, EventsLost | EventRefused)
    assert "kafka.test:9092" in str(meaning)


def test_the_clients_export_exceptions() -> None:
    assert len(FOREIGN) > 25
    assert len(FOREIGN_OF_EVENTS) > 50
    assert len(FOREIGN_OF_BLOBS) > 10


@pytest.mark.parametrize(
    ("kind", "meaning", "reason"),
    [
        (aiohttp.ClientProxyConnectionError, ProxyFailed, "proxy"),
        (aiohttp.ClientHttpProxyError, ProxyFailed, "proxy"),
        (python_socks.ProxyConnectionError, ProxyFailed, "proxy"),
        (python_socks.ProxyTimeoutError, ProxyFailed, "proxy"),
        (python_socks.ProxyError, ProxyFailed, "proxy"),
        (aiohttp.ServerTimeoutError, SiteWide, "timeout"),
        (asyncio.TimeoutError, SiteWide, "timeout"),
        (aiohttp.ClientConnectorDNSError, SiteWide, "dns"),
        (socket.gaierror, SiteWide, "dns"),
        (aiohttp.ClientConnectorCertificateError, SiteWide, "tls"),
        (aiohttp.ClientConnectorSSLError, SiteWide, "tls"),
        (ssl.SSLError, SiteWide, "tls"),
        (aiohttp.ClientConnectorError, SiteWide, "connect"),
        (aiohttp.ServerDisconnectedError, SiteWide, "disconnected"),
        (aiohttp.ClientPayloadError, SiteWide, "truncated"),
        (aiohttp.ClientOSError, SiteWide, "transport"),
        (ConnectionResetError, SiteWide, "transport"),
        (aiohttp.ClientResponseError, Broken, "bad_http"),
        (aiohttp.InvalidURL, UrlSpecific, "invalid_url"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_an_exception_means_what_happened(
    kind: type[Exception], meaning: type[Failure], reason: str
) -> None:
    failure = failure_of(instance(kind))

    assert isinstance(failure, meaning)
    assert failure.reason == reason


def test_a_refused_address_means_a_refusal_by_its_rule() -> None:
    failure = failure_of(AddressRefused("link-local"))

    assert isinstance(failure, Refused)
    assert (failure.gate, failure.reason) == ("admission", "admission_link_local")


@pytest.mark.parametrize("kind", [KeyError, AttributeError, AssertionError, ValueError])
def test_a_fault_of_our_own_is_no_failure_of_the_site(kind: type[Exception]) -> None:
    assert failure_of(kind()) is None
