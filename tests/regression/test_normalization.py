"""Normalization: values that differ between registers get equal names, and all others are unchanged."""

from datetime import date

import pytest

from tests.regression.normalization import TEXT, Normalizer, mask_phrases, mask_sentences, stable_key


@pytest.fixture
def normalizer():
    return Normalizer("http://127.0.0.1:8000", date(2026, 11, 1))


def test_sentences_are_masked_and_codes_and_numbers_are_kept():
    finding = {
        "id": "stall",
        "severity": "look",
        "line": 3,
        "sentence": "reads stopped",
        "remedy": "",
        "reasons": ["a", "b"],
    }
    assert mask_sentences([finding]) == [
        {"id": "stall", "severity": "look", "line": 3, "sentence": TEXT, "remedy": "", "reasons": [TEXT, TEXT]}
    ]


def test_a_missing_sentence_differs_from_an_empty_and_a_present_one():
    masked = [mask_sentences({"headline": each}) for each in (None, "", "passes")]
    assert len({str(each) for each in masked}) == 3


def test_an_error_object_keeps_its_id():
    error = {"error": {"id": "not-a-log", "line": 1, "expected": "a log", "got": "a picture"}}
    assert mask_sentences(error) == {"error": {"id": "not-a-log", "line": 1, "expected": TEXT, "got": TEXT}}


def test_phrases_are_masked_and_labels_of_two_words_are_kept():
    assert mask_phrases(["over 1 ms", "share of all reads", 3]) == ["over 1 ms", TEXT, 3]


def test_an_id_gets_the_name_of_its_row_everywhere(normalizer):
    normalizer.name_id("r-7kd2m9qp", "drive~ab12")
    assert normalizer.text("/runs/r-7kd2m9qp/log?a=r-7kd2m9qp") == "/runs/r~drive~ab12/log?a=r~drive~ab12"


def test_rows_with_equal_content_are_numbered_in_order(normalizer):
    for public_id in ("r-7kd2m9qp", "r-22222222", "r-7kd2m9qp"):
        normalizer.name_id(public_id, "drive~ab12")
    assert normalizer.text("r-7kd2m9qp r-22222222") == "r~drive~ab12 r~drive~ab12~2"


def test_parts_of_longer_words_are_not_ids(normalizer):
    assert normalizer.text("/drive/micron-r-22222222x/ over-s-22222222") == "/drive/micron-r-22222222x/ over-s-22222222"


def test_the_address_of_the_register_has_a_name(normalizer):
    assert normalizer.text("see http://127.0.0.1:8000/runs/") == "see <register>/runs/"


@pytest.mark.parametrize(
    "text", ["2026-11-23", "2026-11-23T01:02:03.456Z", "2026-11-23 01:02", "23 Nov 2026", "23 November 2026, 01:02 UTC"]
)
def test_dates_of_the_clock_are_masked(normalizer, text):
    assert normalizer.text(f"at {text} it was") == "at <date> it was"


@pytest.mark.parametrize("text", ["2019-06-01", "1 Jun 2019", "12026-11-23", "2026-13-45"])
def test_dates_of_the_data_are_kept(normalizer, text):
    assert normalizer.text(text) == text


def test_a_row_keeps_its_key_when_its_sentences_and_id_change():
    row = {"id": "r-22222222", "product": "drive", "tps": "9000", "shares": [{"printed": "1.1", "over_count": 4}]}
    assert stable_key(row) == stable_key(row | {"id": "r-33333333", "verdict": {"headline": "other"}})
    assert stable_key(row) != stable_key(row | {"tps": "9001"})
