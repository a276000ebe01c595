import json

import pytest

from results.history import record_event, run_subject
from results.lifecycle import visibility
from results.lifecycle.corrections import annotate, correct
from results.models import EarlierResult, Profile, Verdict
from tests.results.builders import link_key, make_user
from tests.results.rows import judge
from tests.webapp.register.pages import read_rows


@pytest.fixture
def rita(db):
    return make_user("rita", is_reviewer=True)


def test_the_page_of_a_run_states_its_approvals(client, rita, make_log_run, settings):
    settings.REVIEWS_NEEDED = 2
    run = make_log_run(visibility="unreviewed", predates_approvals=False)
    visibility.publish(run, rita)
    visibility.publish(run, make_user("rolf", is_reviewer=True))
    page = client.get(f"/runs/{run.public_id}/").text
    assert "Approved by 2 reviewers; 2 required." in page
    assert "rita" not in page
    judge(run, "fail")
    assert "The reviewers saw an earlier verdict" in client.get(f"/runs/{run.public_id}/").text


def test_the_page_of_a_run_from_before_approvals_states_none(client, make_log_run):
    assert "Approved by" not in client.get(f"/runs/{make_log_run().public_id}/").text


def test_a_superseded_run_leaves_the_table_and_stays_at_its_address(client, rita, make_product, make_log_run):
    product = make_product()
    run, successor = make_log_run(product=product), make_log_run(product=product)
    visibility.supersede(run, successor, rita, "A longer run.")
    page = client.get("/drives/nvme-flash/")
    assert len(read_rows(page)) == 1
    assert "1 hidden: superseded by another run." in page.text
    page = client.get(f"/runs/{run.public_id}/")
    assert page.status_code == 200
    assert f'<a href="/runs/{successor.public_id}/">{successor.public_id}</a> superseded this one' in page.text
    assert "A longer run." in page.text
    assert f'This run superseded <a href="/runs/{run.public_id}/">' in client.get(f"/runs/{successor.public_id}/").text


def test_superseded_rows_are_shown_with_their_mark_on_request(client, rita, make_product, make_log_run):
    product = make_product()
    run, successor = make_log_run(product=product), make_log_run(product=product)
    visibility.supersede(run, successor, rita, "A longer run.")
    page = client.get("/drives/nvme-flash/?superseded=include")
    assert sum("superseded" in row[0] for row in read_rows(page)) == 1
    assert "<b>superseded</b> by" in page.text
    assert 'name="superseded" value="include" checked' in page.text


def test_a_withdrawn_row_is_shown_with_its_reason(client, rita, make_log_run):
    run = make_log_run()
    visibility.withdraw(run, rita, "Wrong firmware.")
    visibility.reinstate(run, rita, "It was right.")
    visibility.withdraw(run, rita, "Wrong after all.")
    page = client.get("/drives/nvme-flash/?withdrawn=include").text
    assert "<b>withdrawn</b>: Wrong after all." in page
    assert '<tr class="withdrawn">' in page
    assert "Wrong firmware." not in page


def test_an_annotation_is_shown_on_the_page_in_the_row_and_in_exports(client, rita, make_log_run):
    run = make_log_run()
    annotate(run, "Made with <beta> firmware.", rita)
    for path in (f"/runs/{run.public_id}/", "/drives/nvme-flash/", f"/drive/{run.product.slug}/"):
        assert "Made with &lt;beta&gt; firmware." in client.get(path).text
    (row,) = client.get("/drives/nvme-flash/?format=json").json()["rows"]
    assert row["annotations"] == "Made with <beta> firmware."
    assert "Made with <beta> firmware." in client.get("/drives/nvme-flash/?format=csv").text


def test_exports_have_the_successor_and_the_reason(client, rita, make_product, make_log_run):
    product = make_product()
    run, successor = make_log_run(product=product), make_log_run(product=product)
    visibility.supersede(run, successor, rita, "A longer run.")
    rows = client.get(f"/drive/{product.slug}/?format=json").json()["rows"]
    by_run = {row["run"]: (row["visibility"], row["superseded_by"], row["mark_reason"]) for row in rows}
    assert by_run == {
        run.public_id: ("superseded", successor.public_id, "A longer run."),
        successor.public_id: ("public", None, None),
    }


def test_the_history_has_words_for_the_ids_in_headlines(client, make_log_run):
    run = make_log_run()
    headline = "fails: slice 2; the host may be the cause: host-busy"
    headlines = {"before": f"{headline} [drivetest 0.1.0]", "after": f"{headline} [drivetest 0.1.1]"}
    record_event(None, "run-judged-anew", run_subject(run), "", headlines)
    page = client.get(f"/runs/{run.public_id}/").text
    words = "the host may be the cause: the processors of the host were busy"
    assert f"{words} [drivetest 0.1.0] -&gt; fails: slice 2; {words} [drivetest 0.1.1]" in page
    assert "host-busy" not in page


