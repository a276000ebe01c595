"""Pages and feed of news: addresses, links, caching, and a fixed number of queries."""

import re

import pytest
from django.utils import timezone

from results.catalogue.claims import CLAIMS_RECOMPUTED, import_claims
from results.history import record_event, run_subject
from results.lifecycle import visibility
from results.models import Run
from tests.results.builders import make_user
from tests.webapp.register.syndication.answers import read_xml
from webapp.register.news.changes import CHANGES_PER_PAGE
from webapp.register.ycsb.publications import publication_of

pytestmark = pytest.mark.django_db
ATOM = "{http://www.w3.org/2005/Atom}"


def read_entries(client):
    answer = client.get("/news/feed.atom")
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/atom+xml; charset=utf-8")
    entries = read_xml(answer).iter(f"{ATOM}entry")
    return [{each.tag.removeprefix(ATOM): each.text for each in entry} for entry in entries]


def test_a_new_register_says_what_it_opened_with(client, catalogue):
    month = f"{timezone.now():%Y-%m}"
    text = client.get("/news/").text
    assert text.count('<li class="done"') == 1
    assert "The register opened with 103 published results." in text
    summary = client.get(f"/news/{month}/").text
    assert '<p class="lede">The register opened with 103 published results.</p>' in summary
    assert summary.count('<th scope="row">') == 6  # the categories
    (address,) = re.findall(r'<a href="([^"]+)"><bdi>103 published results</bdi></a>', summary)
    assert "103 of 103 shown." in client.get(address.replace("&amp;", "&")).text


def test_an_empty_register_has_both_pages(client, db):
    assert "The register has no public change yet." in client.get("/news/").text
    assert "The register has had no public change in" in client.get(f"/news/{timezone.now():%Y-%m}/").text


def test_an_entry_links_to_its_run_and_shows_the_reason(client, publish):
    run = publish()
    visibility.withdraw(run, make_user("rita", is_reviewer=True), "Wrong <drive>.")
    text = client.get("/news/").text
    assert f'<b>Withdrawn: <a href="/runs/{run.public_id}/">' in text
    assert "<bdi>Reason: Wrong &lt;drive&gt;.</bdi>" in text
    assert '<span class="tag">later withdrawn</span>' in text


def test_the_pages_of_the_list_lead_to_each_other(client, publish):
    for _ in range(CHANGES_PER_PAGE + 1):
        publish()
    first = client.get("/news/").text
    (address,) = re.findall(r'<a rel="next" href="(\?before=\d+)">Older changes</a>', first)
    second = client.get(f"/news/{address}").text
    assert (first.count('<li class="done"'), second.count('<li class="done"')) == (CHANGES_PER_PAGE, 1)
    assert "Older changes" not in second
    assert '<meta name="robots" content="noindex">' in second
    assert '<a href="/news/">Newest changes</a>' in second


def test_the_list_is_a_file_too(client, publish):
    run, later = publish(), publish()
    first, second = client.get("/news/?format=json").json()["rows"]
    assert (first["page"], second["page"]) == (f"/runs/{later.public_id}/", f"/runs/{run.public_id}/")
    assert (first["group"], first["reason"], first["mark"]) == ("results", None, None)
    lines = client.get(f"/news/?format=csv&before={first['event']}").text.splitlines()
    assert lines[0] == "event,at,group,label,name,page,sentence,reason,mark"
    assert [line.split(",")[0] for line in lines[1:]] == [str(second["event"])]


@pytest.mark.parametrize("query", ["before=0", "before=x", "before=9999999999", "page=2", "before=1&before=2"])
def test_a_parameter_that_is_not_understood_is_named(client, db, query):
    answer = client.get(f"/news/?{query}")
    assert answer.status_code == 400
    assert query.partition("=")[0] in answer.text


def test_an_unknown_change_is_named_with_the_label_of_its_field(client, db):
    text = client.get("/news/?before=9999999999").text
    assert "Changes before: expected the number of a change, as the link to older changes has it." in text


def test_a_month_links_to_those_before_and_after_it(client, clock, publish):
    clock.set(2026, 10, 5)
    publish()
    clock.set(2026, 12, 5)
    text = client.get("/news/2026-11/").text
    assert "The register had no public change in November 2026." in text
    assert '<a rel="prev" href="/news/2026-10/">Earlier: October 2026</a>' in text
    assert '<a rel="next" href="/news/2026-12/">Later: December 2026</a>' in text
    assert 'rel="prev"' not in client.get("/news/2026-10/").text
    december = client.get("/news/2026-12/").text
    assert 'rel="next"' not in december
    assert "The month ends on 31 December 2026, 24:00 UTC." in december


@pytest.mark.parametrize("month", ["2026-09", "2026-13", "2027-01", "2026-11-01", "soon"])
def test_a_month_that_the_register_has_not_seen_is_not_found(client, clock, publish, month):
    clock.set(2026, 10, 5)
    publish()
    clock.set(2026, 12, 5)
    answer = client.get(f"/news/{month}/")
    assert answer.status_code == 404
    assert "The register has summaries of 2026-10 to 2026-12." in answer.text


