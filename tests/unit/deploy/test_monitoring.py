"""Alert rules and dashboard: every metric they name is one that Penstock has, with these labels."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from penstock.api.health import Doctor, QueueStats, Vitals
from penstock.core.clock import SystemClock
from penstock.core.metrics import Metrics
from penstock.workloads.monitor.metrics import MonitorGauges, MonitorMetrics

ROOT = Path(__file__).resolve().parents[3]
RULES = ROOT / "deploy" / "prometheus" / "rules.yml"
BOARD = ROOT / "deploy" / "grafana" / "monitor.json"
NAME = re.compile(r"\b(?:scrape|penstock)_[a-z_]+\b")
#: Metric, selector, and the labels of the aggregation around it.
LABELS = re.compile(r"by \(([a-z_, ]+)\)")
SELECTOR = re.compile(r"\b((?:scrape|penstock)_[a-z_]+)\{([^}]*)\}")
IN_SELECTOR = re.compile(r"([a-z_]+)(?:=~|!~|!=|=)")
#: Labels that the text of an alert or of a legend speaks of, and of a choice on the dashboard.
IN_ALERT = re.compile(r"\$labels\.([a-z_]+)")
IN_LEGEND = re.compile(r"\{\{\s*([a-z_]+)\s*\}\}")
CHOICE = re.compile(r"label_values\(([a-z_]+), ([a-z_]+)\)")
#: The names of the specification, and the labels that each must have.
SPECIFIED = {
    "scrape_urls_attempted_total": {"adapter_id", "source_id", "status"},
    "scrape_urls_succeeded_total": {"adapter_id", "source_id"},
    "scrape_urls_failed_total": {"adapter_id", "source_id", "reason"},
    "scrape_offers_extracted_total": {"adapter_id", "source_id"},
    "scrape_offers_valid_total": {"adapter_id", "source_id"},
    "scrape_offers_dropped_total": {"adapter_id", "source_id", "reason"},
    "scrape_offers_quarantined_total": {"adapter_id", "source_id", "reason"},
    "scrape_adapter_disabled_total": {"adapter_id", "reason"},
    "scrape_queue_rejected_total": {"reason"},
    "scrape_oos_no_price_total": {"adapter_id", "source_id"},
    "scrape_queue_pending": {"adapter_id"},
    "scrape_adapter_enabled": {"adapter_id"},
    "scrape_targets_active": {"adapter_id", "source_id"},
    "scrape_targets_broken": {"adapter_id", "source_id"},
    "scrape_targets_stale": {"adapter_id", "source_id"},
    "scrape_fetch_duration_ms": {"adapter_id"},
    "scrape_extract_duration_ms": {"adapter_id"},
    "scrape_rate_limit_wait_ms": {"domain"},
}
#: Of the scrape service: not in the monitor's specification, and not on its dashboard.
OF_TASKS = {
    "penstock_queue_depth": set[str](),
    "penstock_scrape_tasks_total": {"target_type", "status"},
}


@pytest.fixture(scope="module")
def known() -> dict[str, set[str]]:
    """Every metric of the monitor with its labels, by the name Prometheus has for it."""
    metrics = Metrics()
    MonitorMetrics(metrics)
    MonitorGauges(metrics, store=None)  # type: ignore[arg-type]
    found = {}
    for more in metrics._more:
        labels = getattr(more, "_labels", None) or (more._label,)  # type: ignore[union-attr]
        family = more.family()
        name = f"{family.name}_total" if family.type == "counter" else family.name
        found[name] = set(labels)
    return found


def rules() -> Iterator[dict[str, Any]]:
    for group in yaml.safe_load(RULES.read_text())["groups"]:
        yield from group["rules"]


def board() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(BOARD.read_text())
    return content


def expressions() -> list[str]:
    panels = [target["expr"] for panel in board()["panels"] for target in panel["targets"]]
    return [*(rule["expr"] for rule in rules()), *panels]


def metrics_in(expression: str) -> set[str]:
    return {name.removesuffix("_bucket") for name in NAME.findall(expression)}


def test_metrics_have_the_names_and_labels_of_the_specification(
    known: dict[str, set[str]],
) -> None:
    assert known == SPECIFIED


@pytest.mark.parametrize("expression", expressions())
def test_expression_names_metrics_and_labels_that_exist(
    expression: str, known: dict[str, set[str]]
) -> None:
    names = metrics_in(expression)
    known = known | OF_TASKS

    assert names
    assert names <= set(known)
    labels = {
        label.strip() for found in LABELS.findall(expression) for label in found.split(",")
    } - {"le"}
    assert all(labels <= known[name] for name in names)


@pytest.mark.parametrize("expression", expressions())
def test_selectors_name_labels_that_their_metric_has(
    expression: str, known: dict[str, set[str]]
) -> None:
    known = known | OF_TASKS
    for name, selector in SELECTOR.findall(expression):
        labels = set(IN_SELECTOR.findall(selector))
        assert labels
        assert labels <= known[name.removesuffix("_bucket")]


def test_texts_speak_of_labels_that_their_expression_leaves() -> None:
    texts = [
        (rule["expr"], IN_ALERT, " ".join(map(str, rule["annotations"].values())))
        for rule in rules()
    ]
    targets = [target for panel in board()["panels"] for target in panel["targets"]]
    texts += [(target["expr"], IN_LEGEND, target.get("legendFormat", "")) for target in targets]
    spoken_of = [set(labels.findall(text)) for _, labels, text in texts]
    assert {label for labels in spoken_of for label in labels} >= {"adapter_id", "reason", "domain"}
    for (expression, _, _), labels in zip(texts, spoken_of, strict=True):
        left = {label.strip() for each in LABELS.findall(expression) for label in each.split(",")}
        assert labels <= left


def test_choices_of_the_dashboard_are_labels_that_exist(known: dict[str, set[str]]) -> None:
    queries = [each["query"] for each in board()["templating"]["list"] if each["type"] == "query"]
    assert queries
    for query in queries:
        [(name, label)] = CHOICE.findall(query)
        assert label in known[name]


def test_metrics_of_tasks_are_those_of_a_running_service() -> None:
    async def queue() -> QueueStats:
        return QueueStats(0, 0, None)

    metrics = Metrics()
    metrics.task_over("product", "completed")
    Doctor(
        Vitals(
            queue=queue,
            pool=lambda: None,
            proxies=[],
            is_stopping=lambda: False,
            metrics=metrics,
            clock=SystemClock(),
        )
    )
    text = metrics.text()
    assert "\npenstock_queue_depth 0" in text
    assert 'penstock_scrape_tasks_total{status="completed",target_type="product"} 1' in text


def test_alerts_have_severity_summary_and_a_runbook_that_exists() -> None:
    severities = {}
    for rule in rules():
        severities[rule["alert"]] = rule["labels"]["severity"]
        assert rule["annotations"]["summary"]
        assert (ROOT / rule["annotations"]["runbook"]).is_file()
    expected = {"AdapterDisabled": "P1", "HighFailureRate": "P2", "QueueRejections": "P2"}
    assert {**severities, **expected, "StaleTargets": "P3"} == severities


def test_collector_reads_the_rules() -> None:
    config = yaml.safe_load((RULES.parent / "prometheus.yml").read_text())

    assert RULES.name in config["rule_files"]
    assert all((RULES.parent / name).is_file() for name in config["rule_files"])
    assert config["scrape_configs"][0]["static_configs"]


def test_every_metric_of_the_specification_is_on_the_dashboard() -> None:
    shown = {
        name
        for panel in board()["panels"]
        for target in panel["targets"]
        for name in metrics_in(target["expr"])
    }
    assert shown == set(SPECIFIED)


def test_panels_do_not_cover_each_other() -> None:
    cells = [
        (x, y)
        for panel in board()["panels"]
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    ids = [panel["id"] for panel in board()["panels"]]
    assert len(ids) == len(set(ids))
