"""`penstock fetch --durable`: a list of URLs in the store, fetched once each, resumed at will."""

import asyncio
import hashlib
from collections.abc import AsyncIterator

from penstock.app import build
from penstock.app.engine import open_engine, open_ready_store
from penstock.cli.outcomes import FetchOptions, Report
from penstock.cli.output import ExitCode
from penstock.cli.signals import on_signals
from penstock.cli.sources import UrlSource
from penstock.core.clock import SystemClock
from penstock.kernel.model import Request
from penstock.kernel.pipeline import Pipeline
from penstock.queue.lanes import Result
from penstock.queue.ports import Item, Receipt
from penstock.settings import Settings
from penstock.workloads.fetch.lane import item_for
from penstock.workloads.fetch.runs import Run

BATCH = 500
LOOK_EVERY = 0.5


class DurableJob:
    """One run of the command, which may be one of several that it takes to do the work."""

    def __init__(self, settings: Settings, options: FetchOptions) -> None:
        self._settings = settings
        self._options = options
        self._report = Report(options.output)
        self._interrupted = False
        self._loaded = False
        self._total = 0
        self._over = 0

    async def run(self, source: UrlSource) -> ExitCode:
        settings = self._settings
        async with (
            open_ready_store(settings, SystemClock()) as store,
            build(settings) as platform,
            open_engine(settings, platform, store, settled=self._show) as engine,
        ):
            self._engine = engine
            run = self._run = await engine.runs.open(_name(source))
            if run.is_resumed:
                self._report.say("resuming: what is over stays over")
            on_signals(lambda: self._interrupt(source), engine.abort)
            with self._report.progress:
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(self._load(platform.pipeline, source, run))
                    tasks.create_task(self._stop_when_over(run))
                    await engine.work()
            pending = await engine.runs.pending(run)
            if self._loaded and not pending:
                await engine.runs.close(run)
            self._report.sum_up(platform.metrics.text(), [])
            if pending or not self._loaded:
                self._report.say(f"{pending} URLs are still to be fetched: run this again")
        if self._interrupted:
            return ExitCode.INTERRUPTED
        return ExitCode.TROUBLE if pending or self._report.failed else ExitCode.OK

    def _interrupt(self, source: UrlSource) -> None:
        self._interrupted = True
        source.stop()
        self._engine.stop()

    def _show(self, result: Result) -> None:
        if result.claim.payload.get("run") != self._run.id:
            return
        self._over += 1
        try:
            self._report.show(result.outcome)
        except BrokenPipeError:
            self._interrupted = True
            self._engine.abort()
        self._report.move(self._over, self._total)

    async def _load(self, pipeline: Pipeline, source: UrlSource, run: Run) -> None:
        """Put the URLs in the queue; those that are there already stay as they are."""
        async for items in self._batches(pipeline, source, run):
            await self._put(items)
            if self._interrupted:
                return
        await self._engine.runs.loaded(run)
        self._loaded = True

    async def _put(self, items: list[Item]) -> None:
        while items and not self._interrupted:
            receipts = await self._engine.queue.put(items)
            self._total += sum(receipt.status == "accepted" for receipt in receipts)
            self._engine.source.nudge()
            items = [item for item, each in zip(items, receipts, strict=True) if _is_full(each)]
            if items:
                await asyncio.sleep(LOOK_EVERY)

    async def _batches(
        self, pipeline: Pipeline, source: UrlSource, run: Run
    ) -> AsyncIterator[list[Item]]:
        batch: list[Item] = []
        async for url in source.read():
            request = Request(url, headers=self._options.headers)
            batch.append(item_for(request, pipeline.line_of(request)[0], run.id))
            if len(batch) >= BATCH:
                yield batch
                batch = []
        if batch:
            yield batch

    async def _stop_when_over(self, run: Run) -> None:
        """Stop when every URL is over, or the rest is due later than we are ready to wait."""
        engine, patience = self._engine, self._options.patience
        while not self._interrupted:
            await asyncio.sleep(LOOK_EVERY)
            if not self._loaded or engine.station.held:
                continue
            pending = await engine.runs.pending(run)
            wait = await engine.runs.next_at(run) if pending else None
            if not pending or (wait is not None and wait > patience):
                break
        engine.stop()


def _is_full(receipt: Receipt) -> bool:
    return receipt.status == "rejected"


def _name(source: UrlSource) -> str:
    """The same list, given in the same way, is the same run."""
    return hashlib.sha256(source.label.encode()).hexdigest()[:32]
