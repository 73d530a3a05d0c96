"""What feeds say, for consumers: the latest state with its age, and what was news."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Response

from penstock.web.asking import Limit
from penstock.web.documents import answers
from penstock.web.envelope import ApiResponse, answer
from penstock.workloads.live.asking import LARGEST, FeedId, consumers
from penstock.workloads.live.service import LiveService, Reading
from penstock.workloads.live.views import StateView, UpdateView, second, view_state, view_update

UNCHANGED = 304
IfNoneMatch = Annotated[str | None, Header(description="`ETag` of the answer before.")]
After = Annotated[int, Query(ge=0, le=LARGEST, description="`meta.next_after` of the part before.")]

_TEXT, _WHOLE = {"type": "string"}, {"type": "integer"}
HEADERS: dict[str, Any] = {
    "X-Data-Freshness": {
        "description": "When the page was last seen.",
        "schema": {"type": "string", "format": "date-time"},
    },
    "X-Data-Age-Seconds": {"description": "How long ago that was.", "schema": _WHOLE},
    "ETag": {"description": "Another one, if the state or its source is.", "schema": _TEXT},
}
#: The answers to whoever asks for a state.
STATES: dict[int | str, dict[str, Any]] = {
    200: {"headers": HEADERS},
    UNCHANGED: {"description": "The state is that of `If-None-Match`", "headers": HEADERS},
}


def add(router: APIRouter, service: LiveService) -> None:
    """Add the endpoints."""
    may_read = [Depends(consumers(keys_required=service.settings.keys_required))]

    @router.get(
        "/{feed}",
        summary="What a feed says now, and how fresh that is",
        description=(
            "`_metadata.source` is `scraper` while the feed is watched and fresh. Else it is "
            "`cache`: that is the last that is known."
        ),
        response_model=ApiResponse[StateView],
        responses={**answers(404), **STATES},
        dependencies=may_read,
    )
    async def read_feed(feed: FeedId, if_none_match: IfNoneMatch = None) -> Response:
        reading = await service.read(feed)
        headers = freshness_headers(reading)
        if is_known(headers["ETag"], if_none_match):
            return Response(status_code=UNCHANGED, headers=headers)
        return answer(view_state(reading), headers=headers)

    @router.get(
        "/{feed}/updates",
        summary="What was news in a feed, oldest first",
        description="Go on with `meta.next_after`, also if there was nothing.",
        response_model=ApiResponse[list[UpdateView]],
        responses=answers(404),
        dependencies=may_read,
    )
    async def list_updates(feed: FeedId, after: After = 0, limit: Limit = 50) -> Response:
        row = await service.get(feed)
        updates = await service.updates_after(feed, after, limit)
        following = updates[-1]["sequence"] if updates else after
        meta = {"limit": limit, "next_after": following, "last_sequence": row["last_sequence"]}
        return answer([view_update(each) for each in updates], meta=meta)


def freshness_headers(reading: Reading) -> dict[str, str]:
    """How fresh a state is, for those who look at nothing else."""
    # Weak: the same state is an older one in the next second.
    tag = f'W/"{reading.sequence}-{reading.feed["last_hash"][:12]}-{reading.source}"'
    return {
        "X-Data-Freshness": second(reading.scraped_at),
        "X-Data-Age-Seconds": str(reading.age_seconds),
        "ETag": tag,
        "Cache-Control": "no-cache",
    }


def is_known(tag: str, known: str | None) -> bool:
    """Whether somebody has a state already."""
    tags = {each.strip().removeprefix("W/") for each in (known or "").split(",")}
    return "*" in tags or tag.removeprefix("W/") in tags
