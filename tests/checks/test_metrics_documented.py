"""docs/reference/metrics.md against what /metrics serves."""

import re
from pathlib import Path

import pytest

from webapp.monitoring.exposition import Groups

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| `(drivecert_\w+)` \| (\w+) \| ([^|]*) \| ([^|]*) \|$", re.MULTILINE)


@pytest.mark.django_db
def test_every_metric_is_documented_with_its_type_and_labels(settings, tmp_path):
    settings.METRICS_DIR = settings.DATA_DIR = tmp_path
    served = {metric.name: (metric.type, metric.documentation) for metric in Groups(is_database_up=True).collect()}
    text = (ROOT / "docs/reference/metrics.md").read_text()
    documented = {name: (kind, meaning) for name, kind, _, meaning in ROW.findall(text)}
    assert documented == served


@pytest.mark.django_db
def test_every_label_is_documented(settings, tmp_path):
    settings.METRICS_DIR = settings.DATA_DIR = tmp_path
    served = {
        metric.name: set(sample.labels) for metric in Groups(is_database_up=True).collect() for sample in metric.samples
    }
    text = (ROOT / "docs/reference/metrics.md").read_text()
    documented = {name: set(re.findall(r"`(\w+)`", labels)) for name, _, labels, _ in ROW.findall(text)}
    assert served
    assert {name: documented[name] for name in served} == served
