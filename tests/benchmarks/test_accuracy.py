"""docs/reference/accuracy.json is what benchmarks/accuracy.py writes: targets are computed from the printed figures."""

import json
import subprocess
import sys
from pathlib import Path

import load_evenness
import pytest
from accuracy import KINDS
from django.conf import settings
from load_rows import FULL, ROWS, Bench
from load_series import Estimate

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


def titled(title, head, rows):
    return f"**{title}**\n\n{printed(head, rows)}"


def test_the_tables_of_a_row_are_joined_and_name_the_load(tmp_path):
    head = ["reads/s", "program", "CPU us per read", "/ act_storage", "/ fio"]
    loop = [["20,000", "drivetest", "15.0", "0.80 (0.70 - 0.90)", "0.95"], ["20,000", "act_storage", "18", "1", "-"]]
    zram = [["10,000", "drivetest", "15.0", "0.90", "1.20"], ["20,000", "drivetest", "9.0", "0.86", "0.90"]]
    text = titled("Processor time, /dev/loop3, reads only", head, loop) + "\n- a note\n\n"
    text += titled("Engine, /dev/loop3, reads only", ["reads/s", "program"], [["20,000", "drivetest"]]) + "\n"
    text += titled("Processor time, /dev/zram0, reads only", head, zram)
    _, document = publish(tmp_path, TRUENESS | {"kind": "cost", "notes": []}, text)
    (found,) = json.loads(document.read_text())["measurements"]
    assert found["head"] == ["program, load", "reads/s", *head[2:]]
    assert [row[:2] for row in found["rows"]] == [
        ["drivetest, loop, reads only", "20,000"],
        ["act_storage, loop, reads only", "20,000"],
        ["drivetest, zram, reads only", "10,000"],
        ["drivetest, zram, reads only", "20,000"],
    ]
    assert found["notes"] == ["loop, reads only: a note"]
    # The targets from 15,000 reads/s leave 10,000 reads/s out.
    assert [target["is_met"] for target in found["targets"]] == [True, False, True]
    assert found["targets"][1]["measured"] == "drivetest, zram, reads only, 20,000 reads/s: 0.86"


@pytest.mark.parametrize(
    ("interval", "spread", "is_met", "measured"),
    [
        ("1.020 [0.990 - 1.050]", "1.000 [0.970 - 1.030]", True, ", 10,000 reads/s: 1.020 [0.990 - 1.050]"),
        ("1.020 [0.990 - 1.060]", "1.000 [0.970 - 1.030]", False, ", 10,000 reads/s: 1.020 [0.990 - 1.060]"),
        ("1.020 [0.940 - 1.030]", "1.000 [0.970 - 1.030]", False, ", 10,000 reads/s: 1.020 [0.940 - 1.030]"),
        ("1.020 [0.990 - 1.060]", "1.000 [0.940 - 1.030]", True, "fio again exceeds the limits by as much"),
        ("1.020 [0.990 - 1.060]", "1.000 [0.940 - 1.070]", True, "fio again exceeds the limits by as much"),
        ("1.020 [0.990 - 1.061]", "1.000 [0.940 - 1.030]", False, ", 10,000 reads/s: 1.020 [0.990 - 1.061]"),
    ],
)
def test_an_interval_may_exceed_the_limits_by_as_much_as_that_of_fio_against_fio(
    tmp_path, interval, spread, is_met, measured
):
    head = ["reads/s", "program", "p50 / fio", "p99 / fio"]
    figures = {"drivetest": interval, "drivetest io_uring": interval, "fio again": spread}
    rows = [["10,000", name, p50, "1.000 [0.900 - 1.100]"] for name, p50 in figures.items()]
    text = "\n".join(titled(f"Service time, {name}, reads only", head, rows) for name in ("/dev/loop0", "/dev/zram0"))
    _, document = publish(tmp_path, TRUENESS | {"kind": "service", "notes": []}, text)
    (found,) = json.loads(document.read_text())["measurements"]
    assert [target["is_met"] for target in found["targets"]] == [is_met, True] * 3
    assert found["targets"][0]["measured"].endswith(measured)


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ("cost", "cost"),
        ("cost", "lateness"),
        ("evenness", "evenness"),
        ("service", "service"),
        ("coalesce-us", "coalesce-us"),
        ("top-rate", "top-rate"),
        ("trueness", "trueness"),
    ],
)
def test_a_row_of_the_benchmark_prints_the_columns_that_targets_limit(monkeypatch, row, kind):
    monkeypatch.setattr(load_evenness, "is_available", lambda: True)
    bench = Bench({"drivetest": Path("drivetest")}, "/dev/loop0", "/dev/zram0", Path(), FULL, Estimate())
    tables = [table for table in ROWS[row](bench) if table.title.startswith(KINDS[kind].tables)]
    assert tables
    for table in tables:
        assert {target.column for target in KINDS[kind].targets} <= set(table.columns)
