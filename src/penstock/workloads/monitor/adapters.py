"""How adapters fare on sources: who may read, who was stopped and why, and who may go on."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Protocol

from sqlalchemy import func, select, update

from penstock.core.errors import PenstockError
from penstock.events.log import EventLog
from penstock.events.ports import Message
from penstock.extract.adapter import Adapter
from penstock.quality.drift import Baseline, Counts, Judgment, State
from penstock.store.store import Store
from penstock.store.unit import Unit, do_nothing
from penstock.workloads.monitor.model import (
    AdapterStatus,
    DisabledReason,
    RunStatus,
    TargetStatus,
    status_id,
)
from penstock.workloads.monitor.tables import scrape_adapter_status, scrape_runs, scrape_targets

DISABLED, ENABLED = "adapter.disabled", "adapter.enabled"
#: Who stops an adapter when nobody does.
DRIFT_DETECTOR = "drift detector"
#: What a run is marked with in which its adapter was disabled.
WAS_DISABLED = "adapter_disabled"
#: What is usual by so many runs is looked up anew once an hour; by fewer, at the end of each.
SETTLED_RUNS, RENEW_MS = 20, 3_600_000


class Announces(Protocol):
    """Takes messages of a unit of work."""

    def append(self, unit: Unit, messages: Sequence[Message]) -> None:
        """Take them, to be written now or at the end of the unit."""


class UnknownAdapterStatus(PenstockError):
    """There is no status of that id."""


class Adapters:
    """The statuses of adapters in a store."""

    def __init__(self, store: Store, log: EventLog) -> None:
        self._store = store
        self._log = log

    async def all(self) -> list[AdapterStatus]:
        """Every status, by id."""
        query = select(scrape_adapter_status).order_by(scrape_adapter_status.c.adapter_id)
        return await self._store.read(
            lambda unit: [AdapterStatus.of(row) for row in unit.rows(query)]
        )

    async def some(
        self, *, enabled: bool | None = None, after: str | None = None, limit: int = 50
    ) -> list[AdapterStatus]:
        """Statuses by id; `after` is the last id of the part before."""
        status = scrape_adapter_status.c
        query = select(scrape_adapter_status).order_by(status.adapter_id).limit(limit)
        if enabled is not None:
            query = query.where(status.enabled == enabled)
        if after is not None:
            query = query.where(status.adapter_id > after)
        return await self._store.read(
            lambda unit: [AdapterStatus.of(row) for row in unit.rows(query)]
        )

    async def get(self, adapter_id: str) -> AdapterStatus | None:
        """One status."""
        query = select(scrape_adapter_status).where(
            scrape_adapter_status.c.adapter_id == adapter_id
        )
        found = await self._store.read(lambda unit: list(unit.rows(query)))
        return AdapterStatus.of(found[0]) if found else None

    async def disable(self, adapter_id: str, who: str, reason: DisabledReason) -> AdapterStatus:
        """Stop an adapter on a source; what is under way is quarantined."""

        def work(unit: Unit) -> AdapterStatus:
            row = _lock(unit, adapter_id)
            if row["enabled"]:
                disable(unit, self._log, row, who=who, reason=reason)
            return AdapterStatus.of(_lock(unit, adapter_id))

        return await self._store.write(work)

    async def enable(self, adapter_id: str, who: str) -> AdapterStatus:
        """Let an adapter read again; its next run is a canary of a few targets."""

        def work(unit: Unit) -> AdapterStatus:
            row = _lock(unit, adapter_id)
            if not row["enabled"]:
                _enable(unit, self._log, row, who)
            return AdapterStatus.of(_lock(unit, adapter_id))

        return await self._store.write(work)


def _lock(unit: Unit, adapter_id: str) -> dict[str, Any]:
    for row in lock_statuses(unit, [adapter_id]):
        return row
    raise UnknownAdapterStatus(
        f"no adapter '{adapter_id}' has read pages of a source yet; "
        "`penstock monitor adapters list` lists those that have"
    )


def ensure_status(unit: Unit, adapter: Adapter, source_id: str, source_name: str) -> str:
    """See to it that there is a status of an adapter on a source; its id.

    Where two sources use the adapter of one site, the second one has its name in the id.
    """
    for identity in (status_id(adapter, source_name), f"{adapter.id}@{source_name}"):
        if found := _id_of(unit, adapter.id, source_id):
            return found
        row = {
            "adapter_id": identity,
            "adapter": adapter.id,
            "source_id": source_id,
            "baseline_coverage": {},
            "pooled": {},
            "created_at": unit.now,
            "updated_at": unit.now,
        }
        unit.insert_all(scrape_adapter_status, [row], do_nothing)
    return _id_of(unit, adapter.id, source_id) or identity


def _id_of(unit: Unit, adapter: str, source_id: str) -> str | None:
    status = scrape_adapter_status.c
    query = select(status.adapter_id).where(
        status.adapter == adapter, status.source_id == source_id
    )
    found: str | None = unit.run(query).scalar_one_or_none()
    return found


def lock_statuses(unit: Unit, ids: Sequence[str]) -> list[dict[str, Any]]:
    """Statuses by id, which nobody else changes until the unit is over.

    Who changes runs or targets of an adapter takes its status first: then nobody waits in a
    circle.
    """
    table = scrape_adapter_status
    query = select(table).where(unit.among(table.c.adapter_id, sorted(ids)))
    return list(unit.rows(query.order_by(table.c.adapter_id).with_for_update()))


def disable(
    unit: Unit,
    log: Announces,
    status: dict[str, Any],
    *,
    who: str,
    reason: DisabledReason,
    why: str = "",
) -> None:
    """Stop an adapter; its runs under way are marked, so that they end quarantined."""
    change(
        unit,
        status,
        enabled=False,
        disabled_at=unit.now,
        disabled_reason=reason.value,
        disabled_by=who,
    )
    runs = scrape_runs.c
    unit.run(
        update(scrape_runs)
        .where(
            runs.source_id == status["source_id"],
            runs.adapter_id == status["adapter"],
            runs.status == RunStatus.RUNNING.value,
        )
        .values(error_code=WAS_DISABLED, error_message=why or reason.value)
    )
    data = {"reason": reason.value, "who": who, "why": why}
    log.append(unit, [_message(unit, status, DISABLED, data)])


def _enable(unit: Unit, log: EventLog, status: dict[str, Any], who: str) -> None:
    change(
        unit,
        status,
        enabled=True,
        disabled_at=None,
        disabled_reason=None,
        disabled_by=None,
        consecutive_failed_batches=0,
        consecutive_empty_batches=0,
        consecutive_zero_price_batches=0,
        pooled={},
        needs_canary=True,
    )
    wake(unit, status["source_id"], status["adapter"], unit.now)
    _hurry(unit, status)
    log.append(unit, [_message(unit, status, ENABLED, {"who": who})])


def _hurry(unit: Unit, status: Mapping[str, Any]) -> None:
    """What an adapter did not read well the last time is due now, and not by its schedule."""
    targets = scrape_targets.c
    late = update(scrape_targets).where(
        targets.source_id == status["source_id"],
        targets.adapter_id == status["adapter"],
        targets.status == TargetStatus.ACTIVE.value,
        targets.run_id.is_(None),
        targets.next_due_at > unit.now,
        func.coalesce(targets.last_status, "") != "SUCCESS",
    )
    unit.run(late.values(next_due_at=unit.now))


def _message(unit: Unit, status: Mapping[str, Any], topic: str, data: dict[str, Any]) -> Message:
    adapter_id = status["adapter_id"]
    names = ("adapter_id", "adapter", "source_id")
    identity = f"{adapter_id}.{topic}.{unit.now}"
    return Message(identity, topic, adapter_id, {**{name: status[name] for name in names}, **data})


def change(unit: Unit, status: dict[str, Any], **values: Any) -> None:
    """Change columns of a status, in the store and in the row at hand."""
    status |= values
    table = scrape_adapter_status
    statement = update(table).where(table.c.adapter_id == status["adapter_id"])
    unit.run(statement.values(updated_at=unit.now, **values))


def wake(unit: Unit, source_id: str, adapter: str | None, at: int) -> int:
    """Make targets due that were set aside because nothing could be done for them.

    Without an adapter, those of all that are not disabled.
    """
    targets, status = scrape_targets.c, scrape_adapter_status.c
    chosen = [
        targets.source_id == source_id,
        targets.next_due_at.is_(None),
        targets.run_id.is_(None),
        targets.status.in_((TargetStatus.ACTIVE.value, TargetStatus.BROKEN.value)),
        targets.enabled,
        ~targets.robots_path_blocked,
    ]
    if adapter is not None:
        chosen.append(targets.adapter_id == adapter)
    else:
        disabled = select(status.adapter).where(status.source_id == source_id, ~status.enabled)
        chosen.append(targets.adapter_id.not_in(disabled))
    return unit.run(update(scrape_targets).where(*chosen).values(next_due_at=at)).rowcount


# ── drift


def state_of(status: Mapping[str, Any]) -> State:
    """Where an adapter stands, as the judge of drift wants it."""
    return State(
        status["consecutive_failed_batches"],
        status["consecutive_empty_batches"],
        status["consecutive_zero_price_batches"],
        Counts.of(status["pooled"]),
    )


def known_baseline(status: Mapping[str, Any], now: int) -> Baseline | None:
    """What is usual, if it was found out lately from so many runs that one more changes nothing.

    Where there are thousands of runs in a week, to look at them at every end costs more than
    the ends.
    """
    size, at = status["baseline_sample_size"], status["baseline_updated_at"]
    if size < SETTLED_RUNS or at is None or now - at >= RENEW_MS:
        return None
    return Baseline(
        failure_rate=float(status["baseline_failure_rate"] or 0),
        yield_rate=float(status["baseline_yield_rate"] or 0),
        coverage=status["baseline_coverage"],
        sample_size=size,
    )


def keep_judgment(
    unit: Unit, status: dict[str, Any], judgment: Judgment, baseline: Baseline | None
) -> None:
    """Write where an adapter stands after a run, and what is usual if that was looked up anew."""
    state = judgment.state
    values: dict[str, Any] = {
        "consecutive_failed_batches": state.failed_batches,
        "consecutive_empty_batches": state.empty_batches,
        "consecutive_zero_price_batches": state.zero_price_batches,
        "pooled": state.pooled.as_json() if state.pooled.urls_attempted else {},
    }
    if judgment.rate is not None:
        values["last_batch_failure_rate"] = as_rate(judgment.rate)
    if baseline:
        values |= {
            "baseline_sample_size": baseline.sample_size,
            "baseline_updated_at": unit.now,
        }
    if baseline and baseline.sample_size:
        values |= {
            "baseline_failure_rate": as_rate(baseline.failure_rate),
            "baseline_yield_rate": as_rate(baseline.yield_rate),
            "baseline_coverage": dict(baseline.coverage),
        }
    change(unit, status, **values)


def as_rate(rate: float | None) -> Decimal | None:
    """A rate as the store keeps it."""
    return None if rate is None else Decimal(repr(rate))
