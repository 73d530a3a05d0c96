"""What both clients do alike: how a call goes out, and what to do when it fails."""

from collections.abc import Iterator
from typing import Any

import httpx

from penstock.client import calls
from penstock.client.calls import Call
from penstock.client.errors import ClientError, NotReached
from penstock.client.retrying import WORTH_A_RETRY, Retrying
from penstock.client.streams import LAST_EVENT_ID, EventReader

TIMEOUT = 30.0
#: A stream shows a sign of life every 15 seconds.
STREAM_TIMEOUT = 60.0
TOO_MANY, UNAVAILABLE = 429, 503
FIRST_LOOK, LAST_LOOK = 0.2, 5.0
#: The name of a stream's last event.
END = "end"


class Attempts:
    """One call on its way: what came of its attempts, and what to do next."""

    def __init__(self, call: Call[Any], retrying: Retrying) -> None:
        self._call = call
        self._retrying = retrying
        self._attempt = 0

    def failed(self, error: httpx.RequestError | None = None) -> float:
        """The service was not reached; seconds to wait, or `NotReached` if that was the last.

        Without an error it hung up before it was done, as one does that is shut down. What must
        not be done twice is not repeated once it may have been heard.
        """
        pause = self._next_pause(None) if self._call.repeats or _was_unsent(error) else None
        if pause is None:
            said = type(error).__name__ if error else "the answer ended too early"
            raise NotReached(f"{self._call.method} {self._call.path}: {said}") from error
        return pause

    def refused(self, response: httpx.Response) -> float:
        """The service said no; seconds to wait, or what it said if there is no use in asking."""
        retry_after = self._retrying.read_retry_after(response.headers.get("Retry-After"))
        may_repeat = self._call.repeats or _was_not_begun(response)
        if response.status_code in WORTH_A_RETRY and may_repeat:
            pause = self._next_pause(retry_after)
            if pause is not None:
                return pause
        raise calls.read_refusal(
            response.status_code,
            response.content,
            response.headers.get("X-Request-ID", ""),
            retry_after,
        )

    def _next_pause(self, retry_after: float | None) -> float | None:
        self._attempt += 1
        return self._retrying.pause(self._attempt - 1, retry_after)


def _was_unsent(error: httpx.RequestError | None) -> bool:
    """Whether the service cannot have heard of a call: there was no connection for it."""
    return isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)


def _was_not_begun(response: httpx.Response) -> bool:
    """Whether a refusal came before anything was done.

    A gateway cannot tell whether the service behind it has heard the call. The service can, and
    says when to come back; if it lost its store meanwhile, it says that it is not sure.
    """
    if response.status_code != UNAVAILABLE:
        return response.status_code == TOO_MANY
    match calls.envelope_of(response.content):
        case {"success": False, "meta": {"unsure": True}}:
            return False
        case {"success": False}:
            return "Retry-After" in response.headers
    return False


def http_options(base: str, key: str, timeout: float) -> dict[str, Any]:
    """The settings of an HTTP client; the key goes to the service and nowhere else."""
    if not base.startswith(("http://", "https://")):
        raise ClientError(f"{base!r} is not the URL of a service: http://host:8001")
    return {
        "base_url": base.rstrip("/"),
        "headers": {"X-Service-Key": key, "Accept": "application/json"},
        "timeout": timeout,
        "follow_redirects": False,
        "trust_env": False,
    }


def request_options(call: Call[Any], timeout: float) -> dict[str, Any]:
    """A call as the HTTP client takes it."""
    return {
        "method": call.method,
        "url": call.path,
        "json": call.body,
        "params": call.query,
        "headers": call.headers,
        "timeout": timeout + call.patience,
    }


def reader_of(call: Call[Any]) -> EventReader:
    """Who reads a stream, from the place that the call names."""
    return EventReader(call.headers.get(LAST_EVENT_ID, ""))


def stream_options(reader: EventReader) -> dict[str, Any]:
    """How a stream is asked for: from where the last one broke."""
    headers = {"Accept": "text/event-stream"}
    if reader.last_id:
        headers[LAST_EVENT_ID] = reader.last_id
    return {"headers": headers, "timeout": httpx.Timeout(TIMEOUT, read=STREAM_TIMEOUT)}


def looks() -> Iterator[float]:
    """The pauses between looks at a job: short at first."""
    pause = FIRST_LOOK
    while True:
        yield pause
        pause = min(pause * 1.5, LAST_LOOK)
