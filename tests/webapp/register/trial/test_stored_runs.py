"""Runs on the site of the same log: the result of a trial links them, and never reveals another run."""

import gzip

import pytest

from results.models import Evidence, Profile, Run, Visibility
from tests.results.builders import log_bytes, sha256
from tests.webapp.register.trial.test_views import text_of
from webapp.register.runs.verdict_basis import OTHER_SLICES
from webapp.register.trial.stored_runs import stored_runs

pytestmark = pytest.mark.django_db
LOG = log_bytes("slow-disk-ms")
VERDICT = "Its verdict is “fails”, under profile operational-database, rule version 1, in slices of 10 seconds."


@pytest.fixture
def make_stored(make_log_run):
    """Return a function that makes a run whose log has the given hash."""

    def make(content=LOG, column="sha256", **fields):
        run = make_log_run(**fields)
        Evidence.objects.filter(pk=run.reading.evidence_id).update(**{column: sha256(content)})
        return run

    return make


def read_in(length_s, content=LOG):
    source = {"sha256": sha256(content), "content_sha256": sha256(content)}
    return {"input": source, "runs": [read_run(length_s)]}


def read_run(length_s, first_line=2, member=None, outcome="pass"):
    verdict = {"outcome": outcome}
    return {"slice_length_s": length_s, "first_line": first_line, "member": member, "verdict": verdict}


def sentences(document):
    return [(each["run"].public_id, each["sentence"]) for each in stored_runs(document, Profile.current())]


def test_the_result_links_the_run_of_the_same_log(real_reader, send, make_stored):
    run = make_stored()
    response = send(LOG)
    assert f'The register shows this log as <a href="/runs/{run.public_id}/">run {run.public_id}</a>' in response.text
    assert f"run {run.public_id} , with the same verdict." in text_of(response)
    assert "The register shows this log" not in send(log_bytes("four-us")).text


@pytest.mark.parametrize(("length_s", "sentence"), [(10, VERDICT), (3600, f"{VERDICT} {OTHER_SLICES}")])
def test_other_slices_are_given_as_the_reason_of_another_verdict(make_stored, length_s, sentence):
    run = make_stored()
    assert sentences(read_in(length_s)) == [(run.public_id, sentence)]


@pytest.mark.parametrize("length_s", [10, 3600])
def test_the_same_verdict_needs_no_reason(make_stored, length_s):
    run = make_stored()
    document = read_in(length_s) | {"runs": [read_run(length_s, outcome="fail")]}
    assert sentences(document) == [(run.public_id, "")]
    another = Profile.objects.create(name="another", rule_version=1, document="{}", sha256="0" * 64)
    run.verdicts.update(profile=another)
    assert sentences(document)[0][1].startswith("Its verdict is “fails”, under profile another, ")


@pytest.mark.parametrize("column", ["sha256", "content_sha256"])
def test_compressed_bytes_of_the_log_are_the_same_log(make_stored, column):
    run = make_stored(column=column)
    document = read_in(10) | {"input": {"sha256": sha256(gzip.compress(LOG)), "content_sha256": sha256(LOG)}}
    assert sentences(document) == [(run.public_id, VERDICT)]


def test_an_example_is_shown_too(make_stored):
    make_stored(public_id="demo-loop", is_demo=True, is_virtual=True, product=None)
    assert sentences(read_in(10)) == [("demo-loop", VERDICT)]


@pytest.mark.parametrize("fields", [{"visibility": Visibility.UNREVIEWED}, {"visibility": Visibility.EMBARGOED}])
def test_a_run_that_is_not_public_is_not_revealed(make_stored, fields):
    run = make_stored(**fields)
    assert sentences(read_in(10)) == []
    Run.objects.filter(pk=run.pk).update(visibility=Visibility.PUBLIC)
    assert sentences(read_in(10)) == [(run.public_id, VERDICT)]


def test_a_withheld_log_is_not_linked(make_stored):
    run = make_stored()
    Evidence.objects.filter(pk=run.reading.evidence_id).update(sequestered=True)
    assert sentences(read_in(10)) == []


def test_bytes_without_a_hash_are_no_known_log(make_stored):
    make_stored(column="content_sha256")
    document = read_in(10) | {"input": {"sha256": None, "content_sha256": None}}
    assert sentences(document) == []


def test_each_run_is_compared_with_the_reading_of_its_own_lines(make_stored):
    first, second = make_stored(column="content_sha256"), make_stored(column="content_sha256")
    Run.objects.filter(pk=second.pk).update(facts=second.facts | {"first_line": 700})
    document = read_in(10) | {"runs": [read_run(10), read_run(3600, 700), read_run(3600, member="other.log")]}
    assert sentences(document) == [(first.public_id, VERDICT), (second.public_id, f"{VERDICT} {OTHER_SLICES}")]


def test_many_runs_need_as_many_queries_as_one(make_stored, django_assert_num_queries):
    for _ in range(3):
        make_stored(column="content_sha256")
    with django_assert_num_queries(3):  # profile, runs and verdicts
        assert len(sentences(read_in(10))) == 3
