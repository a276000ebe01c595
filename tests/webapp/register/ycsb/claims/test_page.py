"""The page of one claim: statement, figures, recomputation, favoured side, other computations, and the strip."""

import csv
import re
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from html import unescape

import pytest
from django.utils import timezone

from results.catalogue.rows import published_sources
from results.models.ids import derived_id
from results.rules.ycsb.statements import Outcome, Status, places_of
from tests.webapp.register.drawings import charts_of, texts_of, words_of
from webapp.register.ycsb.claims.entries import NO_DOCUMENT, ClaimEntry, entries, headline_of
from webapp.register.ycsb.claims.sentences import card_foot, card_note, title

WRONG_CLAIM = "Micron on the 7400 PRO: 24 % mean improvement over thread counts, workload D"
WRONG = "/ycsb/claims/micron-7400-brief/mean-improvement-over-thread-counts-d/"
PEAK = "/ycsb/claims/micron-7400-brief/peak-throughput-improvement-a/"
THROUGHPUT = "/ycsb/claims/kioxia-fl6-brief/throughput-gain-a/"
RUN_TIME = "/ycsb/claims/kioxia-fl6-brief/run-time-gain-b/"
CHART = "/ycsb/claims/micron-x100-paper/lower-p99-9-read-latency-at-460000-ops-s-a/"
WORDS = "/ycsb/claims/kioxia-fl6-brief/memory-utilization-small-gains-a-f/"
UNCHECKED = "/ycsb/claims/micron-7400-brief/lower-average-read-latency-mean-over-thread-counts-f/"


def text_of(client, address):
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", client.get(address).text.replace("\xa0", " "))))


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: f"{entry.slug}/{entry.claim_id}")
def test_every_claim_has_a_page_with_its_stated_number_and_its_result(client, entry):
    response = client.get(entry.address)
    assert response.status_code == 200
    text = text_of(client, entry.address)
    assert title(entry) in text
    assert entry.stated in text
    assert entry.recomputed in text
    assert entry.label.lower() in text.lower()


def test_the_contradicted_claim_has_the_figures_of_its_table(client):
    text = text_of(client, WRONG)
    assert f"{WRONG_CLAIM}. Its own table gives 25.8 %." in text
    lead = "The mean of its table is 25.8 %, so the claim is 1.8 percentage points too low."
    assert f"contradicted : {lead} That is to the disadvantage of the publisher, Micron." in text
    assert "25.8 % (exactly 25.77; rounds to 26, cut off to 25)" in text
    favours = "Stated 1.8 percentage points too low: is to the disadvantage of the publisher, Micron."
    assert f"{favours} Both drives are from Micron." in text
    first = "Without the row of 48 threads, the mean is 23.8 %, which rounds to the stated 24."
    assert first in text
    note = "An equal number does not prove that the publication computed the claim in this way."
    assert text.count(note) == 1
    assert text.count(first) == 1
    html = client.get(WRONG).text
    after_verdict = html.split('<p class="verdict">')[1].split("</p>", 1)[1].lstrip()
    assert after_verdict.startswith('<ul class="plain first-facts"><li>Without the row of 48')
    facts = after_verdict.split("</ul>")[0]
    assert note in facts
    assert "The register has the figures, but not the document</a>." in facts
    assert "An equal number" not in text_of(client, RUN_TIME)
    assert "Remark" not in text


