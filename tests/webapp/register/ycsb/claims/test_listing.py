"""The list of claims: all 62 with the results of their own figures, and its filters."""

import csv
import re
from collections import Counter

import pytest

from results.catalogue.claims import CLAIM_FILE, PUBLISHED
from results.rules.ycsb.statements import Status
from tests.webapp.register.pages import read_rows
from webapp.register.ycsb.claims.entries import LABELS, entries

CLAIMS = (
    "62 claims in 4 publications: 1 contradicts its own table, 4 use an impossible result, 33 are confirmed, 4 are "
    "read from a chart and 20 cannot be checked."
)


def recorded():
    with (PUBLISHED / CLAIM_FILE).open(newline="") as file:
        return list(csv.DictReader(file))


def exported(client):
    return client.get("/ycsb/claims/?format=json").json()["rows"]


READ_OFF, TOO_WIDE = "agrees as far as it was read off", "agrees at the points as read, which decide little"
# Points of these claims were read from a chart (ycsb_read_off_points.csv): rounding and truncation look the same.
OF_READ_OFF_POINTS = {
    "latency ratio at 40,000 ops/s (p99.99 read)": TOO_WIDE,
    "throughput improvement at 15 ms (p99.99 read)": TOO_WIDE,
    "lower average read latency at 460,000 ops/s": TOO_WIDE,
    "lower p99.9 read latency at 460,000 ops/s": READ_OFF,
}


def expected(row):
    if row["claim"] in OF_READ_OFF_POINTS:
        return OF_READ_OFF_POINTS[row["claim"]]
    if row["stated_value"] == "small":
        return "in words, not judged"
    is_rounded_twice = (row["stated_value"], row["recomputed_value"]) == ("16", "16.5")
    return "truncated" if is_rounded_twice else row["status"]


def test_every_claim_of_the_file_is_listed_with_its_value_and_its_status(client):
    shown = [(row["claim"], row["stated"], row["recomputed"] or "", row["status"]) for row in exported(client)]
    assert shown == [(row["claim"], row["stated_value"], row["recomputed_value"], expected(row)) for row in recorded()]


def test_the_claims_are_counted_by_status(client):
    counts = Counter(expected(row) for row in recorded())
    text = client.get("/ycsb/claims/").text
    assert CLAIMS in text
    impossible = Counter(entry.status for entry in entries() if entry.impossible_results)
    assert f"<dt>one of its inputs cannot be true <b>{impossible.total()}</b></dt>" in text
    for status, number in counts.items():
        confirmed = number - impossible[Status(status)]
        assert f"<dt>{LABELS[Status(status)]} <b>{confirmed}</b></dt>" in text


def test_the_claims_16_of_16_5_and_31_of_31_5_are_both_truncated(client):
    found = {(row["stated"], row["recomputed"]): row["status"] for row in exported(client)}
    assert (found["16", "16.5"], found["31", "31.5"]) == ("truncated", "truncated")


def test_a_value_read_from_a_chart_is_marked_with_its_precision(client):
    marked = {row["claim"]: row["read_off"] for row in exported(client) if row["read_off"]}
    assert set(marked) == set(OF_READ_OFF_POINTS)
    # 3,500 / 340 to 4,500 / 240
    assert marked["lower p99.9 read latency at 460,000 ops/s"] == "read off a figure, good to 1 digit: 10.3 to 18.8 x"
    assert client.get("/ycsb/claims/").text.count("read from a chart, accurate to one digit") == 4


def claim_rows(client):
    return [row for row in read_rows(client.get("/ycsb/claims/")) if len(row) == 6]


def test_the_7400_briefs_44_and_49_per_cent_are_reproduced(client):
    found = claim_rows(client)
    assert ["workload A", "stated 44 %", "gives 43.9 %"] in [row[1:4] for row in found]
    assert [row[3] for row in found if row[0] == "mean improvement over thread counts" and row[1] == "workload A"] == [
        "gives 48.6 %"
    ]


def test_the_7450_briefs_2_3_times_and_95_per_cent_have_an_undecided_range(client):
    found = {row[0]: row[1:] for row in claim_rows(client)}
    assert found["latency ratio at 40,000 ops/s (p99.99 read)"] == [
        "workload A", "stated 2.3 x", "gives 2.3 x",
        "Read latency, p99.99 at the same throughput: first-generation PCIe Gen4 23 ms ÷ 7450 PRO 10 ms",
        f"{LABELS[Status(TOO_WIDE)]} "
        "read from a chart, accurate to one digit: possible range 1.2 to 5.6 x",
    ]  # fmt: skip
    assert found["throughput improvement at 15 ms (p99.99 read)"][1:3] == ["stated 95 %", "gives 95.7 %"]


def test_the_x100_papers_14_times_is_13_8_as_read_from_the_chart(client):
    found = {row[0]: row[1:] for row in claim_rows(client)}
    assert found["lower p99.9 read latency at 460,000 ops/s"][1:3] == ["stated 14 x", "gives 13.8 x"]


