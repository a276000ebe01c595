"""A run imported from the dump of another register, which may or may not have its log."""

import pytest

from results.access.mirrored_runs import record_dump_origin
from results.models import Run, YcsbRun
from tests.webapp.register.conftest import SLOW_DISK_FACTS
from tests.webapp.register.runs.test_side_file import SIDE_FILE
from webapp.register.dumps.redaction import redact_facts

pytestmark = pytest.mark.django_db

ELSEWHERE = "https://register.example"


@pytest.fixture
def make_mirrored_run(make_log_run):
    """Return a function that makes a run as the import of a dump stores it."""

    def make(**fields):
        run = make_log_run(**fields)
        Run.objects.filter(pk=run.pk).update(submission=None, reading=None)
        return Run.objects.get(pk=run.pk)

    return make


def test_its_page_has_the_verdict_and_names_its_register(client, make_mirrored_run):
    run = make_mirrored_run()
    record_dump_origin(ELSEWHERE, "2026-11-22T01:00:00+00:00")
    text = client.get(f"/runs/{run.public_id}/").text
    assert '<span class="fail">Fails</span>: slice 2' in text
    assert f"came with the dump of 2026-11-22 of <bdi>{ELSEWHERE}</bdi>, which does not include logs. <a" in text
    assert f'<a href="{ELSEWHERE}/runs/{run.public_id}/">See the original run</a>' in text
    assert "<dt>Log</dt><dd>not in this register</dd>" in text
    assert not any(
        said in text for said in ("As published", "the register has no log of it", "log as received", 'id="again"')
    )


def test_the_side_file_of_a_dump_is_shown_without_charts(client, make_mirrored_run):
    run = make_mirrored_run(facts=redact_facts(SLOW_DISK_FACTS | {"side_file": SIDE_FILE}))
    text = client.get(f"/runs/{run.public_id}/").text
    assert "reads: 52000 of 60000 a second." in text
    assert "data-telemetry" not in text


@pytest.mark.parametrize("address", ["", "javascript:alert(1)"])
def test_a_dump_without_an_address_has_no_link(client, make_mirrored_run, address):
    run = make_mirrored_run()
    record_dump_origin(address, "")
    text = client.get(f"/runs/{run.public_id}/").text
    assert "This run came with a dump" in text
    assert "See the original run" not in text


@pytest.mark.parametrize("part", ["runs/{}/log", "runs/{}/lines/3/", "api/v1/runs/{}/intervals/"])
def test_requests_for_its_log_name_the_register_that_has_it(client, make_mirrored_run, part):
    run = make_mirrored_run()
    record_dump_origin(ELSEWHERE, "")
    answer = client.get(f"/{part.format(run.public_id)}")
    assert answer.status_code == 404
    sentence = (
        f"came with a dump of {ELSEWHERE}, which has no logs. See the original run: {ELSEWHERE}/runs/{run.public_id}/"
    )
    assert sentence in answer.text


def test_a_ycsb_run_names_its_register_too(client, make_mirrored_run):
    run = make_mirrored_run(workload="ycsb", tps=None)
    YcsbRun.objects.create(run=run, validity="valid")
    text = client.get(f"/runs/{run.public_id}/").text
    assert "<b>From another register.</b> This run came with a dump, which does not include logs" in text
    assert "As published" not in text


def test_a_published_result_and_a_local_log_name_no_register(client, make_log_run, make_published_run):
    record_dump_origin(ELSEWHERE, "")
    for run in (make_log_run(), make_published_run()):
        assert "From another register" not in client.get(f"/runs/{run.public_id}/").text
