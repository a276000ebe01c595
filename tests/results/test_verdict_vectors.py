"""The shared test vectors of shares and limits equal the output of their generator; none was edited by hand."""

import json
from pathlib import Path

from tests import make_verdict_vectors

VECTORS = Path(__file__).parents[1] / "data" / "verdict_vectors.jsonl"


def test_the_file_equals_the_output_of_its_generator():
    written = [json.loads(line) for line in VECTORS.read_text().splitlines()]
    assert written == list(make_verdict_vectors.lines())


def test_every_case_has_a_unique_name():
    names = [line["case"] for line in make_verdict_vectors.lines()]
    assert len(names) == len(set(names))
