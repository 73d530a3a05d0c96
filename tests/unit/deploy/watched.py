"""Alert rules and a dashboard of one workload, and what they speak of."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[3]
PROMETHEUS = ROOT / "deploy" / "prometheus"
BY = re.compile(r"(?:by|on) \(([a-z_, ]+)\)")
MATCHER = re.compile(r"([a-z_]+)(?:=~|!~|!=|=)")
IN_ALERT = re.compile(r"\$labels\.([a-z_]+)")
IN_LEGEND = re.compile(r"\{\{\s*([a-z_]+)\s*\}\}")
CHOICE = re.compile(r"label_values\(([a-z_]+), ([a-z_]+)\)")


@dataclass(frozen=True)
class Watched:
    """A workload as Prometheus and Grafana see it; `metrics` is a pattern of the names it has."""

    name: str
    metrics: str

    @property
    def rules_file(self) -> Path:
        return PROMETHEUS / f"{self.name}.yml"

    @property
    def scenes(self) -> Path:
        return Path(__file__).with_name(f"{self.name}_alerts.yml")

    def rules(self) -> list[dict[str, Any]]:
        groups = yaml.safe_load(self.rules_file.read_text())["groups"]
        return [rule for group in groups for rule in group["rules"]]

    def board(self) -> dict[str, Any]:
        file = ROOT / "deploy" / "grafana" / f"{self.name}.json"
        content: dict[str, Any] = json.loads(file.read_text())
        return content

    def targets(self) -> list[dict[str, Any]]:
        return [target for panel in self.board()["panels"] for target in panel["targets"]]

    def expressions(self) -> list[str]:
        return [each["expr"] for each in [*self.rules(), *self.targets()]]

    def metrics_in(self, expression: str) -> list[tuple[str, set[str]]]:
        """Metrics, each with the labels that choose among its series."""
        found = re.findall(rf"\b({self.metrics})(?:\{{([^}}]*)\}})?", expression)
        return [(name.removesuffix("_bucket"), set(MATCHER.findall(at))) for name, at in found]


def labels_left(expression: str) -> set[str]:
    return {label.strip() for each in BY.findall(expression) for label in each.split(",")}
