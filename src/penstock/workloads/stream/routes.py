"""The endpoints of the page fetcher on the store, under /api/v1/stream.

Keys of one workspace are for none of it: queue and events belong to all of the platform.
"""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Response

from penstock.web.documents import ACCEPTED, answers
from penstock.web.envelope import ApiResponse, answer
from penstock.web.errors import Conflict, Forbidden, NotFound, QueueFull
from penstock.web.guard import Admin, Reader, Scraper
from penstock.web.keys import Key
from penstock.workloads.stream.desk import Desk, Pushed
from penstock.workloads.stream.reading import Reading
from penstock.workloads.stream.views import (
    A_KEY,
    LARGEST,
    Commit,
    ConsumerView,
    DeadLetterView,
    DiscardedView,
    EventView,
    Name,
    Push,
    PushedView,
    Revival,
    RevivedView,
    StandingView,
    view_consumer,
    view_event,
    view_letter,
    view_refusal,
)

PREFIX = "/api/v1/stream"
LONGEST_WAIT = 30.0
NOT_OF_A_WORKSPACE = "The page fetcher is not for keys of one workspace"
NO_BODY = (
    "There is no body under this key: it was never fetched, or its time is over. "
    "Push the URL again to have it fetched anew"
)
BINARY = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}

Limit = Annotated[int, Query(ge=1, le=1000)]
Place = Annotated[int, Query(ge=0, le=LARGEST, description="`meta.next_after` of the part before.")]
Wait = Annotated[
    float, Query(ge=0, le=LONGEST_WAIT, description="Seconds to wait if there is nothing yet.")
]
Cursor = Annotated[
    str | None,
    Query(
        pattern=r"^[0-9]{1,15}\.[0-9a-f]{32}$",
        description="`meta.next_cursor` of the part before.",
    ),
]
PageKey = Annotated[
    str, Path(pattern=r"^[0-9a-f]{64}$", description="`key` of an event.", examples=[A_KEY])
]
ConsumerName = Annotated[
    str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$", description="Of your choice.")
]
Word = Annotated[Name | None, Query()]
#: In its escaped form it has to fit in the first line of a request.
OneUrl = Annotated[str | None, Query(min_length=1, max_length=4000)]


def _of_the_platform(key: Key) -> Key:
    if key.workspace_id is not None:
        raise Forbidden(NOT_OF_A_WORKSPACE)
    return key


async def _onlooker(key: Reader) -> Key:
    return _of_the_platform(key)


async def _producer(key: Scraper) -> Key:
    return _of_the_platform(key)


async def _operator(key: Admin) -> Key:
    return _of_the_platform(key)


Onlooker = Annotated[Key, Depends(_onlooker)]
Producer = Annotated[Key, Depends(_producer)]
Operator = Annotated[Key, Depends(_operator)]


def stream_routes(desk: Desk, reading: Reading) -> APIRouter:
    """All endpoints, for an API to mount."""
    router = APIRouter(prefix=PREFIX, tags=["stream"])
    _add_queue(router, desk)
    _add_events(router, reading)
    _add_consumers(router, reading)
    _add_dead_letters(router, desk)
    _add_ends_of_dead_letters(router, desk)
    return router


def _add_queue(router: APIRouter, desk: Desk) -> None:
    @router.post(
        "/urls",
        status_code=202,
        summary="Push URLs",
        description="Each is taken or rejected on its own. Pushed again, a URL is fetched again.",
        response_model=ApiResponse[PushedView],
        responses=answers(*ACCEPTED),
    )
    async def push_urls(body: Push, key: Producer) -> Response:
        del key
        return _answer_push(await desk.push(body.urls))

    @router.get(
        "/depth",
        summary="How many URLs wait, are parked, under way, and failed for good",
        response_model=ApiResponse[StandingView],
        responses=answers(),
    )
    async def get_depth(key: Onlooker) -> Response:
        del key
        return answer((await desk.depth())._asdict())


def _answer_push(pushed: Pushed) -> Response:
    if pushed.retry_after is None:
        headers = {}
    else:
        refusal = QueueFull("The queue of URLs is full", retry_after=pushed.retry_after)
        if not pushed.accepted:
            raise refusal
        headers = refusal.headers
    rejected = [view_refusal(each) for each in pushed.rejected]
    data = {"accepted": pushed.accepted, "rejected": rejected}
    return answer(data, status=202, headers=headers)


