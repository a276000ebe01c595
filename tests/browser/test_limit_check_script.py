"""The scripts that judge rows and select the fastest, in a real browser, against the server."""

import pytest
from django.conf import settings

from tests.webapp.register.drives.ranking_cases import CASES as UNRANKED_CASES
from tests.webapp.register.drives.ranking_cases import columns_of
from tests.webapp.register.limit_cases import CASES, OWN_PCT, PROFILE_PCT

pytestmark = pytest.mark.browser

ADDRESS = "http://judged.test"  # has no address: every request is answered here
JUDGE = """async ([file, own, profile, count]) => {
  const {checkLimits} = await import('/js/drives/limit-check.js');
  const {decode} = await import('/js/drives/column-store.js');
  const limits = text => new Map([[1000, text]]);
  const judged = checkLimits(decode(file), limits(own), limits(profile));
  return Array.from({length: count}, (_, row) => [judged.passesProfile(row), judged.passes(row)]);
}"""

HEADLINE = """async file => {
  const {checkLimits} = await import('/js/drives/limit-check.js');
  const {headline, passingRows} = await import('/js/drives/headline.js');
  const {decode} = await import('/js/drives/column-store.js');
  const limits = new Map([[1000, '5']]), store = decode(file);
  const statistics = [{code: 'worst-slice', how: 'in every slice of its log'}];
  const check = checkLimits(store, limits, limits), passing = passingRows(store, [0, 1], check);
  return headline(store, false, [0, 1], passing, check, limits, statistics).first;
}"""

UNRANKED = """async ([file, whose]) => {
  const {reasonsNotRanked, unrankedSentences} = await import('/js/drives/ranking-requirements.js');
  const {decode} = await import('/js/drives/column-store.js');
  const store = decode(file);
  const rows = Array.from({length: store.count}, (_, row) => row);
  return [Object.entries(reasonsNotRanked(store, rows)), unrankedSentences(store, rows, whose)];
}"""


@pytest.fixture(scope="module")
def script(browser):
    """An empty page with only the scripts."""
    page = browser.new_page()
    page.route(f"{ADDRESS}/", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    page.route(f"{ADDRESS}/js/**", send_script)
    page.goto(f"{ADDRESS}/")
    yield page
    page.close()


def send_script(route):
    path = settings.BASE_DIR / "static" / route.request.url.removeprefix(f"{ADDRESS}/")
    route.fulfill(path=path, content_type="text/javascript")


def column_of(texts):
    """Return a column as the data file has it."""
    words = sorted({text for text in texts if text})
    return {"words": words, "codes": [words.index(text) if text else -1 for text in texts]}


def columns_of_cases():
    """Return a data file with a row for each case."""
    outcomes, reasons, shares, _, _ = zip(*CASES, strict=True)
    decided = [
        outcome and ("no" if has_reasons else "yes") for outcome, has_reasons in zip(outcomes, reasons, strict=True)
    ]
    over = column_of(shares)
    columns = {"outcome": column_of(outcomes), "decided_by_limits": column_of(decided)}
    return {"columns": columns | {"pct_over_1ms": over | {"values": [None] * len(over["words"])}}, "product": []}


@pytest.mark.parametrize(("own", "at"), [(OWN_PCT, 1), (PROFILE_PCT, 0)])
def test_the_script_evaluates_every_case_as_the_server_does(script, own, at):
    answers = script.evaluate(JUDGE, [columns_of_cases(), own, PROFILE_PCT, len(CASES)])
    assert answers == [[case[3], case[3 + at]] for case in CASES]


def test_a_data_file_of_an_earlier_release_passes_no_log_that_fails_the_profile(script):
    file = columns_of_cases()
    del file["columns"]["decided_by_limits"]
    answers = script.evaluate(JUDGE, [file, OWN_PCT, PROFILE_PCT, len(CASES)])
    assert answers == [[case[3], case[4] and case[0] != "fail"] for case in CASES]


def file_of_rows(**columns):
    """Return a data file with two rows that pass."""
    known = {"vendor": ["Exemplar", "Exemplar"], "model": ["EX1", "EX2"], "tps": ["900", "100"]}
    known |= {"visibility": ["public"] * 2, "statistic": ["worst-slice"] * 2, "outcome": ["pass"] * 2}
    known |= {"device_count": ["1", "1"], "pct_over_1ms": ["4", "4"]}
    known |= {"comparison_group": ["worst-slice.service.1"] * 2} | columns
    empty = ("category", "capacity_gb", "storage", "decided_by_limits")
    encoded = {code: column_of(texts) for code, texts in (known | {code: ["", ""] for code in empty}).items()}
    for code in ("tps", "pct_over_1ms", "capacity_gb"):
        encoded[code]["values"] = [None] * len(encoded[code]["words"])
    return {"count": 2, "columns": encoded, "product": [], "remarks": {}}


def test_a_run_on_a_virtual_device_is_not_named_as_the_fastest(script):
    file = file_of_rows()
    assert "of its log, ACT 6.x: Exemplar EX1 at 900 tps." in script.evaluate(HEADLINE, file)
    file["columns"]["is_on_no_drive"] = column_of(["yes", ""])
    assert "of its log, ACT 6.x: Exemplar EX2 at 100 tps." in script.evaluate(HEADLINE, file)


@pytest.mark.parametrize("case", UNRANKED_CASES, ids=[case["name"] for case in UNRANKED_CASES])
def test_the_script_says_why_results_are_not_ranked(script, case):
    columns = {code: column_of(texts) for code, texts in columns_of(case).items()}
    columns["capacity_gb"]["values"] = [None] * len(columns["capacity_gb"]["words"])
    file = {"count": len(case["rows"]), "columns": columns, "product": [], "remarks": {}}
    reasons, sentences = script.evaluate(UNRANKED, [file, case["whose"]])
    assert (reasons, sentences) == ([list(each) for each in case["reasons"].items()], case["sentences"])
