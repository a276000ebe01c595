"""Matching and moving the rows of a run."""

import copy

import pytest

from results.ingest.queue import sweep
from results.models import Event, Run, Series, YcsbRun
from results.reevaluation.recompute import Order, recompute
from results.reevaluation.run_rows import STATED_COLUMNS, Place, match_places, read_columns
from tests.results.builders import log_bytes, make_organisation, send
from tests.results.documents import YCSB_LOG, YCSB_RUN, act_run, answer_with, document_of, series_of


def places(*lines):
    return [Place("", first, last, ordinal) for ordinal, (first, last) in enumerate(lines)]


@pytest.mark.parametrize(
    ("earlier", "found", "matched"),
    [
        ([(2, 100)], [(1, 100)], {0: 0}),
        ([(2, 100)], [(1, 40), (41, 100)], {0: 1}),
        ([(1, 40), (41, 100)], [(1, 100)], {1: 0}),
        ([(1, 40), (41, 100)], [(41, 100), (1, 40)], {0: 1, 1: 0}),
        ([(1, 40)], [(41, 100)], {}),
        ([(1, 40)], [(40, 100)], {0: 0}),
        ([(1, 40)], [], {}),
    ],
)
def test_runs_are_matched_by_their_lines(earlier, found, matched):
    assert match_places(places(*earlier), places(*found)) == matched


def test_runs_with_unknown_lines_are_matched_by_ordinal():
    assert match_places(places((0, 0), (0, 0)), places((1, 9), (10, 20))) == {0: 0, 1: 1}


def test_runs_of_different_archive_members_never_match():
    assert match_places([Place("a.log", 1, 9, 0)], [Place("b.log", 1, 9, 0)]) == {}


pytestmark = pytest.mark.django_db


@pytest.fixture
def read(evidence_dir, program, tmp_path):
    """Submit a log, or re-evaluate it, with a reader of a version that prints a document."""

    def read_with(version, document, submission=None, content=YCSB_LOG):
        document["reader"]["version"] = version
        answer_with(program, tmp_path, document)
        script = tmp_path / "drivetest"
        script.write_text(script.read_text().replace("drivetest 0.2.0", f"drivetest {version}"))
        if submission is None:
            submission = send(make_organisation(), content)
            sweep()
        else:
            recompute(Order(reason="newer", is_dry=False))
        return submission

    return read_with


def test_a_ycsb_run_keeps_its_id_and_gets_the_new_operations(read):
    submission = read("8.0.0", document_of(YCSB_LOG, ycsb_runs=[YCSB_RUN]))
    run, counts = submission.runs.get(), YcsbRun.objects.get().operations.count()
    newer = copy.deepcopy(YCSB_RUN) | {"threads_count": 9}
    newer["operations"] = newer["operations"][:1]
    read("9.0.0", document_of(YCSB_LOG, ycsb_runs=[newer]), submission)
    again = YcsbRun.objects.get()
    assert (again.run, again.threads_count, again.operations.count()) == (run, 9, 1)
    (earlier,) = run.earlier_results.get().document["below"]["ycsbrun"]
    assert len(earlier["below"]["ycsboperation"]) == counts > 1
    assert earlier["threads_count"] == 8


def test_the_event_of_a_re_evaluated_ycsb_run_has_both_validities(read):
    submission = read("8.0.0", document_of(YCSB_LOG, ycsb_runs=[YCSB_RUN]))
    newer = copy.deepcopy(YCSB_RUN)
    newer["validity"] = newer["validity"] | {"outcome": "invalid"}
    read("9.0.0", document_of(YCSB_LOG, ycsb_runs=[newer]), submission)
    details = Event.objects.get(kind="run-judged-anew").details
    assert (details["kind"], details["validities"]) == ("details", ["undecided", "invalid"])


def test_a_series_is_replaced_and_its_bytes_stay(read):
    content = log_bytes("four-us")
    first, second = (series_of([(1, [[{0: count}]])]) for count in (1, 2))
    submission = read("8.0.0", document_of(content, runs=[act_run(series=first)]), content=content)
    read("9.0.0", document_of(content, runs=[act_run(series=second)]), submission)
    (earlier,) = submission.runs.get().earlier_results.get().document["below"]["series"]
    assert earlier["packed"] == first["data"] != second["data"]
    assert Series.objects.get().run == submission.runs.get()


def test_every_column_of_a_run_is_either_read_or_kept():
    names = {field.name for field in Run._meta.concrete_fields if not field.generated}
    assert names >= STATED_COLUMNS
    assert set(read_columns()) == names - STATED_COLUMNS
    assert set(read_columns()) == {
        "statistic", "workload", "tool", "tool_version", "reads_per_s", "writes_per_s", "tps", "nx_load", "duration_s",
        "slice_length_s", "compress_pct", "device_count", "member", "facts",
    }  # fmt: skip