def _add_events(router: APIRouter, reading: Reading) -> None:
    @router.get(
        "/events",
        summary="Pages that were fetched, oldest first",
        description="Go on with `meta.next_after`, also if there was nothing.",
        response_model=ApiResponse[list[EventView]],
        responses=answers(),
    )
    async def list_events(
        key: Onlooker, after: Place = 0, limit: Limit = 100, wait: Wait = 0.0
    ) -> Response:
        del key
        part = await reading.events(after, limit, wait)
        meta = {"limit": limit, "next_after": part.next_after}
        return answer([view_event(event) for event in part.events], meta=meta)

    @router.get(
        "/pages/{key}",
        summary="The body of a page, byte for byte, while it is kept",
        description="Its content type is in the event.",
        response_class=Response,
        responses={**answers(404), 200: {"description": "The body", "content": BINARY}},
    )
    async def get_page(key: PageKey, caller: Onlooker) -> Response:
        del caller
        body = await reading.cache.get(f"webpage:{key}")
        if body is None:
            raise NotFound(NO_BODY)
        # Somebody else wrote it: it must not run in the origin of this API.
        headers = {
            "Content-Security-Policy": "sandbox; default-src 'none'",
            "X-Content-Type-Options": "nosniff",
            "Content-Disposition": f'attachment; filename="{key}"',
            "Cache-Control": "no-store",
        }
        return Response(body, media_type="application/octet-stream", headers=headers)


def _add_consumers(router: APIRouter, reading: Reading) -> None:
    @router.get(
        "/consumers/{name}",
        summary="How far a consumer has come",
        response_model=ApiResponse[ConsumerView],
        responses=answers(),
    )
    async def get_consumer(name: ConsumerName, key: Onlooker) -> Response:
        del key
        return answer(view_consumer(await reading.consumer(name)))

    @router.put(
        "/consumers/{name}",
        summary="Commit: say up to which event a consumer is done",
        description="An earlier place than before is taken, too: what follows it is read again.",
        response_model=ApiResponse[ConsumerView],
        responses=answers(*ACCEPTED),
    )
    async def put_consumer(name: ConsumerName, body: Commit, key: Onlooker) -> Response:
        del key
        return answer(view_consumer(await reading.commit(name, body.seq)))


def _add_dead_letters(router: APIRouter, desk: Desk) -> None:
    @router.get(
        "/dlq",
        summary="Dead letters, oldest first",
        description="A part may be small, or empty, though more follows: see `meta.next_cursor`.",
        response_model=ApiResponse[list[DeadLetterView]],
        responses=answers(),
    )
    async def list_dead_letters(
        key: Onlooker,
        domain: Word = None,
        reason: Word = None,
        cursor: Cursor = None,
        limit: Limit = 100,
    ) -> Response:
        del key
        found = await desk.dead(cursor, limit, domain=domain or "", reason=reason or "")
        meta = {"limit": limit, "next_cursor": found.next_cursor}
        return answer([view_letter(letter) for letter in found.letters], meta=meta)


def _add_ends_of_dead_letters(router: APIRouter, desk: Desk) -> None:
    @router.post(
        "/dlq/revive",
        summary="Let dead letters wait again",
        response_model=ApiResponse[RevivedView],
        responses=answers(*ACCEPTED),
    )
    async def revive_dead_letters(body: Revival, key: Operator) -> Response:
        del key
        chosen = {"domain": body.domain or "", "reason": body.reason or ""}
        return answer({"revived": await desk.revive(body.urls, **chosen)})

    @router.delete(
        "/dlq",
        summary="Forget dead letters for good",
        description="Without url, domain or reason `all=true` is needed.",
        response_model=ApiResponse[DiscardedView],
        responses=answers(409),
    )
    async def discard_dead_letters(
        *,
        key: Operator,
        url: OneUrl = None,
        domain: Word = None,
        reason: Word = None,
        everything: Annotated[bool, Query(alias="all")] = False,
    ) -> Response:
        del key
        if not (url or domain or reason or everything):
            raise Conflict("Nothing was chosen: give url, domain or reason, or all=true")
        chosen = {"domain": domain or "", "reason": reason or ""}
        return answer({"discarded": await desk.discard([url] if url else None, **chosen)})
