"""A store in which there is a lot of everything that the console shows."""

from collections.abc import Mapping

from sqlalchemy import insert

from benchmarks.watched import ID, SERIES, SHOPS, fill, make_shops, make_targets
from penstock.products.tables import domains
from penstock.queue.tables import counts
from penstock.store.store import Store
from penstock.store.unit import Unit

#: Ids as the console takes them, in the order of the series.
_ID = "('{0:0<20}' || substr(CAST(1000000000000 + i AS TEXT), 2))"
_TASK, _PRODUCT, _SUBMISSION = (_ID.format(each) for each in ("a", "b", "c"))
_DOMAIN = "('domain' || (i % :shops))"
_URL = "('http://shop' || (i % :shops) || '.test/crowd/' || i)"
#: One site has half of what waits, and a thousand others share the rest.
_GROUP = "(CASE WHEN i % 2 = 0 THEN 'large.test' ELSE 'site' || (i % 1000) || '.test' END)"
_FAILURE = '{"category": "network", "error_type": "timeout", "message": "no answer"}'
#: Within a week, the later ones later.
_LATELY = "(CAST(:now AS BIGINT) - 604800000 + 604800000 * i / :total)"

_ITEMS = f"""{SERIES}
    INSERT INTO queue_items (id, lane, priority, group_key, quota, payload, traceparent, state,
        not_before, enqueued_at, attempts, lost, tried, finished_at, failure)
    SELECT {_ID.format("d")} || '.{{lane}}.{{state}}', '{{lane}}', 5, {_GROUP}, '',
        '{{{{"url": "http://large.test/"}}}}', '', '{{state}}',
        {_LATELY}, {_LATELY}, 0, 0, 0, {{ended}}, '{{{{"kind": "broken", "reason": "too_large"}}}}'
    FROM series
"""
_LINES = """
    INSERT INTO queue_lines (lane, priority, group_key, next_at)
    SELECT DISTINCT lane, priority, group_key, CAST(:now AS BIGINT) FROM queue_items
    WHERE state = 'waiting' AND :total > 0
"""
_SCRAPED = f"""{SERIES}
    INSERT INTO scrape_tasks (id, job_id, item_id, workspace_id, target_type, target_url, options,
        priority, status, result, created_at, started_at, completed_at)
    SELECT {_TASK}, {_ID.format("e").replace("+ i", "+ i / 1000")}, {_TASK}, 'bench', 'product',
        {_URL}, '{{}}', 5, 'completed', '{{"data": {{}}}}', {_LATELY}, {_LATELY}, {_LATELY}
    FROM series
"""
_JOBS = f"""{SERIES}
    INSERT INTO scrape_jobs (id, workspace_id, status, total_tasks, completed_tasks, failed_tasks,
        created_at, updated_at, completed_at)
    SELECT {_ID.format("e")}, 'bench', 'completed', 1000, 1000, 0, {_LATELY}, {_LATELY}, {_LATELY}
    FROM series
"""
_PRODUCTS = f"""{SERIES}
    INSERT INTO source_products (id, source_id, identity_key, url, title, brand, adapter_version,
        created_at, updated_at, domain_id, crawl_task_id, url_hash, price, currency, availability,
        category, last_seen_at)
    SELECT {_PRODUCT}, 'source' || (i % :shops), 'SKU:' || i, {_URL}, 'Lamp ' || i,
        'Brand ' || (i % 100), '1', {_LATELY}, {_LATELY}, {_DOMAIN}, {_TASK}, {_TASK}, 1999, 'USD',
        'in_stock', 'Lamps', {_LATELY}
    FROM series
"""
_CRAWLED = f"""{SERIES}
    INSERT INTO crawl_tasks (id, domain_id, url, url_hash, status, scheduled_at, next_crawl_at,
        failure, error_message, retry_count, created_at, updated_at)
    SELECT {_TASK}, {_DOMAIN}, {_URL}, {_TASK},
        CASE WHEN i % 10 = 0 THEN 'failed' WHEN i % 3 = 0 THEN 'pending' ELSE 'completed' END,
        {_LATELY}, CASE WHEN i % 100 = 0 THEN NULL ELSE CAST(:now AS BIGINT) + i END,
        CASE WHEN i % 10 = 0 THEN '{_FAILURE}' END,
        'no such page', 3, {_LATELY}, {_LATELY}
    FROM series
"""
_SUBMISSIONS = f"""{SERIES}
    INSERT INTO crawl_submissions (id, origin, origin_name, status, options, submitted, accepted,
        created_by, created_at, updated_at)
    SELECT {_SUBMISSION}, 'file', 'all.txt', 'accepted', '{{}}', :whole, :whole, 'bench',
        {_LATELY}, {_LATELY}
    FROM series
"""
_SUBMITTED = f"""{SERIES}
    INSERT INTO crawl_submission_tasks (submission_id, task_id)
    SELECT {_SUBMISSION.replace("+ i", "+ 2")}, {_TASK} FROM series
"""
_TRIED = f"""{SERIES}
    INSERT INTO crawl_attempts (id, crawl_task_id, domain_id, kind, status, number, ended_at,
        parser_version)
    SELECT {_ID.format("a")}, {_TASK}, {_DOMAIN},
        CASE WHEN i % 2 = 0 THEN 'parse' ELSE 'download' END,
        CASE WHEN i % 10 = 0 THEN 'failed' ELSE 'ok' END, 1, {_LATELY},
        CASE WHEN i % 2 = 0 THEN 'product@1.0.0' END
    FROM series
"""
_ERRORS = f"""{SERIES}
    INSERT INTO error_logs (id, crawl_task_id, domain_id, category, error_type, error_message,
        occurred_at)
    SELECT {_ID.format("f")}, {_TASK}, {_DOMAIN}, 'network', 'type ' || (i % 20), 'no answer',
        {_LATELY}
    FROM series
"""
_EVENTS = f"""{SERIES}
    INSERT INTO events (seq, id, topic, "key", data, traceparent, at)
    SELECT 1 + i, {_ID.format("a")}, 'price.changed', 'product ' || i, '{{"price": 1}}', '',
        {_LATELY}
    FROM series
"""
_DELIVERIES = f"""{SERIES}
    INSERT INTO deliveries (sink, seq, "key", state, attempts, next_at, error)
    SELECT 'kafka', 1 + i, 'product ' || i,
        CASE WHEN i % 5 = 0 THEN 'parked' ELSE 'waiting' END, 9, {_LATELY}, 'no answer'
    FROM series
"""
_QUARANTINED = f"""{SERIES}
    INSERT INTO quarantined_offers (id, target_id, run_id, result_id, source_id, adapter_id,
        adapter_version, reason, detail, offer, observed_at, created_at)
    SELECT {_ID.format("b")}, {ID}, {ID}, {ID}, 'source' || (i % :shops), 'product', '1',
        'AMBIGUOUS', 'two prices', '{{}}', {_LATELY}, {_LATELY}
    FROM series
"""
_FEEDS = f"""{SERIES}
    INSERT INTO matches (match_id, source_url, adapter, options, status, wanted, created_at,
        updated_at)
    SELECT 'match-' || i, {_URL}, 'cricket-html', '{{}}', 'completed', FALSE, {_LATELY}, {_LATELY}
    FROM series
"""
_TROUBLES = f"""{SERIES}
    INSERT INTO scraper_errors (id, scraper_id, match_id, timestamp, error_type, error_message)
    SELECT {_ID.format("c")}, 'scraper', 'match-' || (i % 100), {_LATELY}, 'network', 'no answer'
    FROM series
"""
_NOTES = f"""{SERIES}
    INSERT INTO audit_log (id, at, who, action, subject, detail)
    SELECT {_ID.format("d")}, {_LATELY}, 'bench', 'pause', 'shop1.test', '{{}}' FROM series
"""
#: What is in the queue, as shares of all rows.
_QUEUED: Mapping[tuple[str, str], float] = {
    ("stream", "waiting"): 0.6,
    ("monitor", "waiting"): 0.1,
    ("scrape", "waiting"): 0.1,
    ("stream", "dead"): 0.2,
}


