"""The comparison of shares with limits in the script, in a real browser, with the vectors of all implementations."""

import json

import pytest
from django.conf import settings

pytestmark = pytest.mark.browser

VECTORS = settings.BASE_DIR / "tests/data/verdict_vectors.jsonl"
SCRIPT = settings.BASE_DIR / "static/js/limits.js"
ADDRESS = "http://limits.test"  # has no address: both requests are answered here

ANSWER_SHARES = """async lines => {
  const {isCountWithin} = await import('/limits.js');
  return lines.map(line => isCountWithin(line.over_count, line.ops_count, line.limit_pct));
}"""
REFUSAL = """async ([name, ...given]) => {
  const script = await import('/limits.js');
  try { script[name](...given); } catch (error) { return error.message; }
  return '';
}"""


@pytest.fixture(scope="module")
def script(browser):
    """An empty page with only the script."""
    page = browser.new_page()
    page.route(f"{ADDRESS}/", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    page.route(f"{ADDRESS}/limits.js", lambda route: route.fulfill(path=SCRIPT, content_type="text/javascript"))
    page.goto(f"{ADDRESS}/")
    yield page
    page.close()


def as_text(value):
    """Return counts as text: a script's numbers end at 2^53."""
    if isinstance(value, dict):
        return {name: as_text(each) for name, each in value.items()}
    if isinstance(value, list):
        return [as_text(each) for each in value]
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


@pytest.fixture(scope="module")
def vectors():
    lines = [json.loads(line) for line in VECTORS.read_text().splitlines()]
    assert len(lines) > 100
    return lines


def test_every_share_is_evaluated_as_in_every_other_implementation(script, vectors):
    lines = [*vectors, *(line["compared"] for line in vectors if "compared" in line)]
    assert script.evaluate(ANSWER_SHARES, as_text(lines)) == [line["within"] for line in lines]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["isCountWithin", 2**53, 1, "5"], "count: expected a whole number below 2^53 or text"),
        (["isCountWithin", 0.5, 1, "5"], "count: expected a whole number"),
        (["isCountWithin", -1, 1, "5"], "count: expected 0 or more"),
        (["isCountWithin", 1, 1, "-5"], "percentage: expected a decimal with at most nine places, got '-5'"),
        (["isCountWithin", 1, 1, "5e1"], "percentage: expected a decimal"),
        (["billionths", "0.0000000001"], "percentage: expected a decimal with at most nine places"),
        (["billionths", "5,0"], "percentage: expected a decimal"),
    ],
)
def test_an_inexact_share_is_refused(script, given, message):
    assert message in script.evaluate(REFUSAL, given)
