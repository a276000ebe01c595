"""Search by name: one typing error is accepted, other names of makers are known, an existing word is taken as it is."""

import random

import pytest

from webapp.register.products import names
from webapp.register.products.names import FuzzyIndex, Names, is_one_error_away, names_text, search

LETTERS = "ab1"
ROWS = [
    ("Intel", "P4610", "SSDPE2KE016T8", "1.6 TB"),
    ("Intel", "P4510", "", "1 TB"),
    ("Western Digital", "Ultrastar DC SN840", "", "3.2 TB"),
    ("SanDisk", "DC SN861", "", "6.4 TB"),
]
NAMES = Names(tuple(map(names_text, ROWS)), tuple({name for row in ROWS for name in row}))


def found(query):
    read = search(NAMES, query)
    return [row[1] for row, text in zip(ROWS, NAMES.texts, strict=True) if read.matches(text)]


@pytest.mark.parametrize(
    ("query", "models"),
    [
        ("P4610", ["P4610"]),
        ("intel p4610", ["P4610"]),
        ("p-4610", ["P4610"]),
        ("WD", ["Ultrastar DC SN840"]),
        ("wdc sn840", ["Ultrastar DC SN840"]),
        ("western digital", ["Ultrastar DC SN840"]),
        ("SSDPE2KE016T8", ["P4610"]),
        ("ssdpe2ke", ["P4610"]),
        ("dcsn861", ["DC SN861"]),
        ("sn 861 6.4 tb", ["DC SN861"]),
        ("SN8", ["Ultrastar DC SN840", "DC SN861"]),
        ("tape", []),
    ],
)
def test_a_drive_is_found_by_its_names(query, models):
    assert found(query) == models


@pytest.mark.parametrize("typo", ["p461", "p46100", "4610", "p4160", "p46l0", "o4610"])
def test_one_typing_error_is_accepted(typo):
    assert "P4610" in found(typo)


def test_a_word_that_exists_is_no_typing_error():
    assert found("P4510") == ["P4510"]
    assert search(NAMES, "P4510").sentence == ""


def test_the_sentence_names_each_corrected_word():
    assert search(NAMES, "p4611").sentence == "No name contains p4611; searched for p4610 instead."


def test_two_errors_are_too_many():
    assert found("p4622") == []


@pytest.mark.parametrize(
    ("word", "other", "is_so"),
    [
        ("abcd", "abcd", False), ("abcd", "abce", True), ("abcd", "abc", True), ("abcd", "xabcd", True),
        ("abcd", "badc", False), ("abcd", "bacd", True), ("abcd", "abdc", True), ("abcd", "acbd", True),
        ("abcd", "ab", False), ("abcd", "aecdf", False), ("a", "", True),
    ],
)  # fmt: skip
def test_one_error_is_a_letter_more_or_less_or_other_or_two_swapped(word, other, is_so):
    assert is_one_error_away(word, other) is is_so
    assert is_one_error_away(other, word) is is_so


def words(count, seed):
    chance = random.Random(seed)  # noqa: S311 - words that are the same in every run
    return ["".join(chance.choices(LETTERS, k=chance.randint(1, 7))) for _ in range(count)]


def test_the_index_finds_what_a_comparison_with_every_word_finds():
    known = sorted(set(words(400, 1)))
    index = FuzzyIndex(known)
    for word in words(400, 2):
        assert index.matches(word) == tuple(each for each in known if is_one_error_away(word, each)), word


def test_few_of_very_many_words_are_compared(monkeypatch):
    index, compared = FuzzyIndex(f"p{number:05d}" for number in range(20_000)), []
    original = names.is_one_error_away
    monkeypatch.setattr(names, "is_one_error_away", lambda *pair: compared.append(pair) or original(*pair))
    assert "p00421" in index.matches("p0042l")
    assert len(compared) < 200


def test_a_word_longer_than_all_matches_none():
    assert FuzzyIndex(["abc"]).matches("x" * 10_000) == ()
    assert FuzzyIndex([]).matches("abc") == ()
