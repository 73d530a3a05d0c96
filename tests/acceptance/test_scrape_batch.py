"""A hundred targets of every sort as one job, by real browsers, while the service is killed."""

import asyncio
import json
import random
import signal
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from penstock.client import (
    AsyncClient,
    Job,
    JobStatus,
    Result,
    Retrying,
    Target,
    TargetType,
    TaskStatus,
    TaskSummary,
    Webhook,
    verify_webhook,
)
from tests.acceptance.test_proxies import Running
from tests.browsers import Place, chromiums, zombies
from tests.chaos.test_browser_attacks import microsocks
from tests.processes import GONE_SECONDS, ServiceProcess
from tests.shell import Shell, eventually
from tests.site import Reply, Site
from tests.site.pages import html
from tests.site.scripted import LIST_STEP

KEY, SECRET = "a-key", "a-secret"
HOOK = "http://backend.test/hooks"
#: Seconds; a busy machine may take its time.
PATIENCE = 100.0
TARGETS = 100
SEED = 7
POLICIES = {
    "default": {
        "proxy": {"use": "always"},
        "fetcher": "auto",
        "max_concurrent": 4,
        "min_delay_ms": 1,
        "max_delay_ms": 2,
    }
}
SETTINGS = {
    "PENSTOCK_API__SERVICE_KEY": KEY,
    "PENSTOCK_NOTIFY__WEBHOOK_SECRET": SECRET,
    "PENSTOCK_SCRAPE__RATE_LIMIT_TOKENS": "100000",
    "PENSTOCK_PROXIES__DOMAIN_COOLDOWN_SECONDS": "0",
    # Every target ends for a reason of its own, and not because its neighbours failed.
    "PENSTOCK_BREAKER__THRESHOLD": "1000",
    "PENSTOCK_RETRY__MAX_ATTEMPTS": "2",
    "PENSTOCK_BROWSER__POOL_SIZE": "4",
    "PENSTOCK_BROWSER__POOL_MAX": "6",
    "PENSTOCK_BROWSER__PAGE_SECONDS": "15",
    "PENSTOCK_BROWSER__SETTLE_SECONDS": "1",
}
PATIENT = Retrying(retries=400, most_seconds=0.2)
JOB_POSTING = {
    "@context": "https://schema.org",
    "@type": "JobPosting",
    "title": "Kiln Operator",
    "hiringOrganization": {"@type": "Organization", "name": "Bright Kiln"},
    "description": "Fire bricks.",
}
COMPANY_NAME = '<meta property="og:site_name" content="Acme Pumps">'
COMPANY = html("Acme Pumps", '<p>Since 1950.</p><a href="/contact">Contact</a>', COMPANY_NAME)
CONTACT = html("Contact", '<a href="mailto:info@pumps.test">Write to us</a>', COMPANY_NAME)


@dataclass(frozen=True, slots=True)
class Sort:
    """Targets of one sort: what their results must say, or the error that each ends with."""

    targets: Sequence[Target]
    says: str = ""
    error: str | None = None


def product(url: str, **wishes: str) -> Target:
    return _target(TargetType.PRODUCT, url, **wishes)


def seen(url: str, **wishes: str | bool) -> Target:
    """A page that is looked at in a browser."""
    return _target(TargetType.PAGE, url, **{"fetcher": "browser", **wishes})


def _target(kind: TargetType, url: str, **wishes: str | bool) -> Target:
    return Target(target_type=kind, target_url=url, workspace_id="acme", **wishes)


