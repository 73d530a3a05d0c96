"""Pages that could not be read are kept for people to look at, as many as the settings say."""

from penstock.blobs.ports import Blobs
from penstock.core.errors import BlobError
from penstock.core.log import get_logger
from penstock.workloads.live.desk import Trouble
from penstock.workloads.live.troubles import ErrorEntry


async def entry_of(trouble: Trouble, blobs: Blobs) -> ErrorEntry:
    """An error to be logged, its evidence kept as blobs; what cannot be kept is done without."""
    return ErrorEntry(
        scraper_id=trouble.scraper_id,
        match_id=trouble.match_id,
        error_type=trouble.type,
        message=trouble.message,
        at=trouble.at,
        stack_trace=trouble.stack_trace,
        url=trouble.url,
        operation=trouble.operation,
        retry_attempt=trouble.retry_attempt,
        snapshot=await _keep(trouble.evidence, blobs),
        screenshot=await _keep(trouble.picture, blobs),
    )


async def _keep(data: bytes | None, blobs: Blobs) -> str | None:
    if not data:
        return None
    try:
        return await blobs.put(data)
    except BlobError as error:
        get_logger().warning("live: a page that could not be read is not kept", error=str(error))
        return None
