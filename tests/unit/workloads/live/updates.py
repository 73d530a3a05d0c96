"""Updates as tests need them."""

from penstock.workloads.live.model import Update


def an_update(
    sequence: int = 1,
    match_id: str = "m1",
    *,
    critical: bool = False,
    text: str = "",
) -> Update:
    return Update(
        match_id=match_id,
        source_url="https://live.test/match/1",
        sequence=sequence,
        state="in_play",
        payload={"score": sequence, "text": text},
        hash=f"{match_id}-{sequence}",
        scraped_at=1_772_625_600_000 + sequence,
        scraper_id="2c1b8f1e-6a52-4f0e-9d63-0a7f5f3f8d11",
        latency_ms=12,
        critical=critical,
    )
