"""The page of a YCSB run: validity first, operations and status lines as printed, no ACT sections."""

import copy
import io
import re

import pytest

from results.errors import ReviewRefusedError
from results.ingest.queue import sweep
from results.intake.submissions import CompanionUpload, accept_submission
from results.lifecycle.review import publish
from results.models import Product, Run, Visibility
from tests.results.builders import FACTS, link_key, make_organisation, make_user, send, sha256
from tests.results.documents import YCSB_LOG, YCSB_RUN, YCSB_STDERR, answer_with, document_of
from tests.webapp.register.pages import read_rows
from webapp.register.runs import ycsb as runs_ycsb

pytestmark = pytest.mark.django_db


@pytest.fixture
def publish_run(evidence_dir, program, tmp_path):
    """Return a function that reads a run of YCSB and shows it to everyone."""

    def make(**columns):
        answer_with(program, tmp_path, document_of(YCSB_LOG, ycsb_runs=[copy.deepcopy(YCSB_RUN) | columns]))
        send(make_organisation(), YCSB_LOG)
        sweep()
        product = Product.objects.create(slug="ex", vendor="Exemplar", model="EX", category="nvme-flash")
        Run.objects.update(visibility=Visibility.PUBLIC, product=product, predates_approvals=True)
        return Run.objects.get()

    return make


@pytest.mark.parametrize(("outcome", "shown"), [("valid", "pass"), ("invalid", "fail"), ("undecided", "open")])
def test_validity_is_the_first_sentence_with_its_reasons(client, publish_run, outcome, shown):
    run = publish_run(validity={"outcome": outcome, "reasons": ["500 operations failed"]})
    text = client.get(f"/runs/{run.public_id}/").text
    assert (
        f'<b class="{shown}">{outcome.capitalize()}</b>: run phase of workload a with 8 threads: 6,525.3 ops/s.' in text
    )
    assert "500 operations failed" in text


def test_operations_show_exactly_the_printed_values(client, publish_run):
    rows = read_rows(client.get(f"/runs/{publish_run().public_id}/"))
    assert rows[0] == [
        "READ", "ok", "service", "9,975", "1,091.12", "2", "611", "3,751", "6,315", "10,335", "13,527", "13,527",
    ]  # fmt: skip
    assert rows[1] == ["UPDATE", "NOT_FOUND", "response", "0", "", "", "", "30,000,000", "", "", "", ""]


def test_throughput_over_time_is_a_table_and_a_csv(client, publish_run):
    run = publish_run()
    assert ["10", "12,000", "1,200.5", "READ 41.0 us"] in read_rows(client.get(f"/runs/{run.public_id}/"))
    lines = client.get(f"/runs/{run.public_id}/status-lines.csv").text.splitlines()
    assert lines == ["elapsed_s,done_ops_count,ops_per_s", "0,0,", "10,12000,1200.5"]


def test_a_page_of_very_many_status_lines_states_what_it_leaves_out(client, publish_run, monkeypatch):
    monkeypatch.setattr(runs_ycsb, "SHOWN_INTERVALS", 1)
    assert (
        "The table has the first 1 of 2 status lines; the CSV has them all."
        in client.get(f"/runs/{publish_run().public_id}/").text
    )


def test_the_page_has_no_act_sections(client, publish_run):
    text = client.get(f"/runs/{publish_run().public_id}/").text
    words = ["worst slice", "tps", "Profile", "Minutes", "slices.csv"]
    assert not [word for word in words if re.search(rf"\b{re.escape(word)}\b", text)]  # "https" has the letters too
    assert re.search(r"ycsb-few-samples, <a [^>]*>line 17</a>", text)


def test_a_run_without_reported_values_has_a_page(client, publish_run):
    unknown = dict.fromkeys(
        ["tool_version", "phase", "workload", "binding", "command_line", "threads_count", "runtime_ms"]
    )
    run = publish_run(**unknown, throughput_ops_per_s=None, operations=[], intervals=[], properties=[])
    text = client.get(f"/runs/{run.public_id}/").text
    assert "phase not reported of an unnamed workload." in text
    assert client.get(f"/runs/{run.public_id}/status-lines.csv").status_code == 404


def test_the_page_of_a_drive_lists_its_ycsb_runs_separately(client, publish_run):
    run = publish_run()
    rows = read_rows(client.get("/drive/ex/"))
    assert [run.public_id, "a run", "8", "6,525.3", "undecided"] in rows  # no box: there is nothing to compare it with
    assert len([row for row in rows if run.public_id in row]) == 1


def test_the_api_has_the_values_of_the_page(client, publish_run):
    answer = client.get(f"/api/v1/runs/{publish_run().public_id}/").json()
    assert (answer["workload"], answer["ycsb"]["threads_count"], answer["verdict"]) == ("ycsb", 8, None)
    assert answer["ycsb"]["operations"][0]["percentiles"][4] == ["99.99", "13527"]


@pytest.mark.parametrize("outcome", ["valid", "undecided", "invalid"])
def test_an_invalid_run_is_not_published(publish_run, outcome):
    run = publish_run(validity={"outcome": outcome, "reasons": []})
    Run.objects.update(visibility=Visibility.UNREVIEWED)
    submission = run.submission
    submission.product = run.product
    submission.save()
    if outcome == "invalid":
        with pytest.raises(ReviewRefusedError, match="no valid run of YCSB"):
            publish(submission, make_user("rita"))
    else:
        publish(submission, make_user("rita"))
    assert (Run.objects.get().visibility == "public") is (outcome != "invalid")


def test_attachments_can_be_downloaded_by_those_who_see_the_run(client, evidence_dir, program, tmp_path):
    companions = [{"name": "x", "size_bytes": 1, "sha256": sha256(YCSB_STDERR), "role": "stderr"}]
    answer_with(program, tmp_path, document_of(YCSB_LOG, ycsb_runs=[YCSB_RUN], companions=companions))
    uploads = [CompanionUpload(io.BytesIO(YCSB_STDERR), "run.stderr")]
    submission = accept_submission(
        make_organisation(), io.BytesIO(YCSB_LOG), "run.log", FACTS, "form", None, companions=uploads
    )
    sweep()
    run, key = Run.objects.get(), link_key(submission.submission)
    text = client.get(f"/runs/{run.public_id}/", {"key": key}).text
    address = f"/runs/{run.public_id}/companions/{sha256(YCSB_STDERR)}"
    assert f'<dt>Standard error</dt><dd class="mono"><a href="{address}?key={key}">run.stderr</a>' in text
    assert b"".join(client.get(address, {"key": key}).streaming_content) == YCSB_STDERR
    assert client.get(address).status_code == 404
    assert client.get(address.replace(sha256(YCSB_STDERR), "0" * 64), {"key": key}).status_code == 404
