"""Time windows of a run: stored minutes, seconds that are read again, and access."""

import pytest
from django.db import connection

from results import locks
from results.access import intervals as seconds
from results.ingest.queue import sweep
from results.models import Evidence, Product, Run, Visibility
from tests.results.builders import link_key, log_bytes, other_session, send
from tests.results.documents import YCSB_LOG, YCSB_RUN, act_run, answer_with, document_of, series_of
from webapp.api import intervals

pytestmark = pytest.mark.django_db
LOG = log_bytes("four-us")
MINUTES = series_of([(3, [[{0: 5}, None, {3: 1}], [{1: 7}, {1: 8}, {}]])])
SECONDS = series_of([(2, [[{0: 1}, {0: 2}]])], interval_s=1, start_s=60)


@pytest.fixture
def run(evidence_dir, program, tmp_path, exemplar):
    """A run with minutes, whose log answers with seconds from now on."""
    answer_with(program, tmp_path, document_of(LOG, runs=[act_run(series=MINUTES)]))
    send(exemplar, LOG)
    sweep()
    answer_with(program, tmp_path, document_of(LOG, runs=[act_run(series=SECONDS)]))
    return Run.objects.get()


def ask(client, run, **query):
    return client.get(f"/api/v1/runs/{run.public_id}/intervals/", query)


def test_minutes_come_from_the_database(script, run):
    answer = ask(script, run, to_s=120).json()
    assert (answer["read_from"], answer["interval_s"]) == ("database", 60)
    assert [each["name"] for each in answer["histograms"]][:2] == ["reads", "/dev/zram1-reads"]
    assert [(each["start_s"], each["end_s"], each["counts"][:2]) for each in answer["intervals"]] == [
        (0, 60, [[5], [0, 7]]), (60, 120, [None, [0, 8]]),
    ]  # fmt: skip


def test_one_histogram_can_be_selected(script, run):
    answer = ask(script, run, histogram=1).json()
    assert [each["ordinal"] for each in answer["histograms"]] == [1]
    assert [each["counts"] for each in answer["intervals"]] == [[[0, 7]], [[0, 8]], [[]]]
    assert ask(script, run, histogram=99).status_code == 404


def test_seconds_are_read_again_from_the_log(script, run, tmp_path):
    answer = ask(script, run, from_s=60, to_s=62, every_s=1).json()
    assert (answer["read_from"], answer["interval_s"]) == ("evidence", 1)
    assert [(each["start_s"], each["counts"][0]) for each in answer["intervals"]] == [(60, [1]), (61, [2])]
    assert "--series-sec 1 --from-sec 60 --to-sec 62" in (tmp_path / "requests").read_text()


def test_an_unchanged_answer_does_not_read_the_log_again(script, run, tmp_path):
    first = ask(script, run, from_s=60, every_s=1)
    readings = (tmp_path / "requests").read_text()
    headers = {"If-None-Match": first.headers["ETag"]}
    again = script.get(f"/api/v1/runs/{run.public_id}/intervals/?from_s=60&every_s=1", headers=headers)
    assert (again.status_code, (tmp_path / "requests").read_text()) == (304, readings)
    assert ask(script, run, from_s=61, every_s=1).headers["ETag"] != first.headers["ETag"]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"to_s": 604_800}, 200), ({"to_s": 604_801}, 400), ({"every_s": 1, "to_s": 3600}, 200),
        ({"every_s": 1, "to_s": 3601}, 400), ({"from_s": 60, "to_s": 60}, 400), ({"from_s": -1}, 400),
        ({"every_s": 2}, 400), ({"to_s": "now"}, 400), ({"every_s": 1, "from_s": 10**30, "to_s": 10**30 + 1}, 400),
    ],
)  # fmt: skip
def test_windows_are_limited(script, run, query, status):
    assert ask(script, run, **query).status_code == status


def test_seconds_from_another_part_of_the_log_are_not_used(script, run):
    run.facts["first_line"] += 1
    run.save()
    assert ask(script, run, every_s=1).status_code == 404


def test_an_answer_with_too_many_cells_is_refused_with_a_remedy(script, run, monkeypatch):
    histograms = run.histograms.count()
    monkeypatch.setattr(intervals, "CELLS_MAX", 3 * histograms)
    assert ask(script, run).status_code == 200
    monkeypatch.setattr(intervals, "CELLS_MAX", 3 * histograms - 1)
    assert "name one" in ask(script, run).json()["detail"]


def test_a_run_that_is_not_public_is_not_revealed_to_strangers(client, run):
    answer = ask(client, run)
    unknown = client.get("/api/v1/runs/r-unknown/intervals/")
    assert (answer.status_code, unknown.status_code) == (404, 404)
    assert answer.headers.get("Vary") == unknown.headers.get("Vary")


def test_the_link_key_and_a_session_of_a_member_open_it_privately(client, run, as_user, vera):
    for answer in [ask(client, run, key=link_key(run.submission)), ask(as_user(vera), run)]:
        assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "private, no-cache")


def test_everyone_sees_a_public_run_and_caches_store_it(client, run):
    product = Product.objects.create(slug="ex", vendor="Exemplar", model="EX", category="nvme-flash")
    Run.objects.update(visibility=Visibility.PUBLIC, product=product, predates_approvals=True)
    answer = ask(client, run)
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "public, max-age=60")


def test_a_withheld_log_is_not_read_again(script, run):
    Evidence.objects.update(sequestered=True)
    assert ask(script, run, every_s=1).status_code == 451


def test_a_run_without_minutes_states_so(script, run):
    run.series.delete()
    answer = ask(script, run)
    assert (answer.status_code, "has no stored minutes" in answer.json()["detail"]) == (404, True)


def test_a_damaged_row_is_a_server_error(script, run):
    type(run.series).objects.update(packed=b"damage")
    assert ask(script, run).status_code == 503


def test_bytes_changed_on_disk_are_not_shown(script, run, program, tmp_path):
    answer_with(program, tmp_path, document_of(b"other bytes", runs=[act_run(series=SECONDS)]))
    assert ask(script, run, every_s=1).status_code == 503


def test_readers_do_not_occupy_every_processor(script, run):
    with other_session() as other:
        for slot in range(seconds.SLOTS):
            other.execute("SELECT pg_advisory_lock(%s, %s)", [locks.SECONDS, slot])
        assert ask(script, run, every_s=1).status_code == 429
        other.execute("SELECT pg_advisory_unlock(%s, 1)", [locks.SECONDS])
        assert ask(script, run, every_s=1).status_code == 200
    assert connection.is_usable()


def test_a_ycsb_run_returns_its_status_lines(evidence_dir, program, tmp_path, exemplar, script):
    answer_with(program, tmp_path, document_of(YCSB_LOG, ycsb_runs=[YCSB_RUN]))
    send(exemplar, YCSB_LOG)
    sweep()
    lines = ask(script, Run.objects.get(), from_s=1).json()["intervals"]
    assert lines == [
        {"elapsed_s": 10, "done_ops_count": 12000, "ops_per_s": "1200.5"}
        | {"operations": [{"name": "READ", "mean_us": "41.0"}]}
    ]