def test_the_history_shows_actions_and_reasons_but_no_names(client, rita, make_log_run):
    run = make_log_run(firmware="FW1")
    correct(run, {"firmware": "FW2"}, rita, "A slip of the sender.")
    visibility.withdraw(run, rita, "Wrong drive.")
    page = client.get(f"/runs/{run.public_id}/").text
    assert "<b>Corrected</b> by a reviewer, firmware: FW1 -&gt; FW2: <bdi>A slip of the sender.</bdi>" in page
    assert page.index("A slip of the sender.") < page.index("<b>Withdrawn</b> by a reviewer: <bdi>Wrong drive.</bdi>")
    assert "rita" not in page


@pytest.fixture
def judged_twice(make_log_run):
    """A run with an earlier verdict that has its figures."""
    run = make_log_run()
    kept = {"columns": {"tool_version": "6.6"}, "below": {}}
    EarlierResult.objects.create(run=run, number=1, reading=run.reading, verdict=run.verdicts.get(), document=kept)
    judge(run, "pass")
    Verdict.objects.filter(outcome="pass").update(reader_version="0.2.0")
    return run


def test_earlier_verdicts_can_be_read(client, judged_twice):
    page = client.get(f"/runs/{judged_twice.public_id}/").text
    assert "Earlier verdicts" in page
    assert "<b>fails</b>: slice 2 (10-20 s)" in page
    assert f"(drivetest 0.1.0, {Profile.objects.get()}, " in page
    document = client.get(f"/runs/{judged_twice.public_id}/earlier/1.json").json()
    assert (document["schema"], document["reader_version"]) == ("drivecert.earlier-result/1", "0.1.0")
    assert (document["verdict"]["outcome"], document["result"]["columns"]) == ("fail", {"tool_version": "6.6"})


def test_a_share_above_zero_is_shown_as_zero_on_no_page(client, rita, make_log_run):
    shares = [
        {"statistic": "worst-slice", "threshold_us": 64_000, "read_at_us": 64_000, "share_pct": "0.00", "slice": 2}
    ]
    shares[0] |= {"over_count": 1, "ops_count": 480_000}
    headline = "passes: at most 0.00 % over 64 ms of reads in 24 slices of 3600 s"
    passes = {"outcome": "pass", "headline": headline, "histogram": "reads", "shares": shares, "violations": []}
    run = make_log_run(document=passes | {"reasons": []})
    judge(run, "fail")
    client.force_login(rita)
    assert "at most &lt;0.01 % over 64 ms" in client.get(f"/runs/{run.public_id}/").text
    run.verdicts.filter(outcome="fail").delete()
    assert "at most &lt;0.01 % over 64 ms" in client.get(f"/submissions/{run.submission.public_id}/").text


def test_earlier_figures_of_a_run_that_is_not_public_are_not_public(client, judged_twice):
    judged_twice.visibility = "unreviewed"
    judged_twice.save()
    path = f"/runs/{judged_twice.public_id}/earlier/1.json"
    assert client.get(path).status_code == 404
    answer = client.get(f"{path}?key={link_key(judged_twice.submission)}")
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "private, no-cache")
    assert client.get(f"/runs/{judged_twice.public_id}/earlier/2.json").status_code == 404


def test_the_api_has_the_history_of_a_run(client, rita, judged_twice):
    annotate(judged_twice, "Beta firmware.", rita)
    document = client.get(f"/api/v1/runs/{judged_twice.public_id}/").json()
    assert [annotation["text"] for annotation in document["annotations"]] == ["Beta firmware."]
    (earlier,) = document["earlier_verdicts"]
    assert (earlier["outcome"], earlier["rule_version"]) == ("fail", 1)
    assert earlier["figures"] == f"/runs/{judged_twice.public_id}/earlier/1.json"
    (event,) = document["history"]
    assert (event["what"], event["by"], event["reason"]) == ("annotated", "reviewer", "Beta firmware.")
    assert "rita" not in json.dumps(document)


@pytest.mark.parametrize("query", ["", "?withdrawn=include&superseded=include", "?format=csv&withdrawn=include"])
def test_a_table_needs_as_many_queries_for_1_marked_row_as_for_50(client, rita, count_queries, make_log_run, query):
    def mark(run):
        annotate(run, "Beta firmware.", rita)
        visibility.withdraw(run, rita, "Wrong.")

    mark(make_log_run())
    make_log_run()
    few = count_queries(f"/drives/nvme-flash/{query}")
    for _ in range(24):
        mark(make_log_run())
        make_log_run()
    assert count_queries(f"/drives/nvme-flash/{query}") == few