async def make_crowd(store: Store, rows: int) -> None:
    """So many rows in every table that may have many."""
    await make_shops(store)
    await store.write(_make_domains)
    await make_targets(store, rows)
    for (lane, state), share in _QUEUED.items():
        ended = _LATELY if state == "dead" else "CAST(NULL AS BIGINT)"
        await fill(store, _ITEMS.format(lane=lane, state=state, ended=ended), int(rows * share))
    await fill(store, _LINES, 1)
    await store.write(lambda unit: _count(unit, rows))
    await fill(store, _SUBMISSIONS, 3, whole=rows)
    few = ((_JOBS, rows // 1000 + 1), (_FEEDS, 1000), (_QUARANTINED, rows // 10))
    crawled = (_CRAWLED, _PRODUCTS, _SUBMITTED, _TRIED, _ERRORS)
    many = (_SCRAPED, *crawled, _EVENTS, _DELIVERIES, _TROUBLES)
    for statement, number in (*few, *((each, rows) for each in many), (_NOTES, rows // 10)):
        await fill(store, statement, number)


def _make_domains(unit: Unit) -> None:
    rows = [
        {
            "id": f"domain{shop}",
            "source_id": f"source{shop}",
            "domain_name": f"shop{shop}.test",
            "base_url": f"http://shop{shop}.test",
            "created_at": unit.now,
            "updated_at": unit.now,
        }
        for shop in range(SHOPS)
    ]
    unit.insert_all(domains, rows)


def _count(unit: Unit, rows: int) -> None:
    for (lane, state), share in _QUEUED.items():
        if state == "waiting":
            row = {"lane": lane, "quota": "", "shard": 0, "pending": int(rows * share)}
            unit.run(insert(counts), row)
