"""The product crawler's alerts and dashboard: they say what they should, of metrics that exist."""

import subprocess

import pytest
import yaml

from penstock.core.metrics import Level, Metrics, Tally
from penstock.workloads.catalog.metrics import CatalogGauges, CatalogMetrics
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

WATCHED = Watched("catalog", r"catalog_[a-z_]+")
RULES, SCENES = WATCHED.rules_file, WATCHED.scenes
rules, board, targets = WATCHED.rules, WATCHED.board, WATCHED.targets
expressions, metrics_in = WATCHED.expressions, WATCHED.metrics_in
METRICS: dict[str, set[str]] = {
    "catalog_pages_total": {"domain", "result"},
    "catalog_parses_total": {"domain", "result"},
    "catalog_images_total": {"domain", "result"},
    "catalog_tasks": {"status"},
    "catalog_oldest_due_seconds": set(),
    "catalog_parse_success_ratio": {"domain", "parser_version"},
}


def test_metrics_are_those_that_the_crawler_has() -> None:
    metrics = Metrics()
    CatalogMetrics(metrics)
    CatalogGauges(metrics, store=None)  # type: ignore[arg-type]
    found = {}
    for more in metrics._more:
        assert isinstance(more, Tally | Level)
        family = more.family()
        name = f"{family.name}_total" if family.type == "counter" else family.name
        found[name] = set(more._labels)
    assert found == METRICS


@pytest.mark.parametrize("expression", expressions())
def test_expression_names_metrics_and_labels_that_exist(expression: str) -> None:
    metrics = metrics_in(expression)
    assert metrics
    for name, chosen in metrics:
        assert chosen <= METRICS[name]
    assert labels_left(expression) <= set.union(*(METRICS[name] for name, _ in metrics))


def test_texts_speak_of_labels_that_their_expression_leaves() -> None:
    alerts = [(rule, IN_ALERT.findall(str(rule["annotations"]))) for rule in rules()]
    legends = [(target, IN_LEGEND.findall(target["legendFormat"])) for target in targets()]
    for each, labels in [*alerts, *legends]:
        assert set(labels) <= labels_left(each["expr"])
    spoken_of = {label for _, labels in [*alerts, *legends] for label in labels}
    assert spoken_of == set.union(*METRICS.values())


def test_choices_of_the_dashboard_are_labels_that_exist() -> None:
    queries = [each["query"] for each in board()["templating"]["list"] if each["type"] == "query"]
    assert queries
    for query in queries:
        [(name, label)] = CHOICE.findall(query)
        assert label in METRICS[name]


def test_every_metric_is_on_the_dashboard() -> None:
    assert {name for target in targets() for name, _ in metrics_in(target["expr"])} == set(METRICS)


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
        assert f"`{rule['alert']}`" in (ROOT / rule["annotations"]["runbook"]).read_text()


def test_no_alert_has_the_name_of_another() -> None:
    names = [
        rule["alert"]
        for file in PROMETHEUS.glob("*.yml")
        for group in yaml.safe_load(file.read_text()).get("groups", [])
        for rule in group["rules"]
    ]
    assert len(names) == len(set(names))


def test_every_alert_is_raised_in_a_scene() -> None:
    scenes = yaml.safe_load(SCENES.read_text())["tests"]
    checks = [check for scene in scenes for check in scene["alert_rule_test"]]
    raised = {check["alertname"] for check in checks if check["exp_alerts"]}
    assert raised == {rule["alert"] for rule in rules()}


def test_prometheus_raises_alerts_when_it_should() -> None:
    command = [find_program(PROMTOOL), "test", "rules", str(SCENES)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    assert ran.returncode == 0, ran.stdout + ran.stderr
