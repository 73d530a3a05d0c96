"""Search in Elasticsearch or OpenSearch, by the REST calls that both have.

An alias leads to the index of the day. A rebuild fills another one and moves the alias, so that a
search sees the one or the other, whole. Everything that is put goes through an alias that must be
there: a server never makes an index up.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Any
from urllib.parse import quote

import httpx
import orjson

from penstock.core.errors import SettingsError
from penstock.core.ids import new_id
from penstock.core.log import get_logger
from penstock.products.search.analysis import analyse
from penstock.products.search.plan import Groups, Match, Plan, Position, Ranges, Segment
from penstock.products.search.ports import (
    MOST_COUNTED,
    Document,
    Found,
    Pages,
    Query,
    SearchLost,
    SearchRefused,
)
from penstock.products.search.settings import SearchSettings
from penstock.products.search.walking import SHOWN, Part, Row, walk
from penstock.store.schema import storable

SETTING = "PENSTOCK_SEARCH__URL"
AT_ONCE = 500
#: Of one request that puts documents.
MOST_BYTES = 5_000_000
#: Seconds that a rebuild waits for a server that is busy or away, one after the other.
PAUSES = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0)
LONGEST_REASON = 300
OK, UNAUTHENTICATED, FORBIDDEN, NOT_FOUND, TOO_MANY, SERVER_ERROR = 300, 401, 403, 404, 429, 500
CENT = Decimal("0.01")

_KEYWORD = {"type": "keyword", "ignore_above": 8191}
_SHOWN_ONLY = {"type": "keyword", "index": False, "doc_values": False}
INDEX: dict[str, Any] = {
    "settings": {"index": {"number_of_shards": 1, "auto_expand_replicas": "0-1"}},
    "mappings": {
        "dynamic": False,
        "properties": {
            "product_id": {"type": "keyword"},
            "product_name": {"type": "text", "analyzer": "standard"},
            "description": {"type": "text", "analyzer": "standard"},
            "brand": _KEYWORD,
            "category": _KEYWORD,
            "domain_name": _KEYWORD,
            "created_at": {"type": "date", "format": "epoch_millis"},
            "updated_at": {"type": "date", "format": "epoch_millis"},
            "price": {"type": "double"},
            "currency": _KEYWORD,
            "availability": _KEYWORD,
            "rating": {"type": "double"},
            "url": _SHOWN_ONLY,
            "image_url": _SHOWN_ONLY,
            # What is searched by: see `analysis`.
            "words": {"type": "keyword", "doc_values": False},
            "place": {"type": "long"},
            "sort_name": {"type": "keyword"},
        },
    },
}


class RestSearch:
    """Documents of a server; `refresh` says whether what is put is found at once or soon."""

    def __init__(
        self,
        http: httpx.AsyncClient,
        index: str,
        *,
        refresh: str = "false",
        pauses: Sequence[float] = PAUSES,
    ) -> None:
        self._http = http
        self._alias = index
        self._refresh = refresh
        self._pauses = pauses

    async def prepare(self) -> None:
        if await self._has_alias():
            return
        try:
            await self._create(f"{self._alias}-first", self._alias)
        except SearchRefused:
            # Another process was quicker.
            if not await self._has_alias():
                raise

    async def put(self, documents: Sequence[Document]) -> None:
        newest = {document.product_id: document for document in documents}
        await self._put(self._alias, list(newest.values()))

    async def remove(self, ids: Sequence[str]) -> None:
        lines = [_line({"delete": {"_id": storable(each)}}) for each in dict.fromkeys(ids)]
        await self._send_lines(self._alias, lines)

    async def search(self, query: Query) -> Found:
        return await walk(query, self)

    async def rebuild(self, pages: Pages) -> int:
        name = f"{self._alias}-{new_id()}"
        building = f"{name}-building"
        number = 0
        await self._create(name, building)
        try:
            async for page in pages:
                await self._put_patiently(building, page)
                number += len(page)
            await self._ask("POST", f"/{name}/_refresh")
            await self._switch_to(name, building)
        except BaseException:
            await self._ask("DELETE", f"/{name}", missing_ok=True)
            raise
        return number

    async def ids(self, after: str, limit: int) -> list[str]:
        if not after:
            await self._ask("POST", f"/{self._alias}/_refresh")
        body = {
            "size": limit,
            "sort": [{"product_id": "asc"}],
            "search_after": [storable(after)],
            "_source": False,
        }
        return [hit["sort"][0] for hit in await self._hits(body)]

    async def count(self) -> int:
        await self._ask("POST", f"/{self._alias}/_refresh")
        return int((await self._ask("GET", f"/{self._alias}/_count"))["count"])

    async def counted(self, plan: Plan) -> int:
        wanted = _wanted(plan.base, plan.ranges)
        body = {"size": 0, "track_total_hits": MOST_COUNTED + 1, "query": wanted}
        found = await self._ask("POST", f"/{self._alias}/_search", body)
        return int(found["hits"]["total"]["value"])

    async def take(self, part: Part) -> Sequence[Row]:
        segment = part.segment
        direction = "desc" if segment.descending else "asc"
        columns = [segment.column, "place"] if segment.column else ["place"]
        body: dict[str, Any] = {
            "size": part.limit,
            "query": _wanted(segment.match, part.plan.ranges, segment),
            "sort": [{column: direction} for column in columns],
            "_source": ["product_id", *SHOWN],
        }
        if part.after:
            body["search_after"] = _sort_values(segment, part.after)
        return [_row(segment, hit) for hit in await self._hits(body)]

    async def _hits(self, body: Mapping[str, Any]) -> list[dict[str, Any]]:
        body = {**body, "track_total_hits": False}
        found = await self._ask("POST", f"/{self._alias}/_search", body)
        hits: list[dict[str, Any]] = found["hits"]["hits"]
        return hits

    async def _has_alias(self) -> bool:
        return bool(await self._ask("GET", f"/_alias/{self._alias}", missing_ok=True))

    async def _create(self, name: str, alias: str) -> None:
        await self._ask("PUT", f"/{name}", {**INDEX, "aliases": {alias: {}}})

    async def _switch_to(self, name: str, building: str) -> None:
        """Move the alias, and delete what it led to, in one step."""
        old = await self._ask("GET", f"/_alias/{self._alias}", missing_ok=True)
        actions = [{"remove_index": {"index": each}} for each in old]
        actions.append({"add": {"index": name, "alias": self._alias}})
        actions.append({"remove": {"index": name, "alias": building}})
        await self._ask("POST", "/_aliases", {"actions": actions})

    async def _put(self, alias: str, documents: Sequence[Document]) -> None:
        for start in range(0, len(documents), AT_ONCE):
            some = documents[start : start + AT_ONCE]
            await self._send_lines(alias, await asyncio.to_thread(_lines_of, some))

    async def _put_patiently(self, alias: str, documents: Sequence[Document]) -> None:
        """Put documents of many: a server that cannot take them now costs a pause, not the rest."""
        for pause in self._pauses:
            try:
                await self._put(alias, documents)
            except SearchLost as error:
                get_logger().warning("a rebuild waits", seconds=pause, error=str(error))
                await asyncio.sleep(pause)
            else:
                return
        await self._put(alias, documents)

    async def _send_lines(self, alias: str, lines: Sequence[bytes]) -> None:
        """Send actions, as many at once as a request may have bytes."""
        for some in _in_parts(lines):
            path = f"/{alias}/_bulk?require_alias=true&refresh={self._refresh}"
            answer = await self._ask("POST", path, b"".join(some))
            if answer["errors"]:
                raise _trouble_of(answer["items"])

    async def _ask(
        self, method: str, path: str, body: Any = None, *, missing_ok: bool = False
    ) -> Any:
        """What the server answers; with nothing there, an empty answer if that is fine."""
        content = body if isinstance(body, bytes) or body is None else orjson.dumps(body)
        kind = "application/x-ndjson" if isinstance(body, bytes) else "application/json"
        headers = {"Content-Type": kind} if content else {}
        try:
            reply = await self._http.request(
                method, quote(path, safe="/?=&,"), content=content, headers=headers
            )
            answer = orjson.loads(reply.content) if reply.content else {}
        except (httpx.HTTPError, httpx.InvalidURL, orjson.JSONDecodeError) as error:
            raise SearchLost(f"{self._where} does not answer: {type(error).__name__}") from error
        if reply.status_code < OK:
            return answer
        if reply.status_code == NOT_FOUND and missing_ok:
            return {}
        raise _failure(self._where, reply.status_code, answer)

    @property
    def _where(self) -> str:
        """The server, for people: without name and password."""
        return f"the search server {self._http.base_url.host}"


@asynccontextmanager
async def open_rest(settings: SearchSettings) -> AsyncIterator[RestSearch]:
    """Search on the server that the settings name."""
    async with open_http(settings) as http:
        yield RestSearch(http, settings.index)


def open_http(settings: SearchSettings) -> httpx.AsyncClient:
    """A client that sends name and password, or the key, and never shows them in a URL."""
    try:
        url = httpx.URL(settings.url.get_secret_value())
    except httpx.InvalidURL:
        url = httpx.URL()
    if url.scheme not in ("http", "https") or not url.host:
        raise SettingsError(f"{SETTING} must be a URL that begins with http:// or https://")
    key = settings.api_key.get_secret_value()
    return httpx.AsyncClient(
        base_url=url.copy_with(userinfo=b""),
        auth=(url.username, url.password) if url.username else None,
        headers={"Authorization": f"ApiKey {key}"} if key else {},
        timeout=settings.timeout_seconds,
        trust_env=False,
    )


def _failure(where: str, status: int, answer: Any) -> SearchLost | SearchRefused:
    said = _reason(answer.get("error") if isinstance(answer, dict) else None)
    if status == TOO_MANY or status >= SERVER_ERROR:
        return SearchLost(f"{where} cannot answer now ({status}): {said}")
    if status in (UNAUTHENTICATED, FORBIDDEN):
        return SearchRefused(
            f"{where} refuses us ({status}): check {SETTING} and PENSTOCK_SEARCH__API_KEY"
        )
    if status == NOT_FOUND:
        return SearchRefused(f"{where} has no index: run `penstock catalog reindex` ({said})")
    return SearchRefused(f"{where} refuses ({status}): {said}")


def _trouble_of(items: Sequence[Mapping[str, Any]]) -> SearchLost | SearchRefused:
    """What to raise for actions of which some failed: what can pass, may be tried again."""
    results = [result for item in items for result in item.values() if "error" in result]
    worst = next((each for each in results if _passes(each["status"])), results[0])
    said = f"{len(results)} of {len(items)} documents were not taken: {_reason(worst['error'])}"
    if _passes(worst["status"]):
        return SearchLost(said)
    if worst["status"] == NOT_FOUND:
        return SearchRefused(f"{said}; run `penstock catalog reindex`")
    return SearchRefused(said)


def _passes(status: int) -> bool:
    return status == TOO_MANY or status >= SERVER_ERROR


def _reason(error: Any) -> str:
    if not isinstance(error, dict):
        return str(error)[:LONGEST_REASON]
    causes = error.get("root_cause") or [error]
    return f"{causes[0].get('type')}: {causes[0].get('reason')}"[:LONGEST_REASON]


def _wanted(match: Match, ranges: Ranges, segment: Segment | None = None) -> dict[str, Any]:
    """A query that only filters: what is first is a matter of segments and sorts."""
    filters = [*_groups(match.groups), *_ranges(ranges)]
    excluded: list[dict[str, Any]] = [
        {"bool": {"filter": _groups(groups)}} for groups in match.unless
    ]
    if segment and segment.column:
        filters.append({"exists": {"field": segment.column}})
    if segment and segment.lacks:
        excluded.append({"exists": {"field": segment.lacks}})
    return {"bool": {"filter": filters, "must_not": excluded}}


def _groups(groups: Groups) -> list[dict[str, Any]]:
    return [{"terms": {"words": list(group)}} for group in groups]


def _ranges(ranges: Ranges) -> Iterator[dict[str, Any]]:
    if ranges.price_min is not None:
        yield {"range": {"price": {"gte": float(ranges.price_min)}}}
    if ranges.price_max is not None:
        yield {"range": {"price": {"lte": float(ranges.price_max)}}}
    if ranges.rating_min is not None:
        yield {"range": {"rating": {"gte": float(ranges.rating_min)}}}


def _sort_values(segment: Segment, after: Position) -> list[Any]:
    if segment.column is None:
        return [after.place]
    is_amount = segment.column in ("price", "rating")
    return [float(str(after.value)) if is_amount else after.value, after.place]


def _row(segment: Segment, hit: Mapping[str, Any]) -> Row:
    source, sort = hit["_source"], hit["sort"]
    value = sort[0] if segment.column else None
    if segment.column in ("price", "rating"):
        value = str(Decimal(str(value)).quantize(CENT))
    return Row(value, sort[-1], source["product_id"], {name: source.get(name) for name in SHOWN})


def _lines_of(documents: Sequence[Document]) -> list[bytes]:
    return [
        _line({"index": {"_id": storable(document.product_id)}}) + _line(_source_of(document))
        for document in documents
    ]


def _line(data: Mapping[str, Any]) -> bytes:
    return orjson.dumps(data, option=orjson.OPT_APPEND_NEWLINE)


def _source_of(document: Document) -> dict[str, Any]:
    fields = {name: _plain(getattr(document, name)) for name in Document.__dataclass_fields__}
    tokens, place, sort_name = analyse(document)
    return fields | {"words": tokens, "place": place, "sort_name": sort_name}


def _plain(value: Any) -> Any:
    match value:
        case Decimal():
            return float(value)
        case str():
            return storable(value)
        case _:
            return value


def _in_parts(lines: Sequence[bytes]) -> Iterator[list[bytes]]:
    part: list[bytes] = []
    size = 0
    for line in lines:
        if part and size + len(line) > MOST_BYTES:
            yield part
            part, size = [], 0
        part.append(line)
        size += len(line)
    if part:
        yield part
