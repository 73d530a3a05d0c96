"""The calls of the price monitor: what is sent for each, and how its answer is read.

Filters and fields that are None are not sent. Lists are gone through to their end, part by part;
`at_once` is the size of a part. A call that would do something twice if it were repeated is not
repeated after an answer that got lost.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, TypeVar

from penstock.client.calls import (
    Call,
    Read,
    given,
    list_of,
    opened,
    page_of,
    part_of_path,
    plain,
    read_as,
    read_bytes,
    read_nothing,
)
from penstock.client.models import Page
from penstock.client.monitor_models import (
    Launch,
    Price,
    QuarantinedOffer,
    QuarantineStatus,
    Run,
    RunStatus,
    TargetStatus,
    WatchedTarget,
)

T = TypeVar("T")
PREFIX = "/api/v1/monitor"
#: A replay takes longer than other calls: about so much.
REPLAY_SECONDS = 30.0
Row = dict[str, Any]
Time = datetime | None
Amount = Decimal | str


def _get(path: str, read: Read[T], **query: Any) -> Call[T]:
    return Call("GET", f"{PREFIX}{path}", read, query=given(**query))


def _post(path: str, read: Read[T], body: Any = None, *, repeats: bool = False) -> Call[T]:
    return Call("POST", f"{PREFIX}{path}", read, body, repeats=repeats)


def _delete(path: str, read: Read[T]) -> Call[T]:
    return Call("DELETE", f"{PREFIX}{path}", read, repeats=False)


def _at(group: str, name: str, *more: str) -> str:
    return "/".join((f"/{group}", part_of_path(name), *more))


def switch(group: str, name: str, read: Read[T]) -> Callable[[str], Call[T]]:
    """A call that puts something in a state, by its id; again and again is as once."""

    def put(identity: str) -> Call[T]:
        return _post(_at(group, identity, name), read, repeats=True)

    put.__name__, put.__doc__ = name, f"{name.capitalize()} one of the {group}, by its id."
    return put


# ── sources


def sources(domain: str | None = None) -> Call[list[Row]]:
    """All sources, by name, or those of a domain."""
    return _get("/sources", plain, domain=domain)


def source(source_id: str) -> Call[Row]:
    """One source."""
    return _get(_at("sources", source_id), plain)


def add_source(
    name: str,
    domain: str,
    *,
    retailer: str | None = None,
    adapter_id: str | None = None,
    scrape_config: Mapping[str, Any] | None = None,
) -> Call[Row]:
    """A new source: not visible, not trusted, not approved; its retailer is called as it is."""
    body = given(adapter_id=adapter_id, scrape_config=scrape_config, retailer=retailer or name)
    return _post("/sources", plain, {"name": name, "domain": domain, **body})


def edit_source(source_id: str, **changes: Any) -> Call[Row]:
    """Change a source: name, domain, adapter_id, scrape_config, visibility_status, …."""
    return Call("PATCH", f"{PREFIX}{_at('sources', source_id)}", plain, changes)


def retailers() -> Call[list[Row]]:
    """All retailers, by name."""
    return _get("/retailers", plain)


def add_retailer(name: str, *, website_url: str | None = None) -> Call[Row]:
    """A new retailer; a source adds one that is not known yet by itself."""
    return _post("/retailers", plain, {"name": name, **given(website_url=website_url)})


# ── targets


def targets(
    cursor: str | None,
    /,
    *,
    source: str | None = None,
    adapter: str | None = None,
    status: TargetStatus | None = None,
    enabled: bool | None = None,
    blocked: bool | None = None,
    url: str | None = None,
    at_once: int | None = None,
) -> Call[Page[WatchedTarget]]:
    """All targets, newest first; `url` is a part of theirs."""
    wanted = {"source": source, "adapter": adapter, "status": status, "enabled": enabled}
    more = {"blocked": blocked, "url": url, "limit": at_once, "cursor": cursor}
    return _get("/targets", page_of(WatchedTarget.model_validate), **wanted, **more)


def target(target_id: str) -> Call[WatchedTarget]:
    """One target."""
    return _get(_at("targets", target_id), read_as(WatchedTarget))


def add_target(
    url: str,
    *,
    source: str | None = None,
    adapter: str | None = None,
    schedule: str | None = None,
    priority: int = 0,
    notes: str | None = None,
) -> Call[WatchedTarget]:
    """Watch a URL: at once, and then by its schedule, if its source is approved."""
    body = given(source=source, adapter=adapter, schedule=schedule, notes=notes)
    return _post("/targets", read_as(WatchedTarget), {"url": url, "priority": priority, **body})


def edit_target(target_id: str, **changes: Any) -> Call[WatchedTarget]:
    """Change schedule, priority, notes or adapter; None takes schedule or notes away."""
    path = f"{PREFIX}{_at('targets', target_id)}"
    return Call("PATCH", path, read_as(WatchedTarget), changes)


def remove_target(target_id: str) -> Call[Row]:
    """Remove a target; one with results or prices is disabled and kept."""
    return _delete(_at("targets", target_id), plain)


def import_targets(text: str, **plan: Any) -> Call[Row]:
    """Add targets from CSV or JSON, all or none: format, dry_run, existing, url_column, ….

    The report names every line that is wrong: if one is, nothing was added.
    """
    return _post("/imports", plain, {"text": text, **plan})


def export_targets(
    format: Literal["csv", "json"] = "csv",  # noqa: A002 - as the API has it
    source: str | None = None,
) -> Call[bytes]:
    """All targets as a file that an import takes."""
    return _get("/exports", read_bytes, format=format, source=source)


def requeue(source: str | None = None) -> Call[Row]:
    """Let stale targets be due again."""
    return _post("/requeue", plain, given(source=source), repeats=True)


# ── runs, adapters, quarantine


def runs(
    cursor: str | None,
    /,
    *,
    source: str | None = None,
    adapter: str | None = None,
    status: RunStatus | None = None,
    at_once: int | None = None,
) -> Call[Page[Run]]:
    """All runs, newest first."""
    wanted = {"source": source, "adapter": adapter, "status": status, "limit": at_once}
    return _get("/runs", page_of(Run.model_validate), **wanted, cursor=cursor)


def run(run_id: str) -> Call[Run]:
    """One run: its counters and rates."""
    return _get(_at("runs", run_id), read_as(Run))


def start_run(
    *,
    source: str | None = None,
    adapter: str | None = None,
    target_ids: Sequence[str] = (),
) -> Call[Launch]:
    """Read targets now: those named, or those of a source, an adapter, or both."""
    body = {**given(source=source, adapter=adapter), "target_ids": list(target_ids)}
    return _post("/runs", read_as(Launch), body)


def retry_run(run_id: str) -> Call[Launch]:
    """Read those targets of a run again that failed."""
    return _post(_at("runs", run_id, "retry"), read_as(Launch))


def adapters() -> Call[list[Row]]:
    """How adapters fare on sources."""
    return _get("/adapters", plain)


def disable_adapter(adapter_id: str, reason: str = "MANUAL") -> Call[Row]:
    """Stop an adapter on a source."""
    path = _at("adapters", adapter_id, "disable")
    return _post(path, plain, {"reason": reason}, repeats=True)


def quarantine(
    cursor: str | None,
    /,
    *,
    status: QuarantineStatus | None = None,
    source: str | None = None,
    target_id: str | None = None,
    run_id: str | None = None,
    at_once: int | None = None,
) -> Call[Page[QuarantinedOffer]]:
    """Offers that were not trusted, newest first."""
    wanted = {"status": status, "source": source, "target_id": target_id, "run_id": run_id}
    read = page_of(QuarantinedOffer.model_validate)
    return _get("/quarantine", read, **wanted, limit=at_once, cursor=cursor)


def quarantined(offer_id: str) -> Call[QuarantinedOffer]:
    """One of them."""
    return _get(_at("quarantine", offer_id), read_as(QuarantinedOffer))


def release(
    offer_id: str, why: str, *, price: Amount | None = None, currency: str | None = None
) -> Call[QuarantinedOffer]:
    """Write an offer as a price after all; the amount stands in for what was not read."""
    body = {"why": why, **given(price=_text(price), currency=currency)}
    return _post(_at("quarantine", offer_id, "release"), read_as(QuarantinedOffer), body)


def discard(offer_id: str, why: str) -> Call[QuarantinedOffer]:
    """Never mind an offer."""
    path = _at("quarantine", offer_id, "discard")
    return _post(path, read_as(QuarantinedOffer), {"why": why})


# ── prices


def products(words: str | None = None, limit: int | None = None) -> Call[list[Row]]:
    """Products, newest first; those with some words in their name."""
    return _get("/products", plain, words=words, limit=limit)


def current(product_id: str) -> Call[list[Price]]:
    """What consumers see of what a product costs now."""
    return _get(_at("products", product_id, "prices"), list_of(Price.model_validate))


def history(
    product_id: str, *, since: Time = None, until: Time = None, limit: int | None = None
) -> Call[list[Price]]:
    """What consumers see of what a product cost, oldest first."""
    wanted = {"since": _iso(since), "until": _iso(until), "limit": limit}
    path = _at("products", product_id, "history")
    return _get(path, list_of(Price.model_validate), **wanted)


def prices(
    cursor: str | None,
    /,
    *,
    product_id: str | None = None,
    source_product_id: str | None = None,
    target_id: str | None = None,
    run_id: str | None = None,
    source: str | None = None,
    since: Time = None,
    until: Time = None,
    at_once: int | None = None,
) -> Call[Page[Price]]:
    """All prices with their provenance, newest first, also those that consumers do not see."""
    wanted = _filters(
        product_id=product_id,
        source_product_id=source_product_id,
        target_id=target_id,
        run_id=run_id,
        source=source,
        since=since,
        until=until,
    )
    return _get("/prices", page_of(Price.model_validate), **wanted, limit=at_once, cursor=cursor)


def price(price_id: str) -> Call[Price]:
    """One price with its provenance and every correction that it ever had."""
    return _get(_at("prices", price_id), read_as(Price))


def export_prices(
    format: Literal["csv", "parquet"] = "csv",  # noqa: A002 - as the API has it
    *,
    product_id: str | None = None,
    source_product_id: str | None = None,
    target_id: str | None = None,
    run_id: str | None = None,
    source: str | None = None,
    since: Time = None,
    until: Time = None,
    limit: int | None = None,
) -> Call[bytes]:
    """Prices with their provenance as a file, newest first; all of them, or `limit` of them."""
    wanted = _filters(
        product_id=product_id,
        source_product_id=source_product_id,
        target_id=target_id,
        run_id=run_id,
        source=source,
        since=since,
        until=until,
    )
    return _get("/prices/export", read_bytes, format=format, **wanted, limit=limit)


def correct(price_id: str, why: str, price: Amount | None = None) -> Call[Row]:
    """Let another amount stand in the place of a price; without one, hide it."""
    body = {"why": why, **given(price=_text(price))}
    return _post(_at("prices", price_id, "corrections"), plain, body)


def corrections(price_id: str) -> Call[list[Row]]:
    """All corrections that a price ever had."""
    return _get(_at("prices", price_id, "corrections"), plain)


def revoke(correction_id: str) -> Call[None]:
    """Let a price count again as it was seen."""
    return _delete(_at("corrections", correction_id), read_nothing)


# ── rules


def rules(
    cursor: str | None,
    /,
    *,
    target_id: str | None = None,
    product_id: str | None = None,
    at_once: int | None = None,
) -> Call[Page[Row]]:
    """All price rules, oldest first."""
    wanted = {"target_id": target_id, "product_id": product_id, "limit": at_once}
    return _get("/rules", page_of(dict), **wanted, cursor=cursor)


def rule(rule_id: str) -> Call[Row]:
    """One price rule."""
    return _get(_at("rules", rule_id), plain)


def add_rule(
    kind: Literal["drop_percent", "below_price", "back_in_stock"],
    *,
    target_id: str | None = None,
    product_id: str | None = None,
    threshold: Amount | None = None,
    currency: str | None = None,
    notify_url: str | None = None,
) -> Call[Row]:
    """Be told when a price drops, is below an amount, or a product is back in stock."""
    about = given(target_id=target_id, product_id=product_id, threshold=_text(threshold))
    more = given(currency=currency, notify_url=notify_url)
    return _post("/rules", plain, {"kind": kind, **about, **more})


def remove_rule(rule_id: str) -> Call[None]:
    """Forget a price rule."""
    return _delete(_at("rules", rule_id), read_nothing)


# ── what is looked up


def alerts(
    cursor: str | None,
    /,
    *,
    open: bool | None = None,  # noqa: A002 - as the API has it
    kind: str | None = None,
    subject: str | None = None,
    severity: Literal["P1", "P2", "P3"] | None = None,
    at_once: int | None = None,
) -> Call[Page[Row]]:
    """What ops were told of, newest first; `open` chooses what lasts, or what is over."""
    wanted = {"open": open, "kind": kind, "subject": subject, "severity": severity}
    return _get("/alerts", page_of(dict), **wanted, limit=at_once, cursor=cursor)


def why(target_id: str) -> Call[Row]:
    """Why a target is as it is: its last result, and the last good one beside it."""
    return _get(_at("targets", target_id, "why"), plain)


def page(result_id: str) -> Call[bytes]:
    """The page of a result, as it was."""
    return _get(_at("results", result_id, "page"), read_bytes)


def replay(
    adapter: str,
    *,
    since: Time = None,
    source: str | None = None,
    target_ids: Sequence[str] = (),
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[Row]:
    """Read kept pages again with NAME or NAME@VERSION; says what differs, changes nothing.

    Where `is_complete` is false there are more pages: `next_cursor` asks for them.
    """
    wanted = given(since=_iso(since), source=source, limit=limit, cursor=cursor)
    body = {"adapter": adapter, "target_ids": list(target_ids), **wanted}
    path = f"{PREFIX}/replays"
    return Call("POST", path, _with_cursor, body, patience=REPLAY_SECONDS)


def shadow(adapter: str, since: Time = None) -> Call[list[Row]]:
    """How candidates that read beside an adapter agreed with it on live pages."""
    return _get("/shadow", plain, adapter=adapter, since=_iso(since))


def _with_cursor(content: bytes) -> Row:
    data, meta = opened(content)
    return {**data, "next_cursor": meta.get("next_cursor")}


def _filters(*, since: Time, until: Time, **names: str | None) -> Row:
    """Which prices are wanted, as it is sent."""
    return {**names, "since": _iso(since), "until": _iso(until)}


def _iso(at: Time) -> str | None:
    return at.isoformat() if at else None


def _text(amount: Amount | None) -> str | None:
    """Amounts are text: numbers of JSON are not exact."""
    return None if amount is None else str(amount)
