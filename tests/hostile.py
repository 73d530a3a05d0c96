"""A console in which there is one of everything, and everything that came from outside is hostile.

`one_of_each` fills a service so that links lead to every kind of page. `poison` then replaces what
may be anybody's text: by their type, columns tell which those are.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Table, insert, select, update

from penstock.events.ports import Message
from penstock.events.tables import deliveries
from penstock.queue.ports import Bury
from penstock.store.outages import outages
from penstock.store.schema import CleanText, Json, metadata
from penstock.store.store import Store
from penstock.store.switches import StoredSwitches
from penstock.store.unit import Unit
from penstock.workloads.live.health_log import log_health
from penstock.workloads.live.model import ErrorType
from penstock.workloads.live.tables import Words
from penstock.workloads.live.troubles import ErrorEntry, log_errors
from penstock.workloads.stream.lane import item_for
from tests.catalog_rows import rows_in
from tests.consoles import XSS, RunningConsole
from tests.live_rows import LiveRows, health, look, scraper
from tests.live_rows import update as news
from tests.monitor_pages import Shop
from tests.services import claim

#: As much of the corpus in one text as the shortest fields take.
LONGEST = 180
#: Words that do harm only where a value begins with them.
BEGINNINGS = tuple(words for words in XSS if ":" in words.split("(")[0] and "<" not in words)
EVERYTHING = " ".join(XSS)
#: Text that names something here, or one of our own words: not what anybody writes.
NAMES = frozenset(
    {
        *("id", "match_id", "product_id", "adapter", "key", "quota", "group_key", "workspace_id"),
        *("domain", "domain_name", "base_url", "canonical_url", "state", "identity_key"),
    }
)
#: The same in plain data: kinds, states and what is compared with something.
WORDS = frozenset(
    {
        *("kind", "status", "state", "verdict", "gate", "answer", "type", "fetcher", "reason"),
        *("availability", "currency", "category", "method", "at", "observed_at", "format"),
    }
)
#: Of these, rows are ours alone: keys, sessions, who works, what the index makes of products; and
#: prices, which nobody can change: all they have from outside is the URL of their target.
OURS = frozenset(
    {
        *("api_keys", "console_sessions", "workers", "seats", "clock", "schedules"),
        *("product_search", "prices"),
    }
)


def packed() -> list[str]:
    """The whole corpus, several words in one text; those that have to stand first are alone."""
    texts = [""]
    for words in XSS:
        if words in BEGINNINGS:
            continue
        if len(texts[-1]) + len(words) > LONGEST:
            texts.append("")
        texts[-1] += words
    return [*texts, *BEGINNINGS]


async def one_of_each(shop: Shop) -> None:
    """Let there be something of every kind that has a page."""
    console, service = shop.console, shop.console.service
    await shop.offer()
    hook = "http://backend.test/hooks"
    target = {"target_type": "product", "target_url": "http://shop01.test/product/1"}
    await service.submit_batch([{**target, "workspace_id": "acme"}], callback_url=hook)
    await service.finished(await service.submit("http://shop01.test/product/2", callback_url=hook))
    await _crawl(console)
    await _watch(console)
    await _bury(console)
    proxy: dict[str, Any] = {
        "proxy_protocol": "http",
        "proxy_url": "proxy.example",
        "proxy_port": "3128",
    }
    await console.post("/proxies/new", **proxy, proxy_username="ann")
    await StoredSwitches(service.engine.store).pause("paused.test", "for a test")
    row = {"rules": "stream", "domain": "down.test", "state": "open", "failures": 5}
    await service.engine.store.write(lambda unit: _lose(unit, row))


def _lose(unit: Unit, row: Mapping[str, Any]) -> None:
    times = {"began_at": unit.now, "seen_at": unit.now + 600_000, "backoff_ms": 0}
    unit.run(insert(outages), {**row, **times})


async def _crawl(console: RunningConsole) -> None:
    rows = await rows_in(console.service.engine.store)
    shop = await rows.site()
    failure = {"category": "network", "error_type": "dns", "message": "no such name"}
    dead: dict[str, Any] = {
        "status": "failed",
        "failure": failure,
        "retry_count": 9,
        "error_message": "?",
    }
    tasks = [await rows.task(shop), await rows.task(shop, **dead)]
    product = await rows.product(shop, tasks[0], description="a lamp", brand="Lux")
    await rows.image(product, status="failed", error="?")
    for task in tasks:
        await rows.attempt(task, domain_id=shop.id, error_message="?", proxy="?")
        await rows.error(task, domain_id=shop.id)
    await rows.submission(*tasks, origin_name="a file", error="?")


async def _watch(console: RunningConsole) -> None:
    rows = LiveRows(console.service.engine.store)
    await rows.watch("m")
    now = await rows.now()
    await rows.write(news(1, "m", scraped_at=now, payload={"score": "1", "teams": ["A", "B"]}))
    await rows.write(news(2, "m", scraped_at=now, payload={"score": "2", "teams": ["A", "C"]}))
    await rows.note(look("m", at=now))
    await rows.do(lambda unit: log_health(unit, [health(at=now, last_update_age_seconds=3)]))
    trouble = ErrorEntry(
        scraper(1), "m", ErrorType.NETWORK, "?", now, stack_trace="?", url="?", operation="?"
    )
    await rows.do(lambda unit: log_errors(unit, [trouble]))


async def _bury(console: RunningConsole) -> None:
    engine = console.service.engine
    await console.post("/stream/push", urls="http://slow.test/later")
    # Not before tomorrow: nobody but this test takes it.
    gone = item_for("http://shop01.test/gone", "shop01.test")._replace(delay=86_400.0)
    await engine.rows.put([gone])
    failure = {"kind": "url_specific", "reason": "http_404", "detail": "gone", "status": 404}
    [first] = await claim(console.service, [gone.id])
    await engine.rows.settle([(first, Bury(failure))])
    message = Message("1", "price.changed", "a product", {"price": "9.99", "note": "?"})
    await engine.store.write(lambda unit: engine.log.append(unit, [message]))
    owed = {"sink": "kafka", "seq": 1, "key": "a product", "state": "parked", "attempts": 9}
    row = {**owed, "next_at": 0, "error": "no answer"}
    await engine.store.write(lambda unit: unit.run(insert(deliveries), row) and None)


# ── poison


async def poison(store: Store, words: str) -> Sequence[str]:
    """Put words before every text that is somebody's; the columns that had some."""
    return await store.write(lambda unit: sorted(_poison(unit, words)))


def _poison(unit: Unit, words: str) -> Iterator[str]:
    for table in metadata.sorted_tables:
        columns = [
            column.name
            for column in table.c
            if isinstance(column.type, CleanText | Words | Json)
            and not column.primary_key
            and column.name not in NAMES
        ]
        if columns and table.name not in OURS:
            yield from _poison_rows(unit, table, columns, words)


def _poison_rows(unit: Unit, table: Table, columns: list[str], words: str) -> Iterator[str]:
    keys = list(table.primary_key.columns)
    for row in list(unit.rows(select(table))):
        changed = {name: _hostile(row[name], words) for name in columns if row[name]}
        if changed:
            mine = [key == row[key.name] for key in keys]
            unit.run(update(table).where(*mine).values(**changed))
            yield from (f"{table.name}.{name}" for name in changed)


def _hostile(value: Any, words: str) -> Any:
    """The same plain data, with the words before each text in it."""
    if isinstance(value, Mapping):
        return {key: each if key in WORDS else _hostile(each, words) for key, each in value.items()}
    if isinstance(value, list):
        return [_hostile(each, words) for each in value]
    return f"{words}{value}" if isinstance(value, str) else value