def mixed() -> list[Sort]:
    """A hundred targets."""
    scripted, shop = "http://scripted.test", "http://shop01.test"
    return [
        Sort(
            [product(f"{scripted}/product/{n}", fetcher="browser") for n in range(1, 21)], "Model"
        ),
        Sort([product(f"{scripted}/product/{n}") for n in range(1, 11)], "Model"),
        Sort([product(f"{shop}/product/{n}") for n in range(1, 21)], "USD"),
        Sort([seen(f"http://lazy.test/product/{n}") for n in range(1, 11)], "Model"),
        Sort(
            [seen(f"{scripted}/list?{n}", scroll=True) for n in range(5)], f"item {LIST_STEP + 1}"
        ),
        Sort([seen(f"http://slow.test/body?seconds=0.{n}") for n in range(1, 6)], "Late, but"),
        Sort([_company(n) for n in range(1, 3)], "info@pumps.test"),
        Sort([_job_posting(n) for n in range(1, 4)], "Bright Kiln"),
        Sort([seen(f"{shop}/missing/{n}") for n in range(8)], error="http_404"),
        Sort([product(f"{shop}/missing/{n}", fetcher="http") for n in range(2)], error="http_404"),
        Sort([seen(f"http://blocked.test/captcha?{n}") for n in range(4)], error="captcha"),
        Sort(
            [seen("http://private.test/"), product("http://private.test/x")], error="robots_denied"
        ),
        Sort([seen(f"http://broken.test/500?{n}") for n in range(3)], error="server_error"),
        Sort([product(f"http://slow.test/truncated?{n}") for n in range(3)], error="truncated"),
        Sort(
            [seen("http://down.test/"), product("http://down.test/x")], error="robots_unreachable"
        ),
        Sort([seen(f"{scripted}/hangs")], error="page_hung"),
    ]


def _company(number: int) -> Target:
    return _target(TargetType.COMPANY_WEBSITE, f"http://pumps.test/?{number}")


def _job_posting(number: int) -> Target:
    return _target(TargetType.JOB_POSTING, f"http://jobs.test/{number}")


@pytest.fixture
def site(shell: Shell) -> Site:
    posting = f'<script type="application/ld+json">{json.dumps(JOB_POSTING)}</script>'
    for number in range(1, 4):
        shell.site.reply("jobs.test", f"/{number}", Reply(200, html("A job", "", posting)))
    shell.site.reply("pumps.test", "/", Reply(200, COMPANY))
    shell.site.reply("pumps.test", "/contact", Reply(200, CONTACT))
    shell.site.reply("broken.test", "/500", Reply(500, "broken"))
    shell.site.reply("backend.test", "/hooks", Reply(200))
    return shell.site


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[Running]:
    with microsocks(tmp_path) as running:
        yield running


@pytest.fixture
def service(
    shell: Shell, site: Site, browsers: Place, proxy: Running, tmp_path: Path
) -> ServiceProcess:
    del site
    rules = tmp_path / "policies.yaml"
    rules.write_text(json.dumps({"domains": POLICIES}))
    browser = {f"PENSTOCK_BROWSER__{k.upper()}": str(v) for k, v in browsers.settings().items()}
    return ServiceProcess(
        shell,
        {
            **SETTINGS,
            **browser,
            "PENSTOCK_PROXIES__ENDPOINTS": proxy.endpoint,
            "PENSTOCK_POLICIES__FILES": str(rules),
        },
    )


@dataclass(slots=True)
class Watch:
    """What the stream of a job has told so far."""

    ended: list[str] = field(default_factory=list)
    last: str = ""

    async def follow(self, client: AsyncClient, job_id: str) -> None:
        async for event in client.watch_job(job_id):
            if event.name == "task":
                self.ended.append(event.data["task_id"])
            self.last = event.name


def callbacks(site: Site, job_id: str) -> list[Webhook]:
    """The callbacks that came for a job; every one must be signed well."""
    hits = site.hits_of("backend.test", "/hooks")
    found = [verify_webhook(hit.body, hit.headers, SECRET) for hit in hits]
    return [each for each in found if each.job_id == job_id]


