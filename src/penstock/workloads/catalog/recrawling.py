"""When a page is crawled again: as often as somebody wants it, and as what was seen suggests.

A price that changed halves the interval, a long quiet lengthens it by half, within bounds. A
download that failed is tried again, later each time.
"""

import random
from collections.abc import Mapping
from typing import Any

from penstock.workloads.catalog.settings import CatalogSettings

SHORTER, LONGER = 0.5, 1.5
#: However far what was seen moves it, an interval stays within so many times what is wanted.
FURTHEST = 8
#: A share of a pause that is left to chance.
JITTER = 0.25


def wanted_frequency(
    task: Mapping[str, Any], domain: Mapping[str, Any], settings: CatalogSettings
) -> int:
    """Seconds between two crawls as somebody wants it; 0: once."""
    for said in (task["crawl_frequency"], domain["crawl_frequency"]):
        if said is not None:
            return int(said)
    return settings.crawl_frequency_seconds


def next_interval(
    wanted: int,
    present: int | None,
    *,
    price_changed: bool,
    unchanged_in_a_row: int,
    settings: CatalogSettings,
) -> int | None:
    """Seconds until the next crawl after a good one; None if there is to be none."""
    if wanted <= 0:
        return None
    if not settings.is_adaptive:
        return wanted
    interval = float(present or wanted)
    if price_changed:
        interval *= SHORTER
    elif unchanged_in_a_row and unchanged_in_a_row % settings.quiet_crawls == 0:
        interval *= LONGER
    # What somebody wants is never out of bounds, however odd it is.
    least = min(wanted, max(settings.min_frequency_seconds, wanted // FURTHEST))
    most = max(wanted, min(settings.max_frequency_seconds, wanted * FURTHEST))
    return round(min(max(interval, least), most))


def retry_pause(retries: int, settings: CatalogSettings, chance: random.Random) -> float:
    """Seconds until a download is tried again that failed so often before."""
    pause = min(settings.retry_seconds * 2.0 ** min(retries, 30), settings.max_retry_seconds)
    return pause * (1 + chance.uniform(-JITTER, JITTER))
