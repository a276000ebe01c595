"""Alert rules, dashboard and runbook: checked by Prometheus' own tool, and against the metrics that are served."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.checks.test_documents import anchors
from webapp.monitoring.exposition import Groups

ROOT = Path(__file__).parents[2]
PROMETHEUS = ROOT / "operations/prometheus"
RUNBOOK = ROOT / "docs/how-to/alerts.md"
RULES = yaml.safe_load((PROMETHEUS / "alerts.yml").read_text())["groups"][0]["rules"]
DASHBOARD = json.loads((ROOT / "operations/grafana/drivecert.json").read_text())
NAME = re.compile(r"\b(drivecert_\w+|up)\b")
needs_promtool = pytest.mark.skipif(not shutil.which("promtool"), reason="no promtool: install the package prometheus")


def dashboard_expressions():
    return [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]


def metrics_of(expressions):
    names = {name for expression in expressions for name in NAME.findall(expression)}
    return {re.sub(r"(?<=page_seconds)_(bucket|count|sum)$", "", name) for name in names}


@pytest.fixture
def served(db, settings, tmp_path):
    settings.METRICS_DIR = settings.DATA_DIR = tmp_path
    return {metric.name for metric in Groups(is_database_up=True).collect()}


@needs_promtool
@pytest.mark.parametrize("command", [["check", "rules", "alerts.yml"], ["test", "rules", "alerts.test.yml"]])
def test_promtool_accepts_the_rules_and_their_tests(command):
    done = subprocess.run(["promtool", *command], cwd=PROMETHEUS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_is_tested_beyond_its_limit_and_at_it():
    tests = yaml.safe_load((PROMETHEUS / "alerts.test.yml").read_text())["tests"]
    found = {
        (each["alert_rule_test"][0]["alertname"], bool(each["alert_rule_test"][0]["exp_alerts"])) for each in tests
    }
    assert found == {(rule["alert"], fires) for rule in RULES for fires in (True, False)}


def test_alerts_and_panels_use_only_metrics_that_are_served(served):
    assert metrics_of(rule["expr"] for rule in RULES) <= served | {"up"}
    assert metrics_of(dashboard_expressions()) <= served


def test_the_dashboard_shows_every_metric(served):
    assert served - metrics_of(dashboard_expressions()) == set()


def test_every_alert_has_a_section_of_the_runbook_and_every_section_an_alert():
    names = [rule["alert"] for rule in RULES]
    headings = re.findall(r"^## (\w+)$", RUNBOOK.read_text(), re.MULTILINE)
    assert headings == names
    assert {rule["annotations"]["runbook"] for rule in RULES} == {
        f"docs/how-to/alerts.md#{name.lower()}" for name in names
    }
    assert {name.lower() for name in names} <= anchors(RUNBOOK)


def test_an_alert_names_its_severity_and_waits_at_most_30_seconds_if_it_is_critical():
    for rule in RULES:
        assert rule["labels"]["severity"] in {"critical", "warning"}
        if rule["labels"]["severity"] == "critical":
            assert rule["for"] in {"0s", "10s", "20s", "30s"}, rule["alert"]