def test_the_recomputation_lists_each_thread_count_and_the_mean(client):
    table = client.get(WRONG).text.split('id="recomputation"')[1].split("</table>")[0]
    rows = [re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", row)).split() for row in table.split("<tr>")[2:]]
    assert rows[0] == ["4", "22,159", "21,296", "4.1"]
    assert rows[4] == ["48", "164,202", "114,443", "43.5"]
    assert rows[-1] == ["mean", "25.8"]
    assert len(rows) == 11


def test_the_chart_of_a_mean_has_a_column_for_each_row_and_both_lines(client):
    (chart,) = charts_of(client.get(WRONG))
    assert texts_of(chart, "value") == ["4.1", "9.4", "17.9", "27.5", "43.5", "34.4", "36.4", "35.3", "27.8", "21.5"]
    assert texts_of(chart, "strong") == ["its table 25.8 %"]
    assert [text for text in texts_of(chart, "stated") if text] == ["stated 24 %"]
    assert words_of(chart)[0] == "4 threads: 7400 PRO 22,159 ops/s, 7300 PRO 21,296 ops/s, gain 4.1 %"


def test_the_chart_of_peaks_has_both_peaks_with_their_threads_and_the_needed_value(client):
    (chart,) = charts_of(client.get(PEAK))
    assert words_of(chart) == ["7300 PRO: 29,195 ops/s with 64 threads", "7400 PRO: 42,012 ops/s with 32 threads"]
    assert [text for text in texts_of(chart, "stated") if text] == ["stated 44 % needs 42,041 ops/s"]


def test_values_of_a_chart_have_their_ranges_in_chart_and_table(client):
    response = client.get(CHART)
    (chart,) = charts_of(response)
    assert words_of(chart)[1] == "X100: 290 us, read from a chart: 240 to 340"
    assert "240 to 340" in response.text.split('id="recomputation"')[1]
    assert (
        "14 x lower p99.9 read latency at 460,000 ops/s, workload A. Its own chart allows 10.3 to 18.8 x."
        in text_of(client, CHART)
    )
    assert "Favoured side not decided: the chart is not precise enough." in text_of(client, CHART)


def test_a_claim_in_words_has_the_figures_of_all_its_workloads(client):
    (chart,) = charts_of(client.get(WORDS))
    assert len(words_of(chart)) == 12
    text = text_of(client, WORDS)
    assert "Favoured side not known: the claim has no number." in text
    assert "KIOXIA on the FL6, memory utilization: small gains, workloads A-F. Its own table gives" in text


def test_a_claim_without_figures_has_no_chart_and_says_what_is_missing(client):
    assert charts_of(client.get(UNCHECKED)) == []
    text = text_of(client, UNCHECKED)
    assert (
        "Micron on the 7400 PRO: 51 % lower average read latency, mean over thread counts, workload F. Its figures"
        in text
    )
    assert "no figure of average read latency for 7400 PRO, workload F" in text
    assert "the conclusion says 57 for F" in text


def test_what_was_not_recorded_about_the_source_is_one_sentence(client):
    text = text_of(client, WRONG)
    facts = "address, date, page, printed title and original sentence"
    assert f"Brief on the Micron 7400 PRO and RocksDB. The publication's {facts} are not recorded." in text


@pytest.mark.parametrize(
    ("address", "headline"),
    [
        (
            THROUGHPUT,
            "KIOXIA on the FL6: ~9 % throughput gain, workload A. Its own table gives 9.8 %, from a result that cannot "
            "be true.",
        ),
        ("/ycsb/claims/kioxia-fl6-brief/throughput-gain-e/", "Its own table gives 0.5 %: confirmed, rounded up."),
        (PEAK, "44 % peak throughput improvement, workload A. Its own table gives 43.9 %: confirmed."),
    ],
)
def test_the_headline_of_a_confirmed_claim_says_so(client, address, headline):
    text = text_of(client, address)
    assert headline in text
    assert "Remark" not in text


def test_a_claim_that_uses_an_impossible_result_says_so_on_its_page(client):
    sentence = (
        "The claim uses a result that cannot be true: the throughput and the mean latency of the TLC PCIe 4.0, "
        "workload A, contradict each other: they mean 135.1 requests at once, but 128 threads can have at most one "
        "each, so 5.5 % more than possible. The TLC PCIe 4.0 is the competitor&#x27;s drive in the publication of "
        "KIOXIA. "
    )
    marked = [entry.address for entry in entries() if sentence in client.get(entry.address).text]
    names = ("run-time", "throughput", "average-read-latency", "average-update-latency")
    assert marked == [f"/ycsb/claims/kioxia-fl6-brief/{name}-gain-a/" for name in names]
    (row,) = client.get(f"{marked[1]}?format=json").json()["rows"]
    assert (row["against_value"], row["impossible_drive"]) == ("990315", "TLC PCIe 4.0")
    rows = client.get(f"{WRONG}?format=json").json()["rows"]
    assert {row["impossible_drive"] for row in rows} == {None}


def test_a_claim_that_agrees_only_with_an_impossible_result_is_not_confirmed(client):
    verdict = client.get(THROUGHPUT).text.split('<p class="verdict">')[1].split("</p>")[0]
    status = (
        '<span class="fail">impossible</span>: <b>The arithmetic is right, but one of its inputs cannot be true.</b>'
    )
    assert verdict.startswith(status)
    assert "favours the competitor" not in client.get(RUN_TIME.replace("-b/", "-f/")).text


def test_the_strip_has_all_claims_of_the_publication_by_outcome_and_marks_this_one(client):
    text = client.get(WRONG).text
    strip = text.split('<ol class="cells">')[1].split("</ol>")[0]
    classes = re.findall(r'<li class="([a-z-]+)">', strip)
    assert {kind: classes.count(kind) for kind in classes} == {"confirmed": 8, "contradicted": 1, "unchecked": 5}
    assert re.findall(r'<a href="([^"]+)" aria-current="page">', strip) == [WRONG]
    assert "<b>1 of 14 claims is contradicted by its own table.</b> 8 are confirmed, 5 cannot be checked." in text


@pytest.mark.parametrize(
    "address",
    [
        "/ycsb/claims/micron-7400-brief/no-such-claim/",
        "/ycsb/claims/no-such-brief/mean-improvement-over-thread-counts-d/",
        "/ycsb/claims/kioxia-fl6-brief/mean-improvement-over-thread-counts-d/",
        "/ycsb/claims/micron-7400-brief/no-such-claim/share.png",
    ],
)
def test_an_unknown_claim_has_no_page(client, address):
    assert client.get(address).status_code == 404


def test_the_figures_of_a_claim_are_exported(client):
    rows = list(csv.DictReader(client.get(f"{WRONG}?format=csv").text.splitlines()))
    assert (rows[0]["threads"], rows[0]["drive_value"], rows[0]["against_value"]) == ("4", "22159", "21296")
    assert len(rows) == 10
    document = client.get(f"{CHART}?format=json").json()
    assert document["schema"] == "drivecert.claim-figures/1"
    assert document["rows"][0]["drive_from"] == "240"
    assert client.get(f"{UNCHECKED}?format=json").json()["rows"] == []
    assert client.get(f"{WRONG}?format=xml").status_code == 400


def test_the_page_has_tags_for_sharing_with_the_address_of_its_image(client):
    text = client.get(WRONG).text
    tags = dict(re.findall(r'<meta (?:property|name)="([^"]+)" content="([^"]*)">', text))
    assert tags["og:title"] == f"{WRONG_CLAIM}. Its own table gives 25.8 %."
    assert tags["og:image"] == f"http://127.0.0.1:8000{WRONG}share.png"
    assert (tags["og:image:width"], tags["og:image:height"]) == ("1200", "630")
    assert tags["twitter:card"] == "summary_large_image"
    assert tags["og:description"] == tags["description"]
    assert tags["og:description"].startswith("The mean of its table is 25.8 %, so the claim is 1.8 percentage points")
    assert tags["og:url"] == f"http://127.0.0.1:8000{WRONG}"


def of_outcomes(*addresses):
    by_address = {entry.address: entry for entry in entries()}
    return [by_address[address] for address in addresses]


def test_the_headline_of_a_publication_begins_with_its_contradictions():
    wrong, fine, unchecked = of_outcomes(WRONG, PEAK, UNCHECKED)
    assert headline_of([wrong, fine]).sentence == "1 of 2 claims is contradicted by its own table."
    assert headline_of([wrong, wrong, fine]).sentence == "2 of 3 claims are contradicted by their own table."
    assert headline_of([wrong, unchecked]).others == "1 cannot be checked."


def test_the_headline_of_a_publication_without_contradictions_counts_the_confirmed():
    fine, chart, unchecked = of_outcomes(PEAK, CHART, UNCHECKED)
    found = headline_of([fine, chart, unchecked])
    assert (found.sentence, found.others) == (
        "1 of 3 claims is confirmed by its own table.",
        "1 is read from a chart, 1 cannot be checked.",
    )
    assert not found.is_contradicted
    assert (
        headline_of([chart, chart]).sentence == "None of 2 claims can be confirmed from the publication's own figures."
    )


def test_every_claim_of_the_catalogue_is_an_entry():
    assert all(isinstance(entry, ClaimEntry) for entry in entries())
    assert len(entries()) == 62


def test_a_headline_counts_the_claims_that_use_an_impossible_result():
    fine, wrong = of_outcomes(PEAK, WRONG)
    using = of_outcomes(THROUGHPUT, "/ycsb/claims/kioxia-fl6-brief/run-time-gain-a/")
    remark = "a result that cannot be true"
    of_three, of_one = headline_of([fine, *using]), headline_of([using[0]])
    assert of_three.sentence == "1 of 3 claims is confirmed by its own table."
    assert of_three.others == f"2 agree with their own table but use {remark}."
    assert of_one.sentence == "None of 1 claim can be confirmed from the publication's own figures."
    assert of_one.others == f"1 agrees with its own table but uses {remark}."
    assert headline_of([wrong, *using]).others == of_three.others
    assert [headline_of(found).uses_impossible for found in ([fine], using)] == [False, True]


def test_the_formula_of_a_claim_has_names_figures_and_result(client):
    assert (
        "Computed as: (highest throughput of the 7400 PRO over all thread counts ÷ that of the 7300 PRO) - 1 = "
        "(42,012 ÷ 29,195) - 1 = 43.9 %." in text_of(client, PEAK)
    )
    of_chart = "read latency, p99.9 at the same throughput: 9300 MAX 4,000 us ÷ X100 290 us = 13.8 x."
    assert of_chart in text_of(client, CHART)
    assert "memory used: 1 - (FL6 ÷ TLC PCIe 4.0) = 0 %." in text_of(client, WORDS)


def test_the_workload_is_spelt_out(client):
    text = text_of(client, WRONG)
    assert "D: 95 % reads of the latest, 5 % inserts (of YCSB, the Yahoo! Cloud Serving Benchmark)" in text


def test_the_crumbs_name_publication_and_claim(client):
    title = "Micron 7400 PRO against 7300 PRO on RocksDB"
    crumb = client.get(WRONG).text.split('<p class="crumb">')[1].split("</p>")[0]
    parts = [re.sub("<[^>]+>", "", part) for part in crumb.split(" / ")]
    assert parts == ["YCSB", "Claims", title, "mean improvement over thread counts, workload D"]


def test_a_claim_has_a_citation_with_a_permanent_id_and_the_date(client, monkeypatch):
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 11, 8, 23, 59, tzinfo=UTC))
    text = client.get(WRONG).text
    (public_id,) = set(re.findall(r"/id/(pc-\w{8})", text))
    cited = text_of(client, WRONG).split("Cite this page")[1]
    assert cited.startswith(
        f" Micron on the 7400 PRO: mean improvement over thread counts, workload D (claim {public_id}) . Stated 24 %. "
        "Its own table gives 25.8 %. Status: contradicted. Publication: Brief on the Micron 7400 PRO and RocksDB, "
        "by Micron, date not recorded; the register has the figures, but not the document. "
        "State of the data: 8 November 2026 (UTC). Drivecert, "
        "public register of storage drives, 2026."
    )
    assert text.index('id="recomputation"') < text.index('id="share"') < text.index('id="cite"')
    response = client.get(f"/id/{public_id}")
    assert (response.status_code, response["Location"]) == (301, WRONG)


