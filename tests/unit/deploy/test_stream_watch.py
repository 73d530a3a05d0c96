"""The page fetcher's alerts and dashboard: they say what they should, of metrics that exist."""

import subprocess

import pytest
import yaml

from penstock.core.metrics import Metrics
from penstock.workloads.stream.metrics import StreamMetrics
from tests.private_server import find_program
from tests.unit.deploy.watched import (
    CHOICE,
    IN_ALERT,
    IN_LEGEND,
    PROMETHEUS,
    ROOT,
    Watched,
    labels_left,
)
from tools.provision.requirements import PROMTOOL

WATCHED = Watched("stream", r"page_fetcher_[a-z_]+")
RULES, SCENES = WATCHED.rules_file, WATCHED.scenes
rules, board, targets = WATCHED.rules, WATCHED.board, WATCHED.targets
expressions, metrics_in = WATCHED.expressions, WATCHED.metrics_in
#: The names of the specification, and the labels that each must have; and one of our own.
SPECIFIED: dict[str, set[str]] = {
    "page_fetcher_pages_fetched_total": set(),
    "page_fetcher_pages_failed_total": set(),
    "page_fetcher_pages_skipped_robots_total": set(),
    "page_fetcher_pages_requeued_total": set(),
    "page_fetcher_retries_total": set(),
    "page_fetcher_dlq_enqueued_total": set(),
    "page_fetcher_circuit_breaker_opened_total": set(),
    "page_fetcher_circuit_breaker_closed_total": set(),
    "page_fetcher_circuit_breaker_probes_total": {"result"},
    "page_fetcher_input_queue_size": set(),
    "page_fetcher_dlq_size": set(),
    "page_fetcher_circuit_breaker_state": {"domain"},
    "page_fetcher_circuit_breaker_consecutive_failures": {"domain"},
    "page_fetcher_circuit_breaker_current_backoff_seconds": {"domain"},
    "page_fetcher_fetch_duration_seconds": set(),
    "page_fetcher_content_size_bytes": set(),
    "page_fetcher_cache_lookups_total": {"result"},
}


def known_metrics() -> dict[str, set[str]]:
    """Every metric of the page fetcher with its labels, by the name Prometheus has for it."""
    metrics = Metrics()
    StreamMetrics(metrics)
    found = {}
    for more in metrics._more:
        labels = getattr(more, "_labels", None)
        if labels is None:
            labels = [label for label in (more._label,) if label]  # type: ignore[union-attr]
        family = more.family()
        name = f"{family.name}_total" if family.type == "counter" else family.name
        found[name] = set(labels)
    return found


def test_metrics_have_the_names_and_labels_of_the_specification() -> None:
    assert known_metrics() == SPECIFIED


@pytest.mark.parametrize("expression", expressions())
def test_expression_names_metrics_and_labels_that_exist(expression: str) -> None:
    metrics = metrics_in(expression)
    assert metrics
    for name, chosen in metrics:
        assert chosen <= SPECIFIED[name]
        assert labels_left(expression) - {"le"} <= SPECIFIED[name]


def test_texts_speak_of_labels_that_their_expression_leaves() -> None:
    alerts = [(rule, IN_ALERT.findall(str(rule["annotations"]))) for rule in rules()]
    legends = [(target, IN_LEGEND.findall(target["legendFormat"])) for target in targets()]
    for each, labels in [*alerts, *legends]:
        assert set(labels) <= labels_left(each["expr"])
    assert {label for _, labels in [*alerts, *legends] for label in labels} == {"domain", "result"}


def test_choices_of_the_dashboard_are_labels_that_exist() -> None:
    queries = [each["query"] for each in board()["templating"]["list"] if each["type"] == "query"]
    assert queries
    for query in queries:
        [(name, label)] = CHOICE.findall(query)
        assert label in SPECIFIED[name]


def test_every_metric_is_on_the_dashboard() -> None:
    shown = {name for target in targets() for name, _ in metrics_in(target["expr"])}
    assert shown == set(SPECIFIED)


def test_panels_do_not_cover_each_other() -> None:
    panels = board()["panels"]
    cells = [
        (place["x"] + x, place["y"] + y)
        for place in (panel["gridPos"] for panel in panels)
        for x in range(place["w"])
        for y in range(place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in panels}) == len(panels)


def test_alerts_have_severity_summary_and_a_runbook_that_speaks_of_them() -> None:
    for rule in rules():
        assert rule["labels"]["severity"] in {"P1", "P2", "P3"}
        assert rule["annotations"]["summary"]
        assert rule["alert"] in (ROOT / rule["annotations"]["runbook"]).read_text()


def test_every_alert_is_raised_in_a_scene() -> None:
    scenes = yaml.safe_load(SCENES.read_text())["tests"]
    checks = [check for scene in scenes for check in scene["alert_rule_test"]]
    raised = {check["alertname"] for check in checks if check["exp_alerts"]}
    assert raised == {rule["alert"] for rule in rules()}


@pytest.mark.parametrize(
    "command",
    [("check", "config", str(PROMETHEUS / "prometheus.yml")), ("test", "rules", str(SCENES))],
    ids=["the configuration is read", "alerts are raised when they should"],
)
def test_prometheus_agrees(command: tuple[str, ...]) -> None:
    program = find_program(PROMTOOL)
    ran = subprocess.run([program, *command], capture_output=True, text=True, check=False)  # noqa: S603 - ours
    assert ran.returncode == 0, ran.stdout + ran.stderr
