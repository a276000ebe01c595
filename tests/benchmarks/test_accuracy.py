"""docs/reference/accuracy.json is what benchmarks/accuracy.py writes: targets are computed from the printed figures."""

import json
import subprocess
import sys

import pytest
from django.conf import settings

SCRIPT = settings.BASE_DIR / "benchmarks/accuracy.py"
DOCUMENT = settings.BASE_DIR / "docs/reference/accuracy.json"
PUBLISHED = json.loads(DOCUMENT.read_text())["measurements"]
TRUENESS = next(each for each in PUBLISHED if each["kind"] == "trueness")


def printed(head, rows):
    """Return a table as the benchmarks print it."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def publish(folder, measurement, text, document=None):
    """Store a printed table, and return the result of the command and the document."""
    document = document or folder / "accuracy.json"
    (folder / "printed").write_text(text)
    command = [sys.executable, SCRIPT, measurement["kind"], folder / "printed", "--document", document]
    command += ["--date", measurement["measured_on"], "--program", measurement["program"]]
    command += ["--machine", measurement["machine"], "--load", measurement["load"]]
    command += ["--others", measurement["other_programs"]]
    command += [part for note in measurement["notes"] for part in ("--note", note)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done, document


def test_publishing_the_stored_tables_again_makes_the_same_document(tmp_path):
    for measurement in reversed(PUBLISHED):
        done, document = publish(tmp_path, measurement, printed(measurement["head"], measurement["rows"]))
        assert done.returncode == 0, done.stderr
    assert document.read_text() == DOCUMENT.read_text()


def test_a_new_table_replaces_the_earlier_one_of_its_kind(tmp_path):
    rows = [["drivetest, 1 worker", "20,000.0", "1.00", "100", "200"], ["fio", "20,000", "-", "100", "200"]]
    head = ["program", "reads/s achieved", "over 1024 us, %", "p50 us", "p99 us"]
    document = tmp_path / "accuracy.json"
    document.write_text(DOCUMENT.read_text())
    publish(tmp_path, TRUENESS, f"Machine: 2 CPUs\n\n{printed(['a'], [['b']])}\n{printed(head, rows)}", document)
    found = json.loads(document.read_text())["measurements"]
    assert [each["kind"] for each in found] == [each["kind"] for each in PUBLISHED]
    (replaced,) = [each for each in found if each["kind"] == "trueness"]
    assert replaced["rows"] == rows
    assert [target["is_met"] for target in replaced["targets"]] == [True] * 4


@pytest.mark.parametrize(
    ("column", "figure", "target"),
    [(1, "19,979.0", 0), (2, "1.58", 1), (3, "116", 2), (3, "84", 2), (4, "**231** (1 - 300)", 3)],
)
def test_a_figure_beyond_its_limit_is_a_missed_target(tmp_path, column, figure, target):
    one, fio = ["drivetest, 1 worker", "20,000.0", "1.31", "100", "200"], ["fio", "20,000", "-", "100", "200"]
    changed = [*one]
    changed[column] = figure
    rows = [changed, fio]
    if column < 3:  # the share of one worker is the reference of the others
        changed[0] = "drivetest, 16 workers"
        rows = [one, changed, fio]
    head = ["program", "reads/s achieved", "over 1024 us, %", "p50 us", "p99 us"]
    _, document = publish(tmp_path, TRUENESS, printed(head, rows))
    (found,) = json.loads(document.read_text())["measurements"]
    assert [number for number, each in enumerate(found["targets"]) if not each["is_met"]] == [target]
    assert found["targets"][target]["measured"].startswith(f"{changed[0]}: {figure.replace('**', '')}, ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no table\n", "the output has no table"),
        (printed(["program", "p50 us"], [["drivetest", "1"]]), "the table has no column 'reads/s achieved'"),
        (printed(["program", "p50 us"], [["drivetest"]]), "expected 2 cells in each row"),
        (printed(TRUENESS["head"], [["drivetest", *"-----"]]), "the table reports no 'reads/s achieved'"),
    ],
)
def test_a_table_without_the_figures_of_a_target_is_refused(tmp_path, text, message):
    done, document = publish(tmp_path, TRUENESS, text)
    assert done.returncode == 1
    assert message in done.stderr
    assert not document.exists()
