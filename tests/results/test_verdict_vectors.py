"""The shared answers on shares and limits are what their generator writes, and none was edited by hand."""

import json
from pathlib import Path

from tests import make_verdict_vectors

VECTORS = Path(__file__).parents[1] / "data" / "verdict_vectors.jsonl"


def test_the_file_is_what_its_generator_writes():
    written = [json.loads(line) for line in VECTORS.read_text().splitlines()]
    assert written == list(make_verdict_vectors.lines())


def test_every_case_has_a_name_of_its_own():
    names = [line["case"] for line in make_verdict_vectors.lines()]
    assert len(names) == len(set(names))
