"""The page on the load generator shows every published figure, and every target that was missed."""

import json
import re
from html import unescape

import pytest
from django.conf import settings

from webapp.register.explain import accuracy

DOCUMENT = json.loads((settings.BASE_DIR / "docs/reference/accuracy.json").read_text())
PUBLISHED = DOCUMENT["measurements"]
CELL = re.compile(r"<t[hd][^>]*>(.*?)</t[hd]>")


def rows_of(text):
    """Return the cells of each row of all tables of a page, without their markup."""
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", text, re.DOTALL)
    return [[unescape(re.sub(r"<[^>]+>", "", cell)) for cell in CELL.findall(row)] for row in rows]


def section_of(text, kind):
    return text.partition(f'<h3 id="{kind}">')[2].partition("<h")[0]


@pytest.fixture
def text(client, db):
    return client.get("/explain/generator/").text


@pytest.fixture
def published(tmp_path, monkeypatch):
    """Return a function that replaces the published measurements."""

    def publish(*measurements):
        path = tmp_path / "accuracy.json"
        path.write_text(json.dumps(DOCUMENT | {"measurements": measurements}))
        monkeypatch.setattr(accuracy, "DOCUMENT", path)
        accuracy.measurements.cache_clear()

    yield publish
    accuracy.measurements.cache_clear()


@pytest.mark.parametrize("measurement", PUBLISHED, ids=lambda measurement: measurement["kind"])
def test_a_table_of_the_page_is_that_of_the_document(text, measurement):
    shown = rows_of(section_of(text, measurement["kind"]))
    stored = [measurement["head"], *measurement["rows"]]
    assert shown == [["" if cell == "-" else cell for cell in row] for row in stored]


@pytest.mark.parametrize("measurement", PUBLISHED, ids=lambda measurement: measurement["kind"])
def test_a_table_of_the_page_states_machine_and_date(text, measurement):
    section = unescape(section_of(text, measurement["kind"]))
    assert f'<time datetime="{measurement["measured_on"]}">' in section
    for fact in ("program", "machine", "load", "other_programs"):
        assert measurement[fact] in section
    for note in measurement["notes"]:
        assert f"<li>{note}</li>" in section


def listed(is_met):
    """Return the expected rows of targets: below the title of each measurement, its targets."""
    for measurement in PUBLISHED:
        targets = [[each["text"], each["measured"]] for each in measurement["targets"] if each["is_met"] == is_met]
        yield from [[measurement["title"]], *targets] if targets else []


def test_every_target_is_listed_as_missed_or_met(text):
    missed = rows_of(text.partition('<h3 id="missed">')[2].partition("<h3")[0])[1:]
    met = rows_of(text.partition('<h3 id="met">')[2].partition("<h2")[0])[1:]
    assert missed == list(listed(is_met=False))
    assert met == list(listed(is_met=True))
    targets = [target for measurement in PUBLISHED for target in measurement["targets"]]
    assert f"drivetest meets {sum(each['is_met'] for each in targets)} of {len(targets)} " in text


def test_without_a_missed_target_the_page_says_that_all_are_met(client, db, published):
    target = {"text": "Share at most 1", "measured": "drivetest: 0.5", "is_met": True}
    published(PUBLISHED[0] | {"targets": [target]})
    text = client.get("/explain/generator/").text
    assert "<p>drivetest meets all targets.</p>" in text
    assert 'id="missed"' not in text


def test_a_measurement_that_is_not_published_is_not_shown(client, db, published):
    published()
    text = client.get("/explain/generator/").text
    assert 'id="accuracy"' not in text
    assert 'id="targets"' not in text
    assert 'href="#trueness"' not in text
    assert '<h2 id="engineers">' in text


def test_a_measurement_is_folded_and_says_how_many_rows_it_has(client, db, published):
    published(PUBLISHED[0] | {"head": ["program"], "rows": [["drivetest"]] * 21})
    text = client.get("/explain/generator/").text
    assert f'<details class="fold"><summary><h3 id="{PUBLISHED[0]["kind"]}">' in text
    assert '<span class="aside">21 rows</span></summary>' in text


def test_a_cell_of_the_document_is_escaped(client, db, published):
    published(PUBLISHED[0] | {"head": ["a<b"], "rows": [["c&d"]]})
    text = client.get("/explain/generator/").text
    assert "a&lt;b" in text
    assert "c&amp;d" in text


def test_the_page_names_the_differences_from_act_storage(text):
    section = text.partition('<h2 id="differences">')[2].partition("<h2")[0]
    assert [row[0] for row in rows_of(section)[1:]] == [
        "Arrivals", "Rate", "Outstanding requests", "Stall of the drive", "Recorded times", "Rate not sustained"
    ]  # fmt: skip
    assert '<h2 id="higher">' in text


def test_other_explanations_lead_to_the_page(client, db):
    for page in ("", "tools/"):
        main = client.get(f"/explain/{page}").text.partition("</nav>")[2]
        assert main.count('href="/explain/generator/"') >= 2  # in the list of explanations, and in the text
