"""Search by name: one typing error is forgiven, other names of makers are known, and what exists is taken as it is."""

import pytest

from tests.results.rows import make_judged_run
from tests.webapp.register.pages import read_rows
from webapp.register.drives.search.fuzzy_match import is_one_error_away
from webapp.register.drives.search.names import Names, names_text, search

ROWS = [
    ("Intel", "P4610", "SSDPE2KE016T8", "1.6 TB"),
    ("Intel", "P4510", "", "1 TB"),
    ("Western Digital", "Ultrastar DC SN840", "", "3.2 TB"),
    ("SanDisk", "DC SN861", "", "6.4 TB"),
]
NAMES = Names(tuple(map(names_text, ROWS)), tuple({name for row in ROWS for name in row}))


def found(query):
    asked = search(NAMES, query)
    return [row[1] for row, text in zip(ROWS, NAMES.texts, strict=True) if asked.holds(text)]


@pytest.mark.parametrize(
    ("query", "models"),
    [
        ("P4610", ["P4610"]),
        ("intel p4610", ["P4610"]),
        ("p-4610", ["P4610"]),
        ("WD", ["Ultrastar DC SN840"]),
        ("wdc sn840", ["Ultrastar DC SN840"]),
        ("western digital", ["Ultrastar DC SN840"]),
        ("SSDPE2KE016T8", ["P4610"]),
        ("ssdpe2ke", ["P4610"]),
        ("dcsn861", ["DC SN861"]),
        ("sn 861 6.4 tb", ["DC SN861"]),
        ("SN8", ["Ultrastar DC SN840", "DC SN861"]),
        ("tape", []),
    ],
)
def test_a_drive_is_found_by_its_names(query, models):
    assert found(query) == models


@pytest.mark.parametrize("typo", ["p461", "p46100", "4610", "p4160", "p46l0", "o4610"])
def test_one_typing_error_is_forgiven(typo):
    assert "P4610" in found(typo)


def test_a_word_that_exists_is_no_typing_error():
    assert found("P4510") == ["P4510"]
    assert search(NAMES, "P4510").sentence == ""


def test_a_word_taken_for_an_error_is_said_with_what_it_is_read_as():
    assert search(NAMES, "p4611").sentence == "In no name, so read as one letter away: p4611 as p4610."


def test_two_errors_are_too_many():
    assert found("p4622") == []


@pytest.mark.parametrize(
    ("word", "other", "is_so"),
    [
        ("abcd", "abcd", False), ("abcd", "abce", True), ("abcd", "abc", True), ("abcd", "xabcd", True),
        ("abcd", "badc", False), ("abcd", "bacd", True), ("abcd", "abdc", True), ("abcd", "acbd", True),
        ("abcd", "ab", False), ("abcd", "aecdf", False), ("a", "", True),
    ],
)  # fmt: skip
def test_one_error_is_a_letter_more_or_less_or_other_or_two_swapped(word, other, is_so):
    assert is_one_error_away(word, other) is is_so
    assert is_one_error_away(other, word) is is_so


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("query", "count"), [("wd", 6), ("Intel P4610", 2), ("westren", 6), ("google", 4), ("zzzzz", 0), ("%20-", 0)]
)
def test_the_search_page_lists_products(client, catalogue, query, count):
    response = client.get(f"/search/?q={query}")
    assert response.status_code == 200
    assert len(read_rows(response)) == count


@pytest.mark.django_db
def test_what_does_not_exist_answers_404_with_a_search_for_it(client, catalogue):
    response = client.get("/drive/intel-p4611-1600gb/")
    assert response.status_code == 404
    assert 'action="/search/"' in response.text
    assert 'value="intel p4611 1600gb"' in response.text


@pytest.mark.django_db
@pytest.mark.parametrize(("query", "name"), [("q=" + "x" * 101, "q:"), ("q=a&q=b", "q:"), ("p=1", "p:")])
def test_a_search_that_is_not_understood_is_named(client, query, name):
    response = client.get(f"/search/?{query}")
    assert response.status_code == 400
    assert name in response.text


@pytest.mark.django_db
def test_markup_that_is_searched_for_stays_text(client, catalogue):
    assert "<script>alert" not in client.get("/search/?q=<script>alert(1)</script>").text


@pytest.mark.django_db
def test_a_name_that_turns_text_around_turns_nothing_beside_it(client, make_product, make_published_run):
    names = {"vendor": "\u202eXE", "model": "\u202eEX9", "part_number": "\u05d09"}
    make_published_run(product=make_product(**names))
    text = client.get("/search/", {"q": "\u202eEX9"}).text
    for name in (*names.values(), "\u202eEX9</bdi>."):
        assert f"<bdi>{name}" in text, ascii(name)


@pytest.mark.django_db
def test_an_unreviewed_product_is_not_found(client, make_product, make_log_run):
    make_log_run(product=make_product(model="SECRET9"), visibility="unreviewed")
    assert "SECRET9" not in client.get("/search/?q=secret9").text.replace('value="secret9"', "")


@pytest.mark.django_db
def test_a_product_is_told_by_results_that_stand_and_keep_the_profile(
    client, make_product, make_published_run, make_log_run
):
    product = make_product(model="EX9", capacity_gb=1600)
    best = make_published_run(product=product, tps=300_000)
    make_published_run(product=product, tps=600_000, visibility="withdrawn")
    make_published_run(product=product, tps=700_000, visibility="superseded", superseded_by=best)
    make_published_run({1000: "90.00"}, product=product, tps=800_000)
    make_log_run(product=product, tps=900_000)
    _, _, speed, results, _ = read_rows(client.get("/search/?q=ex9"))[0]
    assert (speed, results) == ("300,000 as published", "3")


@pytest.mark.django_db
def test_a_speed_is_told_for_each_statistic(client, make_product, make_published_run):
    product = make_product(model="EX9", capacity_gb=1600)
    make_published_run(product=product, tps=300_000)
    make_judged_run(product, nx=50)
    _, _, speed, results, _ = read_rows(client.get("/search/?q=ex9"))[0]
    assert (" ".join(speed.split()), results) == (
        "300,000 as published 150,000 in every slice of a stored log",
        "2",
    )


@pytest.mark.django_db
def test_a_product_whose_results_are_all_withdrawn_is_found_without_a_speed(client, make_product, make_published_run):
    make_published_run(product=make_product(model="EX9"), visibility="withdrawn")
    _, _, speed, results, _ = read_rows(client.get("/search/?q=ex9"))[0]
    assert (speed, results) == ("none", "0")
