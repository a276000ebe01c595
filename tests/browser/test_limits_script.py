"""The script's comparison of shares with limits, in a real browser, against the answers that every part gives."""

import json

import pytest
from django.conf import settings

pytestmark = pytest.mark.browser

VECTORS = settings.BASE_DIR / "tests/data/verdict_vectors.jsonl"
SCRIPT = settings.BASE_DIR / "static/js/limits.js"
ADDRESS = "http://limits.test"  # has no address: both requests are answered here

ANSWER_SHARES = """async lines => {
  const {isCountWithin, printedShare} = await import('/limits.js');
  return lines.map(line => [
    isCountWithin(line.over_count, line.ops_count, line.limit_pct), printedShare(line.over_count, line.ops_count),
  ]);
}"""
ANSWER_EDGES = """async lines => {
  const {edgesOf, isCountWithin, overCount} = await import('/limits.js');
  return lines.map(line => {
    const edges = edgesOf(line.threshold_us, line.unit, line.buckets === '1.x');
    const atMost = overCount(line.counts, line.ops_count, edges.bucketBelow);
    return [
      String(edges.readAtUs), String(overCount(line.counts, line.ops_count, edges.bucket)), String(atMost),
      isCountWithin(atMost, line.ops_count, line.limit_pct),
    ];
  });
}"""
CALL = """async ([name, ...given]) => {
  const answer = (await import('/limits.js'))[name](...given);
  return Array.isArray(answer) ? answer.map(String) : answer;
}"""
REFUSAL = """async ([name, ...given]) => {
  const script = await import('/limits.js');
  try { script[name](...given); } catch (error) { return error.message; }
  return '';
}"""


@pytest.fixture(scope="module")
def script(browser):
    """An empty page that holds nothing but the script."""
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


def test_every_share_is_within_its_limit_as_in_every_other_implementation(script, vectors):
    lines = [*vectors, *(line["compared"] for line in vectors if "compared" in line)]
    answers = script.evaluate(ANSWER_SHARES, as_text(lines))
    assert [within for within, _ in answers] == [line["within"] for line in lines]


def test_every_share_prints_as_in_every_other_implementation(script, vectors):
    lines = [line for line in vectors if line["share_pct"] is not None]
    answers = script.evaluate(ANSWER_SHARES, as_text(lines))
    assert [printed for _, printed in answers] == [line["share_pct"] for line in lines]


def test_every_histogram_is_read_at_its_edges_as_in_every_other_implementation(script, vectors):
    lines = [line for line in vectors if "buckets" in line]
    told = ("read_at_us", "over_count", "over_at_most_count")
    expected = [[*(str(line[name]) for name in told), line["at_most_within"]] for line in lines]
    assert script.evaluate(ANSWER_EDGES, as_text(lines)) == expected


@pytest.mark.parametrize(
    ("given", "ratio"),
    [((20, 6000, "0.1"), ["20000", "6000"]), ((0, 0, "5"), None), ((1, 10, "0.0"), None)],
)
def test_the_excess_is_a_ratio_of_whole_numbers(script, given, ratio):
    assert script.evaluate(CALL, ["excessRatio", *given]) == ratio


@pytest.mark.parametrize(
    ("share", "limit", "within"),
    [("5.00", "5", True), ("5.000000001", "5", False), ("0.1", "0.100000000", True), ("100", "99.999999999", False)],
)
def test_printed_shares_compare_by_their_digits(script, share, limit, within):
    assert script.evaluate(CALL, ["isShareWithin", share, limit]) is within


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["isCountWithin", 2**53, 1, "5"], "count: expected a whole number below 2^53 or text"),
        (["isCountWithin", 0.5, 1, "5"], "count: expected a whole number"),
        (["isCountWithin", -1, 1, "5"], "count: expected 0 or more"),
        (["isCountWithin", 1, 1, "-5"], "limit: expected a decimal of 0 or more, got '-5'"),
        (["isCountWithin", 1, 1, "5e1"], "limit: expected a decimal"),
        (["billionths", "0.0000000001"], "percentage: expected a decimal with at most nine places"),
        (["isShareWithin", "5", "5,0"], "percentage: expected a decimal"),
        (["edgesOf", 1000, "s"], "unit: expected us or ms"),
        (["edgesOf", 1000, "us", True], "unit: expected us or ms (ms in ACT 1.x), got 'us'"),
        (["edgesOf", "9223372036854775809", "us"], "threshold: expected one that us buckets reach"),
    ],
)
def test_what_cannot_be_exact_is_refused(script, given, message):
    assert message in script.evaluate(REFUSAL, given)
