"""What both clients do alike: how a call goes out, and what to do when it fails."""

from collections.abc import Iterator
from typing import Any

import httpx

from penstock.client import calls
from penstock.client.calls import Call
from penstock.client.errors import ClientError, NotReached
from penstock.client.retrying import WORTH_A_RETRY, Retrying
from penstock.client.streams import EventReader

TIMEOUT = 30.0
#: A stream shows a sign of life every 15 seconds.
STREAM_TIMEOUT = 60.0
BAD_GATEWAY = 502
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
        was_sent = not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
        pause = None if was_sent and not self._call.repeats else self._next_pause(None)
        if pause is None:
            said = type(error).__name__ if error else "the answer ended too early"
            raise NotReached(f"{self._call.method} {self._call.path}: {said}") from error
        return pause

    def refused(self, response: httpx.Response) -> float:
        """The service said no; seconds to wait, or what it said if there is no use in asking."""
        retry_after = self._retrying.read_retry_after(response.headers.get("Retry-After"))
        # A gateway cannot tell whether the service behind it has heard the call.
        is_unsure = response.status_code == BAD_GATEWAY and not self._call.repeats
        if response.status_code in WORTH_A_RETRY and not is_unsure:
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


def stream_options(reader: EventReader) -> dict[str, Any]:
    """How a stream is asked for: from where the last one broke."""
    headers = {"Accept": "text/event-stream"}
    if reader.last_id:
        headers["Last-Event-ID"] = reader.last_id
    return {"headers": headers, "timeout": httpx.Timeout(TIMEOUT, read=STREAM_TIMEOUT)}


def looks() -> Iterator[float]:
    """The pauses between looks at a job: short at first."""
    pause = FIRST_LOOK
    while True:
        yield pause
        pause = min(pause * 1.5, LAST_LOOK)
