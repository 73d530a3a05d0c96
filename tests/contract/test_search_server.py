"""A search server: what it does not take is noticed, and nobody is told its password."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from typing import Any

import httpx
import pytest

from penstock.core.errors import SettingsError
from penstock.products.search import rest
from penstock.products.search.ports import Document, Query, SearchLost, SearchRefused
from penstock.products.search.rest import INDEX, RestSearch, open_http, open_rest
from penstock.products.search.settings import SearchSettings
from tests.private_server import serving
from tests.search_server import PrivateSearch, find_program, indexes_of, open_index
from tests.searches import document, find
from tools.provision.processes import free_port


@pytest.fixture(scope="module")
def own_server() -> Iterator[PrivateSearch]:
    server = PrivateSearch(find_program())
    with serving(server):
        yield server


@pytest.fixture
async def index(search_url: str) -> AsyncIterator[RestSearch]:
    async with open_index(search_url) as index:
        yield index


def playing(status: int, answer: Any) -> RestSearch:
    """Search on a server that answers everything alike."""
    content = answer if isinstance(answer, bytes) else None
    data = None if content is not None else answer
    transport = httpx.MockTransport(
        lambda _request: httpx.Response(status, content=content, json=data)
    )
    http = httpx.AsyncClient(transport=transport, base_url="http://search.test")
    return RestSearch(http, "products")


@asynccontextmanager
async def opened(url: str, **changes: Any) -> AsyncIterator[RestSearch]:
    async with open_rest(SearchSettings(url=url, **changes)) as index:
        yield index


async def every_call(index: RestSearch) -> AsyncIterator[BaseException | None]:
    async def pages() -> AsyncIterator[Sequence[Document]]:
        yield [document("a")]

    calls = (
        *(index.prepare(), index.put([document("a")]), index.remove(["a"])),
        *(index.search(Query("lamp")), index.rebuild(pages()), index.ids("", 1), index.count()),
    )
    for call in calls:
        try:
            await call
            yield None
        except (SearchLost, SearchRefused) as error:
            yield error


async def test_a_server_that_is_not_there_is_lost() -> None:
    async with opened(f"http://ann:s3cret@127.0.0.1:{free_port()}") as index:
        errors = [error async for error in every_call(index)]

    assert [type(error) for error in errors] == [SearchLost] * 7
    assert not any("s3cret" in str(error) for error in errors)


async def test_a_server_that_dies_is_lost_and_has_everything_when_it_is_back(
    own_server: PrivateSearch,
) -> None:
    async with open_index(own_server.url) as index:
        await index.put([document("a")])

        own_server.kill()
        with pytest.raises(SearchLost):
            await index.search(Query("lamp"))
        with pytest.raises(SearchLost):
            await index.put([document("b")])

        own_server.start()
        await index.put([document("b")])
        assert sorted(await find(index, "lamp")) == ["a", "b"]


async def test_a_server_that_takes_too_long_is_lost() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        async with opened(f"http://127.0.0.1:{port}", timeout_seconds=0.05) as index:
            with pytest.raises(SearchLost, match="Timeout"):
                await index.count()


@pytest.mark.parametrize(
    ("status", "answer", "kind"),
    [
        (429, {"error": {"type": "busy", "reason": "later"}}, SearchLost),
        (500, {}, SearchLost),
        (502, b"<html>bad gateway</html>", SearchLost),
        (503, {"error": "no master"}, SearchLost),
        (200, b"not JSON", SearchLost),
        (400, {"error": {"type": "parsing", "reason": "no"}}, SearchRefused),
        (401, {}, SearchRefused),
        (403, {"error": {"root_cause": [{"type": "x", "reason": "y"}]}}, SearchRefused),
        (404, {"error": {"type": "index_not_found_exception", "reason": "gone"}}, SearchRefused),
    ],
)
async def test_every_answer_that_is_none_is_lost_or_refused(
    status: int, answer: Any, kind: type[Exception]
) -> None:
    with pytest.raises(kind, match=r"search\.test"):
        await playing(status, answer).count()


@pytest.mark.parametrize(
    ("statuses", "kind"),
    [([200, 400], SearchRefused), ([400, 429], SearchLost), ([503], SearchLost)],
)
async def test_documents_that_were_not_taken_are_noticed(
    statuses: list[int], kind: type[Exception]
) -> None:
    items = [
        {"index": {"status": status, **({"error": {"type": "t"}} if status >= 300 else {})}}
        for status in statuses
    ]

    with pytest.raises(kind, match="documents were not taken"):
        await playing(200, {"errors": True, "items": items}).put([document("a")])


@pytest.mark.parametrize(("busy", "is_well"), [(2, True), (3, False)])
async def test_a_rebuild_waits_for_a_server_that_is_busy(busy: int, is_well: bool) -> None:
    bulks: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("_bulk"):
            bulks.append(request)
            if len(bulks) <= busy:
                return httpx.Response(429, json={"error": {"type": "busy", "reason": "later"}})
        return httpx.Response(200, json={"errors": False})

    async def pages() -> AsyncIterator[Sequence[Document]]:
        yield [document("a")]

    http = httpx.AsyncClient(transport=httpx.MockTransport(answer), base_url="http://search.test")
    index = RestSearch(http, "products", pauses=(0.0, 0.0))
    with nullcontext() if is_well else pytest.raises(SearchLost):
        assert await index.rebuild(pages()) == 1
    assert len(bulks) == 3


async def test_without_its_alias_nothing_is_made_up(search_url: str) -> None:
    settings = SearchSettings(url=search_url, index="test_never_prepared")
    async with open_http(settings) as http:
        index = RestSearch(http, settings.index)
        with pytest.raises(SearchRefused, match="penstock catalog reindex"):
            await index.put([document("a")])
        with pytest.raises(SearchRefused, match="penstock catalog reindex"):
            await index.search(Query("lamp"))

        assert (await http.head(f"/{settings.index}")).status_code == 404


async def test_of_many_who_prepare_one_does(search_url: str) -> None:
    async with open_index(search_url) as index:
        http, alias = index._http, index._alias
        await http.delete(f"/{alias}-first")

        await asyncio.gather(*(RestSearch(http, alias).prepare() for _ in range(4)))

        assert await indexes_of(http, alias) == [f"{alias}-first"]


async def test_a_rebuild_leaves_one_index_whatever_happens(index: RestSearch) -> None:
    async def pages(fails: bool) -> AsyncIterator[Sequence[Document]]:
        yield [document("a")]
        assert len(await indexes_of(index._http, index._alias)) == 2
        if fails:
            raise RuntimeError("the store went away")

    await index.rebuild(pages(fails=False))
    (built,) = await indexes_of(index._http, index._alias)
    with pytest.raises(RuntimeError):
        await index.rebuild(pages(fails=True))

    assert await indexes_of(index._http, index._alias) == [built]
    assert built != f"{index._alias}-first"


async def test_the_server_has_the_mapping_that_was_agreed_on(index: RestSearch) -> None:
    found = (await index._http.get(f"/{index._alias}/_mapping")).json()
    ((_, answer),) = found.items()

    mapped = answer["mappings"]["properties"]
    assert mapped["product_name"] == {"type": "text", "analyzer": "standard"}
    assert mapped["created_at"]["type"] == "date"
    for name in ("product_id", "brand", "category", "domain_name", "currency", "availability"):
        assert mapped[name]["type"] == "keyword"
    assert set(mapped) == set(INDEX["mappings"]["properties"])


async def test_requests_are_bounded(index: RestSearch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest, "MOST_BYTES", 1_000)
    await index.put([document(f"{each:02}", description="lamp " * 50) for each in range(20)])
    await index.remove([f"{each:02}" for each in range(5)])

    assert await index.count() == 15


async def test_name_and_password_are_sent_and_never_shown(
    caplog: pytest.LogCaptureFixture,
) -> None:
    settings = SearchSettings(url="https://ann:s3cret@search.test:9200/es", api_key="")
    http = open_http(settings)
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(500, json={})

    http._transport = httpx.MockTransport(answer)
    with caplog.at_level(logging.DEBUG), pytest.raises(SearchLost) as trouble:
        await RestSearch(http, "products").count()

    (request,) = seen
    assert request.headers["Authorization"].startswith("Basic ")
    assert str(request.url) == "https://search.test:9200/es/products/_refresh"
    assert "s3cret" not in f"{trouble.value} {caplog.text} {settings!r}"


async def test_a_key_is_sent_instead_of_a_password() -> None:
    async with open_http(SearchSettings(url="http://search.test", api_key="k3y")) as http:
        assert http.headers["Authorization"] == "ApiKey k3y"


@pytest.mark.parametrize("url", ["search.test:9200", "ftp://search.test", "http://", "http://a:b"])
def test_what_is_no_url_of_a_server_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match="PENSTOCK_SEARCH__URL"):
        open_http(SearchSettings(url=url))