def test_a_claim_that_its_own_table_contradicts_is_framed(client):
    text = client.get("/ycsb/claims/").text
    assert text.count('<span class="fail">contradicted</span>') == 2  # in its row, and above the table


def test_both_roundings_are_shown_if_a_second_rounding_makes_the_difference(client):
    (row,) = [row for row in exported(client) if row["recorded_status"]]
    assert (row["workload"], row["stated"], row["status"]) == ("F", "16", "truncated")
    assert row["recorded_status"] == "exactly 16.5248; rounded to 16.5 first: reproduces"
    sentence = "The exact value is 16.5248. Rounded to 16.5 first, the status would be: confirmed."
    assert sentence in client.get("/ycsb/claims/").text


def test_the_list_begins_with_a_link_to_the_results_that_cannot_be_true(client):
    before_filters = client.get("/ycsb/claims/").text.split('<nav class="choices"')[0]
    callout = before_filters.split('id="impossible">')[1]
    assert "1 of the 12 YCSB results published by KIOXIA that the register can check cannot be true" in callout
    assert "4 claims use such a result." in callout
    assert '<a href="/ycsb/impossible/">' in callout


def test_a_claim_that_uses_an_impossible_result_is_marked_and_not_confirmed(client):
    marked = [row for row in exported(client) if row["impossible_drive"]]
    outcome = "impossible-input"
    assert [(row["claim"], row["workload"], row["outcome"]) for row in marked] == [
        ("run time gain", "A", outcome), ("throughput gain", "A", outcome),
        ("average read latency gain", "A", outcome), ("average update latency gain", "A", outcome),
    ]  # fmt: skip
    assert {row["impossible_drive"] for row in marked} == {"TLC PCIe 4.0"}
    mark = "uses an <b>impossible</b> result of the TLC PCIe 4.0"
    assert client.get(f"/ycsb/claims/?outcome={outcome}").text.count(mark) == 4
    assert mark not in client.get("/ycsb/claims/?outcome=confirmed").text


def test_the_csv_has_the_values_of_the_page(client):
    lines = client.get("/ycsb/claims/?format=csv").text.splitlines()
    assert len(lines) == 63
    assert lines[1].startswith("micron-7400-brief,peak throughput improvement,A,7400 PRO,7300 PRO,44,%,")


CHOICE = re.compile(r'<a href="(\?[^"]*)"( aria-current="true")?>([^<]+) (\d+)</a>')


def choices(client, label, query=""):
    text = client.get(f"/ycsb/claims/{query}").text
    nav = text.split(f'aria-label="{label}"')[1].split("</nav>")[0]
    return [(name, int(number), bool(current)) for _, current, name, number in CHOICE.findall(nav)]


def test_the_outcomes_are_choices_with_their_counts(client):
    assert choices(client, "Filter by outcome") == [
        ("All", 62, True), ("Contradicted", 1, False), ("Confirmed", 33, False),
        ("One of its inputs cannot be true", 4, False), ("Read from a chart", 4, False),
        ("Cannot be checked", 20, False),
    ]  # fmt: skip


def test_the_counts_of_one_filter_are_those_under_the_other(client):
    query = "?outcome=unchecked&brief=micron-7400-brief"
    assert choices(client, "Filter by outcome", query) == [
        ("All", 14, False), ("Contradicted", 1, False), ("Confirmed", 8, False),
        ("One of its inputs cannot be true", 0, False), ("Read from a chart", 0, False),
        ("Cannot be checked", 5, True),
    ]  # fmt: skip
    assert [number for _, number, _ in choices(client, "Filter by publication", query)] == [20, 5, 1, 0, 14]


@pytest.mark.parametrize("outcome", ["contradicted", "confirmed", "impossible-input", "from-chart", "unchecked"])
@pytest.mark.parametrize(
    "brief", ["", "micron-7400-brief", "kioxia-fl6-brief", "micron-7450-brief", "micron-x100-paper"]
)
def test_a_filter_shows_as_many_claims_as_its_choice_counts(client, outcome, brief):
    query = f"?outcome={outcome}{f'&brief={brief}' if brief else ''}"
    response = client.get(f"/ycsb/claims/{query}")
    shown = [row for row in read_rows(response) if len(row) == 6]
    shown = [row for row in shown if row[0] != "Claim"]
    (current,) = [number for _, number, is_current in choices(client, "Filter by outcome", query) if is_current]
    assert len(shown) == current
    assert f"{current} of 62 claims shown." in response.text
    exported_rows = client.get(f"/ycsb/claims/{query}&format=json").json()["rows"]
    assert [row["outcome"] for row in exported_rows] == [outcome] * current


def test_the_links_of_a_filtered_page_keep_the_other_filter(client):
    text = client.get("/ycsb/claims/?outcome=confirmed&brief=kioxia-fl6-brief").text
    assert '<a href="?outcome=unchecked&amp;brief=kioxia-fl6-brief">Cannot be checked 1</a>' in text
    assert '<a href="?outcome=confirmed">All 33</a>' in text
    assert '<a href="?outcome=confirmed&amp;brief=kioxia-fl6-brief&amp;format=csv">CSV</a>' in text


