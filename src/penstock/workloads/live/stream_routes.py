"""A feed as it changes: as server-sent events, and over a WebSocket."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from typing import Annotated

import orjson
from fastapi import APIRouter, Depends, Header, Query, Response, WebSocket, WebSocketDisconnect
from fastapi.responses import StreamingResponse

from penstock.core.errors import StoreError
from penstock.core.log import get_logger
from penstock.web.documents import answers
from penstock.web.errors import ApiError, NotFound, TooManyRequests, Unavailable, invalid
from penstock.web.files import EVENT_STREAM, event, event_stream
from penstock.workloads.live.asking import LARGEST, FeedId, admit_consumer, consumers
from penstock.workloads.live.service import LiveService
from penstock.workloads.live.streaming import FeedStreams, Message

#: What a browser offers beside `key.` and its key, and what is chosen then.
PROTOCOL, KEY_PREFIX = "penstock", "key."
HEADER = "X-Service-Key"
LONGEST_REASON = 120
ENDED, NOT_ALLOWED, TRY_LATER, NO_FEED = 1000, 1008, 1013, 4404
#: What a feed says; see `FeedStreams.follow`.
Messages = AsyncGenerator[Message | None, None]
#: Browsers come back after so many milliseconds.
COME_BACK = b"retry: 2000\n\n"

After = Annotated[
    int | None,
    Query(
        ge=0,
        le=LARGEST,
        description="The number of the last update that is known; the last one comes if absent.",
    ),
]
LastEventId = Annotated[
    str | None,
    Header(max_length=30, description="The same, as browsers say it; it goes before `after`."),
]


def add(router: APIRouter, service: LiveService, streams: FeedStreams) -> None:
    """Add the endpoints."""
    keys_required = service.settings.keys_required
    _add_events(router, service, streams, keys_required=keys_required)
    _add_socket(router, service, streams, keys_required=keys_required)


def _add_events(
    router: APIRouter, service: LiveService, streams: FeedStreams, *, keys_required: bool
) -> None:
    @router.get(
        "/{feed}/events",
        summary="A feed as server-sent events",
        description=(
            "`update` for what is news, with its number as id; `status` at first and when "
            "freshness changes; `gap` where updates are not kept any more; `end` at last. The same "
            "comes as JSON over a WebSocket at `/ws` instead of `/events`."
        ),
        response_class=StreamingResponse,
        responses={
            **answers(404),
            200: {"description": "Events as they come", "content": EVENT_STREAM},
        },
        dependencies=[Depends(consumers(keys_required=keys_required))],
    )
    async def stream_events(
        feed: FeedId, after: After = None, last_event_id: LastEventId = None
    ) -> Response:
        streams.refuse_if_full()
        await service.get(feed)
        place = _number(last_event_id) if last_event_id else None
        return event_stream(_events(streams.follow(feed, after if place is None else place)))


async def _events(messages: Messages) -> AsyncIterator[bytes]:
    yield COME_BACK
    async with aclosing(messages):
        async for message in messages:
            yield b": still here\n\n" if message is None else _event(message)


def _event(message: Message) -> bytes:
    number = "" if message.sequence is None else str(message.sequence)
    return event(message.event, message.data, number)


def _number(text: str) -> int | None:
    """The number of an update; None if it is none."""
    is_number = text.isascii() and text.isdigit() and int(text) <= LARGEST
    return int(text) if is_number else None


def _add_socket(
    router: APIRouter, service: LiveService, streams: FeedStreams, *, keys_required: bool
) -> None:
    @router.websocket("/{feed}/ws")
    async def stream_messages(socket: WebSocket, feed: str) -> None:
        offered = socket.scope.get("subprotocols", [])
        await socket.accept(PROTOCOL if PROTOCOL in offered else None)
        try:
            guard = socket.app.state.guard
            await admit_consumer(guard, _key(socket), keys_required=keys_required)
            after = _place(socket.query_params.get("after"))
            streams.refuse_if_full()
            await service.get(feed)
            code, reason = await _tell(socket, streams.follow(feed, after))
        except ApiError as error:
            code, reason = _code(error), str(error)
        except StoreError as error:
            get_logger().error("the store is in trouble", error=str(error))
            code, reason = TRY_LATER, "the store does not answer"
        except WebSocketDisconnect:
            return
        with suppress(WebSocketDisconnect, RuntimeError):
            await socket.close(code, _cut(reason))


def _key(socket: WebSocket) -> str | None:
    """The key that somebody brings: in the header, or as browsers can."""
    if secret := socket.headers.get(HEADER):
        return secret
    offered = socket.scope.get("subprotocols", [])
    keys = [each.removeprefix(KEY_PREFIX) for each in offered if each.startswith(KEY_PREFIX)]
    return keys[0] if keys else None


def _place(after: str | None) -> int | None:
    if after is None:
        return None
    number = _number(after)
    if number is None:
        raise invalid("after", "must be the number of an update")
    return number


async def _tell(socket: WebSocket, messages: Messages) -> tuple[int, str]:
    """Tell everything until it ends, or the other side has gone; why it ended."""
    leaving = asyncio.create_task(_until_gone(socket))
    telling = asyncio.create_task(_send(socket, messages))
    try:
        await asyncio.wait({leaving, telling}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        leaving.cancel()
        has_told = telling.done()
        telling.cancel()
        await asyncio.gather(leaving, telling, return_exceptions=True)
    return telling.result() if has_told else (ENDED, "")


async def _send(socket: WebSocket, messages: Messages) -> tuple[int, str]:
    async with aclosing(messages):
        async for message in messages:
            if message is None:
                continue
            await socket.send_text(_text(message))
            if message.event == "end":
                return ENDED, f"the feed is {message.data['status']}"
    return TRY_LATER, "the service is shutting down"


def _text(message: Message) -> str:
    identity = {} if message.sequence is None else {"id": message.sequence}
    return orjson.dumps({"event": message.event, **identity, "data": message.data}).decode()


async def _until_gone(socket: WebSocket) -> None:
    """Listen until the other side leaves; nothing that it says means anything."""
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass


def _code(error: ApiError) -> int:
    match error:
        case NotFound():
            return NO_FEED
        case TooManyRequests() | Unavailable():
            return TRY_LATER
        case _:
            return NOT_ALLOWED


def _cut(reason: str) -> str:
    """A reason has to fit in a frame of its own."""
    return reason.encode()[:LONGEST_REASON].decode(errors="ignore")
