"""The historical results, split into pages over all their tables."""

import re

import pytest

from webapp.register.drives import order

pytestmark = pytest.mark.django_db


@pytest.fixture
def of_three(monkeypatch):
    monkeypatch.setattr(order, "ROWS_A_PAGE", 3)


@pytest.fixture
def results(make_product, make_published_run):
    """Four runs of flash, then two of M.2 drives: the first page ends inside the first table."""
    runs = []
    for category, number in (("nvme-flash", 4), ("m2-flash", 2)):
        for place in range(number):
            product = make_product(category=category, historical=True)
            runs.append(make_published_run(product=product, tps=900_000 - place).public_id)
    return runs


def shown(client, query=""):
    return re.findall(r'href="/runs/([\w-]+)/"', client.get(f"/drives/historical/{query}").text)


def test_pages_continue_from_table_to_table(client, of_three, results):
    assert shown(client) == results[:3]
    assert shown(client, "?page=2") == results[3:]


def test_a_table_without_rows_on_a_page_is_hidden_there(client, of_three, results):
    first, second = (client.get(f"/drives/historical/{query}").text for query in ("", "?page=2"))
    assert '<section id="m2-flash" hidden>' in first
    assert '<section id="m2-flash">' in second
    assert '<section id="nvme-flash">' in second


def test_the_pages_are_linked_and_count_every_row(client, of_three, results):
    text = client.get("/drives/historical/").text
    assert '<a href="?" aria-current="page">1</a> <a href="?page=2">2</a>' in text
    assert "6 of 6 shown." in text


def test_a_note_on_how_to_read_the_tables_is_on_the_page_once(client, results):
    assert client.get("/drives/historical/").text.count("A share with a frame and an open box is over its limit") == 1


def test_a_page_beyond_the_last_is_refused(client, of_three, results):
    assert client.get("/drives/historical/?page=2").status_code == 200
    answer = client.get("/drives/historical/?page=3")
    assert (answer.status_code, "Page: expected a number from 1 to 2. Found “3”." in answer.text) == (400, True)


def test_pages_are_counted_after_the_filters(client, of_three, results):
    assert "data-pages></nav>" in client.get("/drives/historical/?min_tps=900000").text.replace("</nav>\n", "</nav>")
    assert len(shown(client, "?min_tps=900000")) == 2


def test_files_have_the_rows_of_all_pages(client, of_three, results):
    rows = client.get("/drives/historical/?format=json").json()["rows"]
    assert [row["run"] for row in rows] == results


def test_a_single_page_has_no_page_links(client, results):
    assert shown(client) == results
    assert "data-pages></nav>" in client.get("/drives/historical/").text


@pytest.mark.parametrize(
    ("before", "page", "places"), [(0, 1, [(0, 1, 2)]), (2, 1, [(0,)]), (2, 2, [(1, 2, 3)]), (9, 1, [])]
)
def test_rows_of_earlier_tables_shift_the_start_of_a_page(of_three, before, page, places):
    groups = [order.RowGroup((), (0, 1, 2, 3))]
    assert [group.rows for group in order.page_of(groups, page, before)] == places
