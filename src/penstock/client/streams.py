"""Server-sent events: lines in, events out."""

from collections.abc import Iterator
from typing import Any

import orjson

from penstock.client.errors import ClientError
from penstock.client.models import JobEvent

LAST_EVENT_ID = "Last-Event-ID"


class EventReader:
    """Puts the lines of a stream together; remembers where a broken one is to be taken up."""

    def __init__(self, last_id: str = "") -> None:
        #: Of the last event that was had whole.
        self.last_id = last_id
        self._id = last_id
        self._name = ""
        self._data: list[str] = []

    def feed(self, line: str) -> Iterator[JobEvent]:
        """Take a line without its end; the event that it completes, if it does."""
        if not line:
            yield from self._complete()
            return
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match field:
            case "event":
                self._name = value
            case "data":
                self._data.append(value)
            case "id":
                self._id = value
            case _:
                # A comment keeps the connection alive; other fields are not for us.
                return

    def begin(self) -> None:
        """A new connection: what an older one left unfinished is void."""
        self._id, self._name, self._data = self.last_id, "", []

    def _complete(self) -> Iterator[JobEvent]:
        self.last_id = self._id
        if self._data:
            data = self._read()
            fields = data if isinstance(data, dict) else {"value": data}
            yield JobEvent(id=self.last_id, name=self._name or "message", data=fields)
        self.begin()

    def _read(self) -> Any:
        try:
            return orjson.loads("\n".join(self._data))
        except orjson.JSONDecodeError as error:
            raise ClientError("this is no stream of Penstock") from error
