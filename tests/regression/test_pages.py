"""Records of pages, and the addresses that a crawl visits."""

from datetime import date

from tests.regression.addresses import QUERIES_OF_NAMES, Bounds, pattern_of, siblings
from tests.regression.bodies import record_body
from tests.regression.drivetest_outputs import figures
from tests.regression.normalization import Normalizer
from tests.regression.pages import Page, numbers_of_cell

NORMALIZER = Normalizer("http://127.0.0.1:8000", date(2026, 11, 1))
PAGE = """<h1 id="top">A title</h1><a href="/runs/?a=1">words</a><script src="/static/a.js"></script>
<table><tr><th>TPS<td data-over="2">1,234.5 <td>0.10 %<tr><td>it ran 60 s and the profile needs 86400 s<td>5</table>
<form action="/x/"><input name="csrfmiddlewaretoken" value="k"><select name="v"><option value="a">A B</select></form>"""


def recorded(page):
    return record_body("/", "text/html; charset=utf-8", page.encode(), NORMALIZER)[0]


def test_links_ids_data_controls_and_numbers_are_recorded():
    kept = recorded(PAGE)
    assert (kept["links"], kept["ids"], kept["data"]) == (["/runs/?a=1", "/x/"], ["top"], ["data-over=2"])
    assert kept["controls"] == ["v=a"]
    assert kept["tables"] == [[[[], ["1234.5"], ["0.10"]], [[], ["5"]]]]


def test_another_number_changes_the_record_and_another_text_does_not():
    assert recorded(PAGE.replace("words", "other").replace("A title", "B").replace("ran 60", "took 61")) == recorded(
        PAGE
    )
    assert recorded(PAGE.replace("1,234.5", "1,234.6")) != recorded(PAGE)


def test_signs_and_thousands_separators_of_a_cell_are_recorded():
    assert numbers_of_cell("-1,000 to +2.50 (p99)") == ["-1000", "+2.50"]


def test_lists_of_a_form_are_recorded_by_name():
    assert Page(PAGE).forms[0].choices == {"v": [("a", "A B")]}


def test_figures_are_the_percentages_of_threshold_rows():
    text = (
        "fails: 0.33 % > 0.1 %\n  worst slice  > 1 ms   5.83 % ! (of 5 %)   > 8 ms  1.33 % (of 1 %)\n  over: > 1 ms 9 %"
    )
    assert figures(text) == ["> 1 ms", "5.83 %", "5 %", "> 8 ms", "1.33 %", "1 %"]


def test_a_csv_is_recorded_by_hash_columns_and_rows():
    kept = record_body("/a.csv", "text/csv", b"a,b\n1,2\n3,4\n", NORMALIZER)[0]
    assert (list(kept["columns"]), kept["rows_count"], len(kept["sha256"])) == (["a", "b"], 2, 64)


def test_a_pattern_has_a_star_for_each_row():
    assert pattern_of("/runs/r~drive~ab12/slices/3/?x=1") == "/runs/*/slices/*/"
    assert pattern_of("/drive/intel-p4610/feed.atom") == "/drive/*/feed.atom"
    assert pattern_of("/drives/nvme-flash/") == "/drives/nvme-flash/"


def test_queries_of_one_page_are_limited():
    bounds = Bounds()
    admitted = [bounds.admit(f"/drives/x/?sort={number}") for number in range(QUERIES_OF_NAMES + 2)]
    assert admitted == [True] * QUERIES_OF_NAMES + [False] * 2
    assert bounds.admit("/drives/x/?sort=1&vendor=2")
    assert not bounds.admit("/api/v1/runs/?cursor=abc")


def test_files_of_a_run_with_a_log_are_visited_without_a_link():
    assert "/runs/r-22222222/slices.csv" in siblings(["/runs/r-22222222/"], {"r-22222222"})
    assert siblings(["/runs/r-22222222/"], set()) == ["/id/r-22222222", "/api/v1/runs/r-22222222/"]
    assert siblings(["/explain/"], set()) == []
