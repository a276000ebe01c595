"""Typed numbers in the script, in a real browser, with the golden file that the server is tested with."""

import json

import pytest
from django.conf import settings

pytestmark = pytest.mark.browser

GOLDEN = settings.BASE_DIR / "tests/data/typed_numbers.jsonl"
SCRIPT = settings.BASE_DIR / "static/js/typed-numbers.js"
ADDRESS = "http://numbers.test"  # has no address: both requests are answered here
READ = """async lines => {
  const {plainNumber} = await import('/typed-numbers.js');
  return lines.map(({text, unit, places}) => plainNumber(text, unit, places));
}"""


@pytest.fixture
def script(browser):
    """An empty page with only the script."""
    page = browser.new_page()
    page.route(f"{ADDRESS}/", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    page.route(f"{ADDRESS}/typed-numbers.js", lambda route: route.fulfill(path=SCRIPT, content_type="text/javascript"))
    page.goto(f"{ADDRESS}/")
    yield page
    page.close()


def test_every_number_is_read_as_in_the_golden_file(script):
    lines = [json.loads(line) for line in GOLDEN.read_text().splitlines()]
    assert len(lines) > 100
    read = script.evaluate(READ, lines)
    assert [(line["text"], line["unit"], got) for line, got in zip(lines, read, strict=True)] == [
        (line["text"], line["unit"], line["plain"]) for line in lines
    ]
