"""The page of published results that cannot be true, and the links to it from the pages of their publications."""

import re

import pytest

from results.catalogue.claims import import_figures
from tests.webapp.register.pages import read_rows
from webapp.register.ycsb import impossible_results

pytestmark = pytest.mark.django_db
PAGE = "/ycsb/impossible/"


def test_the_page_lists_all_checked_results_the_impossible_one_first(client):
    response = client.get(PAGE)
    rows = read_rows(response)
    assert (
        "1 of the 12 YCSB results published by KIOXIA that the register can check cannot be true: throughput and mean "
        "latency of the TLC PCIe 4.0, workload A, contradict each other." in response.text
    )
    assert [row[-1] for row in rows] == ["check: impossible", *["check: possible"] * 11]
    assert rows[0][1:] == [
        "publication: KIOXIA FL6 against a TLC PCIe 4.0 drive on Aerospike",
        "throughput: 990,315 ops/s",
        "mean latency: 136.4 us",
        "requests at once: 135.1",
        "threads: 128",
        "check: impossible",
    ]


def test_the_page_lists_the_claims_that_use_an_impossible_result(client):
    part = client.get(PAGE).text.split('<h2 id="claims">')[1].split("</ul>")[0]
    claims = re.findall(r'<a href="(/ycsb/claims/kioxia-fl6-brief/[^"]*-a/)">', part)
    assert len(claims) == part.count("<li>") == 4
    for address in claims:
        page = client.get(address).text
        assert ", from a result that cannot be true.</h1>" in page


def test_the_page_says_how_impossible_a_result_is_whose_drive_it_is_and_whom_each_figure_favours(client):
    text = client.get(PAGE).text
    assert (
        "TLC PCIe 4.0, workload A: throughput x mean latency means 135.1 requests at once, but 128 threads can "
        "have at most one each: 5.5 % more than possible. The TLC PCIe 4.0 is the competitor&#x27;s drive in the "
        "publication of KIOXIA. At least one of the two figures is too high: the throughput, which favours the TLC "
        "PCIe 4.0, or the mean latency, which favours the FL6."
    ) in text
    assert text.count("more than possible") == 1


def test_each_impossible_result_is_marked_on_the_page_of_its_publication(client):
    import_figures()
    for each in impossible_results.checked_results():
        text = client.get(f"/ycsb/{each.check.publication}/").text
        part = text.split(f'id="workload-{each.check.workload.lower()}"')[1].split("</div>")[0]
        is_marked = each.is_impossible and each.sentence in part and f'href="{PAGE}"' in part
        assert is_marked is each.is_impossible, each.check
    assert text.count('<span class="fail">impossible</span>') == 1


def test_the_results_link_to_their_tables(client):
    links = re.findall(r'<a href="(/ycsb/[^"]+#[^"]+)">([^<]+)</a>', client.get(PAGE).text)
    assert links[0] == ("/ycsb/kioxia-fl6-brief/#workload-a", "TLC PCIe 4.0, workload A")
    assert len(dict(map(reversed, links))) == 12


def test_readers_find_the_page(client):
    for path in ("/explain/", "/ycsb/", "/ycsb/claims/"):
        assert f'<a href="{PAGE}">' in client.get(path).text, path
    assert f"{PAGE}</loc>" in client.get("/sitemap.xml").text


def test_the_page_can_be_shared(client):
    text = client.get(PAGE).text
    assert '<meta property="og:title" content="Impossible results">' in text
    assert f'<link rel="canonical" href="http://127.0.0.1:8000{PAGE}">' in text
    assert client.get(f"{PAGE}?x=1").status_code == 400


def test_more_or_no_impossible_results_are_counted(monkeypatch):
    (wrong, right, *_) = impossible_results.checked_results()
    monkeypatch.setattr(impossible_results, "checked_results", lambda: (wrong, wrong, right))
    assert impossible_results.impossible_sentence() == (
        "2 of the 3 YCSB results published by KIOXIA that the register can check cannot be true: their throughputs and "
        "mean latencies contradict each other."
    )
    monkeypatch.setattr(impossible_results, "checked_results", lambda: (right, right))
    assert impossible_results.impossible_sentence() == (
        "All 2 YCSB results published by KIOXIA that the register can check are possible."
    )