def test_a_filter_without_claims_says_so_and_links_to_all(client):
    text = client.get("/ycsb/claims/?outcome=contradicted&brief=kioxia-fl6-brief").text
    assert "0 of 62 claims shown. No claim has this outcome in this publication." in text
    assert '<a href="?">Show all claims</a>' in text


@pytest.mark.parametrize("query", ["outcome=wrong", "brief=no-such-brief", "status=contradicted", "outcome="])
def test_an_invalid_filter_is_named(client, query):
    response = client.get(f"/ycsb/claims/?{query}")
    assert (response.status_code == 400) == (query != "outcome=")


def test_every_claim_links_to_its_page_and_the_export_has_the_same_address(client):
    text = client.get("/ycsb/claims/").text
    addresses = [row["url"] for row in exported(client)]
    assert len(set(addresses)) == 62
    assert all(f'<a href="{address}">' in text for address in addresses)


def test_the_contradicted_claim_is_above_the_table_whatever_is_filtered(client):
    for query in ("", "?outcome=confirmed"):
        callout = client.get(f"/ycsb/claims/{query}").text.split('class="callout fault"')[1].split("</p>")[0]
        assert "Micron on the 7400 PRO: 24\xa0% mean improvement over thread counts, workload D" in callout
        assert "too low: is to the disadvantage of the publisher, Micron." in callout
        assert '<span class="fail">contradicted</span>: <a href=' in callout
        assert "Micron. Without the row of 48 threads, the mean is 23.8\xa0%. <a" in callout
        assert ">The register has the figures, but not the document</a>." in callout


def details_of(client, query=""):
    text = client.get(f"/ycsb/claims/{query}").text
    return re.findall(r'<details class="fold"( open)?><summary><h2 id="([^"]+)">', text)


def test_the_contradicted_claim_is_first_and_only_its_publication_is_open(client):
    first = claim_rows(client)[0]
    assert first[:4] == ["mean improvement over thread counts", "workload D", "stated 24 %", "gives 25.8 %"]
    assert [(slug, bool(is_open)) for is_open, slug in details_of(client)] == [
        ("micron-7400-brief", True), ("kioxia-fl6-brief", False), ("micron-7450-brief", False),
        ("micron-x100-paper", False),
    ]  # fmt: skip


def test_a_filter_opens_all_its_publications(client):
    found = details_of(client, "?outcome=unchecked")
    assert [bool(is_open) for is_open, _ in found] == [True, True, True]


def test_each_publication_is_headed_by_what_its_claims_are_worth(client):
    text = client.get("/ycsb/claims/").text
    summary = text.split('<h2 id="kioxia-fl6-brief">')[1].split("</summary>")[0]
    assert "25 of 30 claims are confirmed by their own table." in summary
    assert "4 agree with their own table but use a result that cannot be true" in summary


def test_a_formula_has_the_names_and_the_figures_of_both_drives(client):
    formulas = {(row[0], row[1]): row[4] for row in claim_rows(client)}
    assert formulas["peak throughput improvement", "workload A"] == (
        "(highest throughput of the 7400 PRO over all thread counts ÷ that of the 7300 PRO) - 1 = (42,012 ÷ 29,195) - 1"
    )
    assert formulas["run time gain", "workload A"] == "Run time: 1 - (FL6 30.65 min ÷ TLC PCIe 4.0 33.66 min)"
    assert formulas["mean improvement over thread counts", "workload A"] == (
        "Mean over all thread counts of (throughput of the 7400 PRO ÷ that of the 7300 PRO) - 1"
    )
    assert formulas["lower average read latency, mean over thread counts", "workload A"] == (
        "Mean over all thread counts of 1 - (average read latency of the 7400 PRO ÷ that of the 7300 PRO)"
    )
    assert formulas["throughput at 64 threads", "workload A"] == ""


def test_a_reason_has_the_label_of_its_metric_on_the_page_and_its_id_in_exports(client):
    metric = "average read latency"
    assert f"no figure of {metric} for 7400 PRO, workload F" in client.get("/ycsb/claims/").text
    reasons = {row["reason"] for row in exported(client)}
    assert "no figure of read_latency_avg for 7400 PRO, workload F" in reasons
    assert "the publication states no figures for this claim" in reasons


def test_home_and_the_list_state_the_same_split_of_the_claims(client, db):
    assert CLAIMS in client.get("/").text
    assert CLAIMS in client.get("/ycsb/claims/").text


def test_the_guessed_address_leads_to_the_claims_for_good(client, db):
    response = client.get("/claims/?outcome=contradicted")
    assert (response.status_code, response["Location"]) == (301, "/ycsb/claims/?outcome=contradicted")


def test_the_case_of_a_typed_outcome_does_not_matter(client, db):
    assert "1 of 62 claims shown." in client.get("/ycsb/claims/?outcome=Contradicted").text
    assert client.get("/ycsb/claims/?outcome=Contradicte").status_code == 400
