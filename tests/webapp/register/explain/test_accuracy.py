"""The published figures of the load generator: every figure has a machine and a date, and targets follow from it."""

import json

import pytest

from webapp.register.explain import accuracy

MEASUREMENT = {
    "kind": "trueness",
    "title": "Trueness",
    "explanation": "Shares of a device.",
    "measured_on": "2026-11-21",
    "program": "drivetest 0.2.0",
    "machine": "2 CPUs",
    "load": "20,000 reads/s",
    "other_programs": "none",
    "notes": [],
    "head": ["program", "share, %", "p50 us", "inside", "/ fio"],
    "rows": [
        ["drivetest", "1.31 (1.16 - 1.47)", "145.9", "18 of 18", "1.02 [0.99 - 1.05]"],
        ["act_storage", "0.00 - 0.10", "-", "3", "-"],
    ],
    "targets": [
        {"text": "Share at most 1", "measured": "drivetest: 1.31", "is_met": False},
        {"text": "p50 at most 150 us", "measured": "drivetest: 145.9", "is_met": True},
    ],
}  # fmt: skip


@pytest.fixture
def measurement(tmp_path, monkeypatch):
    document = tmp_path / "accuracy.json"
    document.write_text(json.dumps({"measurements": [MEASUREMENT]}))
    monkeypatch.setattr(accuracy, "DOCUMENT", document)
    accuracy.measurements.cache_clear()
    yield accuracy.measurements()[0]
    accuracy.measurements.cache_clear()


def test_columns_of_numbers_are_recognised(measurement):
    assert [cell.is_number for cell in measurement.head] == [False, True, True, False, True]
    assert [cell.is_number for cell in measurement.rows[1]] == [False, True, True, False, True]


def test_a_median_is_apart_from_its_interval(measurement):
    assert [(cell.text, cell.interval) for cell in measurement.rows[0]] == [
        ("drivetest", ""),
        ("1.31", "(1.16 - 1.47)"),
        ("145.9", ""),
        ("18 of 18", ""),
        ("1.02", "[0.99 - 1.05]"),
    ]


def test_a_figure_that_is_not_reported_is_empty(measurement):
    assert [cell.text for cell in measurement.rows[1]] == ["act_storage", "0.00 - 0.10", "", "3", ""]


def test_missed_and_met_targets_are_apart(measurement):
    assert [target.text for target in measurement.missed] == ["Share at most 1"]
    assert [target.text for target in measurement.met] == ["p50 at most 150 us"]


def test_the_document_has_known_truth_and_trueness():
    assert {"known-truth", "trueness"} <= {measurement.kind for measurement in accuracy.measurements()}


@pytest.mark.parametrize("measurement", accuracy.measurements(), ids=lambda measurement: measurement.kind)
def test_a_published_table_states_its_machine_date_version_and_other_programs(measurement):
    assert measurement.measured_on.year >= 2026
    assert "CPUs" in measurement.machine
    assert "Linux" in measurement.machine
    assert measurement.program.startswith("drivetest ")
    assert measurement.load
    assert measurement.other_programs
    assert measurement.targets
