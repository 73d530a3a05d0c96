"""The page fetcher's pages for programs without asyncio: the same, one call after the other.

with read_stream_blocking(service="http://127.0.0.1:8001", key=key, consumer="indexer") as pages:
    for page in pages:
        index(page.event.url, page.body())
        pages.commit()
"""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from types import TracebackType
from typing import Any, Self, TypeVar

from penstock.client.stream import Pages, Place, StreamPage, WebpageEvent, read_stream

T = TypeVar("T")


class BlockingPage:
    """A page that was fetched: its event at once, its body when it is asked for."""

    def __init__(self, pages: "BlockingPages", page: StreamPage) -> None:
        self.event: WebpageEvent = page.event
        self.place: Place = page.place
        self.page = page
        self._pages = pages

    def body(self) -> bytes | None:
        """The bytes as they came; None if they are kept no more."""
        return self._pages.run(self.page.body())

    def is_expired(self) -> bool:
        """Whether the body is kept no more."""
        return self.body() is None


class BlockingPages:
    """The pages of a stream; a thread keeps the connections alive while a page is worked on."""

    def __init__(self, **given: Any) -> None:
        self._given = given
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._pages: Pages

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self.run(self._open())
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self.run(self._pages.__aexit__(kind, error, traceback))
        finally:
            self._end()

    def __iter__(self) -> Iterator[BlockingPage]:
        while True:
            yield BlockingPage(self, self.run(self._pages.__anext__()))

    def commit(self, page: BlockingPage | None = None) -> None:
        """As `Pages.commit`."""
        self.run(self._pages.commit(page.page if page else None))

    def requeue(self, page: BlockingPage) -> None:
        """As `Pages.requeue`."""
        self.run(self._pages.requeue(page.page))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What a coroutine gives, run where the connections are."""
        waiting = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return waiting.result()
        except KeyboardInterrupt:
            waiting.cancel()
            raise

    async def _open(self) -> None:
        self._pages = read_stream(**self._given)
        await self._pages.__aenter__()

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def read_stream_blocking(**given: Any) -> BlockingPages:
    """As `read_stream`, with the same arguments, in a `with` block."""
    return BlockingPages(**given)
