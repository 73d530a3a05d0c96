"""Metrics: what Prometheus reads after the path was walked."""

from prometheus_client.parser import text_string_to_metric_families

from penstock.core.metrics import Metrics
from penstock.kernel.model import Request
from tests.platforms import platform_for
from tests.site import Reply, Site


class Readings:
    """The samples of a metrics text, found by name and labels."""

    def __init__(self, text: str) -> None:
        self._families = list(text_string_to_metric_families(text))

    @property
    def names(self) -> set[str]:
        return {family.name for family in self._families}

    def value(self, name: str, **labels: str) -> float:
        return sum(
            sample.value
            for family in self._families
            for sample in family.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        )


async def test_run_leaves_gates_failures_waits_and_durations_behind() -> None:
    async with Site() as site, platform_for(site) as platform:
        site.reply("shop01.test", "/slow-down", Reply(429), Reply(200, "<p>well again</p>"))
        for path in ("/product/1", "/product/2", "/cart", "/no-such-page", "/slow-down"):
            await platform.pipeline.run(Request(f"http://shop01.test{path}"))
        readings = Readings(platform.metrics.text())

    assert readings.value("penstock_gate_answers_total", gate="admission", answer="ok") == 5
    assert readings.value("penstock_gate_answers_total", gate="robots", answer="denied") == 1
    assert readings.value("penstock_failures_total", kind="refused", reason="robots_denied") == 1
    assert readings.value("penstock_failures_total", kind="url_specific", reason="http_404") == 1
    assert readings.value("penstock_retries_total", kind="rate_limited") == 1
    assert readings.value("penstock_pages_total", fetcher="http", status="200") == 3
    assert readings.value("penstock_wait_seconds_count", gate="retry") == 1
    assert readings.value("penstock_fetch_duration_seconds_count", fetcher="http") == 5
    assert readings.value("penstock_page_size_bytes_sum", fetcher="http") > 0


def test_families_are_there_before_anything_happened() -> None:
    assert {
        "penstock_gate_answers",
        "penstock_failures",
        "penstock_retries",
        "penstock_pages",
        "penstock_wait_seconds",
        "penstock_fetch_duration_seconds",
        "penstock_page_size_bytes",
    } <= Readings(Metrics().text()).names


def test_two_platforms_do_not_share_their_counts() -> None:
    one, other = Metrics(), Metrics()

    one.gate("robots", "denied")

    assert Readings(one.text()).value("penstock_gate_answers_total", gate="robots") == 1
    assert Readings(other.text()).value("penstock_gate_answers_total", gate="robots") == 0


def test_wait_is_counted_in_every_bucket_that_holds_it() -> None:
    metrics = Metrics()

    for seconds in (0.5, 3.0, 100_000.0):
        metrics.waited("pacing", seconds)

    readings = Readings(metrics.text())
    name = "penstock_wait_seconds_bucket"
    assert readings.value(name, gate="pacing", le="0.1") == 0
    assert readings.value(name, gate="pacing", le="0.5") == 1
    assert readings.value(name, gate="pacing", le="5.0") == 2
    assert readings.value(name, gate="pacing", le="+Inf") == 3
    assert readings.value("penstock_wait_seconds_sum", gate="pacing") == 100_003.5


def test_label_from_a_site_cannot_forge_a_sample() -> None:
    metrics = Metrics()

    metrics.failed("broken", 'x"} 1\npenstock_failures_total{kind="forged')

    readings = Readings(metrics.text())
    assert readings.value("penstock_failures_total", kind="forged") == 0
    assert readings.value("penstock_failures_total", kind="broken") == 1