@dataclass(frozen=True, slots=True)
class Story:
    """What was asked for, and what the API, the stream and the receiver say of it at the end."""

    expected: dict[Target, Sort]
    job: Job
    task_ids: tuple[str, ...]
    tasks: list[TaskSummary]
    results: list[Result]
    told: Watch
    callbacks: list[Webhook]

    def sort_of(self, task: TaskSummary | Result) -> Sort:
        """The sort of target that a task is of; wishes do not change what a page says."""
        wanted = (task.target_type, task.target_url)
        return next(
            sort
            for target, sort in self.expected.items()
            if (target.target_type, target.target_url) == wanted
        )

    def assert_every_task_ended_once_as_its_target_must(self) -> None:
        assert Counter(task.task_id for task in self.tasks) == Counter(self.task_ids)
        assert Counter(self.told.ended) == Counter(self.task_ids)
        assert self.told.last == "end"
        for task in self.tasks:
            error = self.sort_of(task).error
            status = TaskStatus.FAILED if error else TaskStatus.COMPLETED
            assert (task.status, task.error) == (status, error), task.target_url

    def assert_results_are_those_of_completed_tasks(self) -> None:
        completed = [task.task_id for task in self.tasks if task.status is TaskStatus.COMPLETED]
        assert Counter(each.task_id for each in self.results) == Counter(completed)
        for each in self.results:
            assert self.sort_of(each).says in json.dumps(each.result), each.target_url

    def assert_job_and_callback_say_the_same(self) -> None:
        failed = sum(sort.error is not None for sort in self.expected.values())
        counts = {"total": TARGETS, "completed": TARGETS - failed, "failed": failed}
        job, (callback,) = self.job, self.callbacks
        assert job.status is JobStatus.PARTIALLY_COMPLETED
        assert (job.completed_tasks, job.failed_tasks) == (counts["completed"], failed)
        assert callback.status == job.status
        assert callback.summary.model_dump() == counts


def _in_any_order(targets: Iterable[Target]) -> list[Target]:
    """Shuffled, but for the page that hangs: it goes first, as it takes longest."""
    shuffled = random.Random(SEED).sample(list(targets), TARGETS)
    return sorted(shuffled, key=lambda target: not target.target_url.endswith("/hangs"))


async def play(service: ServiceProcess, site: Site, client: AsyncClient) -> Story:
    """Have all targets scraped, and kill the service half-way."""
    expected = {target: sort for sort in mixed() for target in sort.targets}
    targets = _in_any_order(expected)
    accepted = await client.batch(targets, callback_url=HOOK)
    watch = Watch()
    watching = asyncio.create_task(watch.follow(client, accepted.job_id))
    await eventually(lambda: len(watch.ended) >= TARGETS // 2, PATIENCE)
    assert chromiums(service.pid)

    await service.end(signal.SIGKILL)
    await service.start()

    job = await client.wait_for_job(accepted.job_id, within=PATIENCE)
    assert chromiums(service.pid)
    async with asyncio.timeout(PATIENCE):
        await watching
    await eventually(lambda: bool(callbacks(site, job.job_id)), PATIENCE)
    return Story(
        expected,
        job,
        accepted.task_ids,
        [task async for task in client.tasks(job_id=job.job_id)],
        [result async for result in client.results(job.job_id)],
        watch,
        callbacks(site, job.job_id),
    )


@pytest.mark.timeout(300)
async def test_a_mixed_batch_survives_the_loss_of_its_service(
    service: ServiceProcess, shell: Shell, browsers: Place, proxy: Running
) -> None:
    site, dead_before = shell.site, zombies()
    await service.start()
    async with AsyncClient(service.url, KEY, retrying=PATIENT) as client:
        early = await client.batch(mixed()[0].targets[:3], callback_url=HOOK)
        await eventually(lambda: bool(callbacks(site, early.job_id)), PATIENCE)
        story = await play(service, site, client)
    code = await service.end(signal.SIGTERM)

    assert code == 0
    story.assert_every_task_ended_once_as_its_target_must()
    story.assert_results_are_those_of_completed_tasks()
    story.assert_job_and_callback_say_the_same()
    # The service is over, so nothing more is on its way.
    assert len(callbacks(site, early.job_id)) == len(callbacks(site, story.job.job_id)) == 1
    assert proxy.log.read_text().count(f"connected to {site.address}") > TARGETS
    await eventually(lambda: browsers.files_left() == [], GONE_SECONDS)
    await eventually(lambda: not set(zombies()) - set(dead_before), GONE_SECONDS)
