"""Steps in the life of one task at which a worker can be made to die."""

from collections.abc import Callable
from inspect import iscoroutinefunction
from typing import Any

from penstock.blobs.s3 import S3Blobs
from penstock.kernel.fetchers.http import HttpFetcher
from penstock.workloads.catalog.downloading import DownloadLane
from penstock.workloads.catalog.imaging import ImageLane
from penstock.workloads.catalog.parsing import ParseLane
from tests.chaos.engine.failpoints import FATES

VARIABLE = "PENSTOCK_CHAOS_CATALOG_FAILPOINT"

Fuse = Callable[[], None]
Put = Callable[[Fuse], None]


def plant(wanted: str) -> None:
    """Have the process die when a step is come by for the n-th time: `name:n`, empty for never."""
    if not wanted:
        return
    name, nth = wanted.split(":")
    left = int(nth)

    def fuse() -> None:
        nonlocal left
        left -= 1
        if left <= 0:
            FATES["death"]()

    STEPS[name](fuse)


def _before(owner: Any, name: str) -> Put:
    def put(fuse: Fuse) -> None:
        original: Callable[..., Any] = getattr(owner, name)

        def burning(*args: Any, **kwargs: Any) -> Any:
            fuse()
            return original(*args, **kwargs)

        setattr(owner, name, burning)

    return put


def _after(owner: Any, name: str) -> Put:
    def put(fuse: Fuse) -> None:
        original: Callable[..., Any] = getattr(owner, name)

        async def burning(*args: Any, **kwargs: Any) -> Any:
            result = await original(*args, **kwargs)
            fuse()
            return result

        def burning_at_once(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            fuse()
            return result

        setattr(owner, name, burning if iscoroutinefunction(original) else burning_at_once)

    return put


#: In the order of a task's life.
STEPS: dict[str, Put] = {
    "begun": _after(DownloadLane, "provide"),
    "fetched": _after(HttpFetcher, "fetch"),
    "page kept": _after(S3Blobs, "put"),
    "download written, not committed": _after(DownloadLane, "record"),
    "downloaded, not parsed": _before(ParseLane, "do"),
    "parsed": _after(ParseLane, "do"),
    "product written, not committed": _after(ParseLane, "record"),
    "picture to be got": _before(ImageLane, "request"),
    "picture kept, not written": _before(ImageLane, "record"),
}
#: Steps that many tasks may take together: that there is a second time is not certain.
TOGETHER = frozenset(
    {
        "download written, not committed",
        "product written, not committed",
        "picture kept, not written",
    }
)