def test_the_ids_of_claims_are_unique_and_permanent():
    assert len({entry.public_id for entry in entries()}) == 62
    (wrong,) = of_outcomes(WRONG)
    assert wrong.public_id == derived_id("pc", "micron-7400-brief/mean-improvement-over-thread-counts-d")


def test_the_link_to_a_claim_is_its_address_and_the_page_says_what_became_of_it(client):
    text = client.get(WRONG).text
    link = f'<a data-form="html" href="{WRONG}">Link to this claim</a>'
    assert f'{link} <span role="status" data-link-status></span>' in text


@pytest.mark.parametrize(("address", "is_said"), [("", True), ("https://example.org/brief.pdf", False)])
def test_a_claim_says_that_its_source_is_not_on_file_until_it_has_an_address(client, monkeypatch, address, is_said):
    (entry,) = of_outcomes(WRONG)
    sources = published_sources() | {entry.slug: replace(entry.source, address=address)}
    monkeypatch.setattr("webapp.register.ycsb.claims.entries.published_sources", lambda: sources)
    text = client.get(WRONG).text.replace("<wbr>", "")
    said = "The register has the figures, but not the document"
    link = f'<a href="/explain/glossary/#what-is-kept-source-not-on-file">{said}</a>'
    assert (link in text.split('<div class="claimgrid">')[0]) is is_said
    assert (NO_DOCUMENT in card_note(entry).lower()) is is_said
    assert not any(NO_DOCUMENT in line for line in card_foot(entry))
    citation = text.split('<h2 id="cite">')[1]
    publication = "Publication: Brief on the Micron 7400 PRO and RocksDB, by Micron, date not recorded"
    assert citation.count(f"{publication}; the register has the figures, but not the document.") == (
        2 if is_said else 0
    )  # in words and as BibTeX
    assert citation.count(f"{publication}. {address}") == (0 if is_said else 2)
    summary = client.get("/ycsb/claims/").text.split(f'<h2 id="{entry.slug}">')[1].split("</summary>")[0]
    assert ("The register has figures of this publication, but not the document." in summary) is is_said