def test_an_ended_month_has_the_same_bytes_after_later_events(client, clock, publish, import_results):
    import_results(2)
    publish()
    clock.set(2026, 12, 2)
    before = client.get("/news/2026-11/")
    run = publish()
    record_event(None, "run-annotated", run_subject(run), "x")
    after = client.get("/news/2026-11/", headers={"if-none-match": before["ETag"]})
    assert after.status_code == 304


def test_the_feed_has_the_sentences_of_the_page(client, publish):
    run = publish()
    (entry,) = read_entries(client)
    assert entry["title"].startswith("New result: Exemplar EX")
    assert entry["summary"].startswith(f"Run {run.public_id} ran at 900 tps.")
    assert re.fullmatch(r"http://127\.0\.0\.1:8000/news/#event-\d+", entry["id"])
    assert f'id="{entry["id"].partition("#")[2]}"' in client.get("/news/").text


def test_an_entry_of_the_feed_keeps_its_id(client, publish, import_results):
    import_results(1)
    publish()
    before = [entry["id"] for entry in read_entries(client)]
    import_results(2)
    publish()
    after = [entry["id"] for entry in read_entries(client)]
    assert set(before) < set(after)
    assert len(after) == len(set(after)) == len(before) + 1  # the import of the same day stays one entry


def test_claims_of_the_published_briefs_are_news(client, db):
    import_claims()
    titles = [entry["title"] for entry in read_entries(client)]
    assert "Claims checked: Micron 7400 PRO against 7300 PRO on RocksDB" in titles
    assert len(titles) == 4
    month = client.get(f"/news/{timezone.now():%Y-%m}/").text
    assert "/ycsb/claims/micron-7400-brief/mean-improvement-over-thread-counts-d/" in month
    assert "Contradicted: Micron on the 7400 PRO: 24 % mean" in client.get("/news/feed.atom").text
    import_claims()
    assert len(read_entries(client)) == 4


def test_the_count_of_contradicted_claims_leads_to_them(client, db):
    import_claims()
    for path in ("/news/", f"/news/{timezone.now():%Y-%m}/"):
        (address,) = re.findall(r'<a href="([^"]+)">Contradicted claims</a>', client.get(path).text)
        assert address == "/ycsb/claims/?outcome=contradicted&amp;brief=micron-7400-brief"
    assert "1 of 62 claims shown." in client.get(address.replace("&amp;", "&")).text


def test_the_count_of_claims_with_an_impossible_result_leads_to_these_results(client, db):
    import_claims()
    text = client.get("/news/").text
    link = '<a href="/ycsb/impossible/">Impossible results</a>'
    assert text.count(link) == 1
    assert link in text.split("KIOXIA FL6 against")[1].split("</li>")[0]


@pytest.mark.parametrize("path", ["/news/", "/news/feed.atom", "/news/2026-11/"])
def test_a_page_needs_as_many_queries_for_one_change_as_for_fifty(clock, publish, count_queries, path):
    clock.set(2026, 11, 3)
    publish()
    one = count_queries(path)
    for _ in range(49):
        publish()
    assert Run.objects.count() == 50
    assert count_queries(path) == one


def test_a_summary_reads_the_changes_twice(clock, publish, django_assert_max_num_queries, client):
    """Once for the changes of the month, and once for the first change of the register."""
    publish()
    with django_assert_max_num_queries(50) as captured:
        client.get("/news/2026-11/")
    reads = [query for query in captured.captured_queries if "claims-recomputed" in query["sql"]]
    assert len(reads) == 2


def test_changes_of_one_minute_are_newest_first_however_important_they_are(client, clock, publish):
    clock.set(2026, 11, 20, 12, 0, 1)
    publish()
    for publication in ("micron-7400-brief", "kioxia-fl6-brief"):
        details = {"outcomes": {"contradicted": 1, "confirmed": 3}, "impossible_claims": 0}
        record_event(None, CLAIMS_RECOMPUTED, ("publication", publication), "", details)
    clock.set(2026, 11, 20, 12, 0, 30)
    visibility.withdraw(publish(), make_user("rita", is_reviewer=True), "Wrong drive.")
    rows = client.get("/news/?format=json").json()["rows"]
    assert [row["group"] for row in rows] == ["withdrawals", "results", "claims", "claims", "results"]
    assert rows[2]["name"] == publication_of("kioxia-fl6-brief").title
    for place, row in enumerate(rows):
        older = client.get(f"/news/?format=json&before={row['event']}").json()["rows"]
        assert older == rows[place + 1 :]


def test_the_opening_is_the_last_entry(client, clock, import_results):
    clock.set(2026, 11, 20, 12, 0, 1)
    import_results(2)
    import_claims()
    rows = client.get("/news/?format=json").json()["rows"]
    assert len(rows) == 5
    assert rows[-1]["sentence"].startswith("The register opened with 2 published results.")