def test_the_rule_of_confirmed_and_its_counts_are_next_to_the_outcomes(client):
    text = client.get("/ycsb/claims/").text
    shown = text.split('aria-label="Filter by outcome"')[1].split('aria-label="Filter by publication"')[0]
    statuses = [entry.status for entry in entries() if entry.outcome is Outcome.CONFIRMED]
    correct, cut, up = (statuses.count(each) for each in (Status.REPRODUCES, Status.TRUNCATED, Status.ROUNDED_UP))
    assert correct + cut + up == len(statuses)
    assert cut
    assert (
        "Confirmed: the figures give the stated number, rounded correctly, cut off or rounded up to its last stated "
        f"digit; the difference is always less than one unit of that digit ({correct} rounded correctly, {cut} cut "
        f"off, {up} rounded up)."
    ) in shown
    assert "<details" not in shown


def test_a_confirmed_claim_differs_by_less_than_one_unit_of_its_last_digit():
    for entry in entries():
        if entry.outcome is Outcome.CONFIRMED and len(entry.row.check.values) == 1:
            stated = entry.row.check.claim.stated_value
            unit = Fraction(1, 10 ** places_of(stated))
            assert abs(entry.row.check.values[0] - Fraction(stated)) < unit, entry.text


def test_a_contradicted_claim_says_where_to_get_its_publication_and_what_was_copied(client, db):
    said = text_of(client, WRONG).replace("\N{WORD JOINER}", "")
    assert (
        "Ask Micron for it: Brief on the Micron 7400 PRO and RocksDB (its own title is not recorded), date not "
        "recorded. The register copied from it the stated 24 % and 20 figures of the table below."
    ) in said
    confirmed = next(entry for entry in entries() if not entry.is_contradicted and not entry.is_source_on_file)
    assert "It also has no address" not in client.get(confirmed.address).text
