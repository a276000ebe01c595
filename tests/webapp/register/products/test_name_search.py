"""Search by name: one typing error is accepted, other names of makers are known, an existing word is taken as it is."""

import random

import pytest

from webapp.register.products.name_search import NameQuery, Names, names_text, one_error_away, search

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


@pytest.mark.parametrize(
    ("typo", "model"),
    [("p461", "P4610"), ("4610", "P4610"), ("o4610", "P4610"), ("px4610", "P4610"), ("westren", "Ultrastar DC SN840"),
     ("n861", "DC SN861"), ("ns861", "DC SN861"), ("sandsik", "DC SN861")],
)  # fmt: skip
def test_one_typing_error_in_letters_is_accepted(typo, model):
    assert model in found(typo)


@pytest.mark.parametrize("other", ["p4611", "p46100", "p4160", "p46l0", "p4x10", "sn860", "sn850"])
def test_a_name_with_other_digits_is_another_model(other):
    read = search(NAMES, other)
    assert (found(other), read.sentence, read.is_other_model) == ([], "", True)


def test_the_nearest_names_of_another_model_are_named():
    read = search(NAMES, "intel p4x10")
    assert read.note == "No name contains p4x10. Nearest names: p4510, p4610."
    assert [read.is_near(text) for text in NAMES.texts] == [True, True, False, False]


def test_a_name_of_the_register_has_no_nearest_names():
    read = search(NAMES, "P4610")
    assert (read.note, read.is_other_model, any(map(read.is_near, NAMES.texts))) == ("", False, False)


def test_a_known_word_is_not_treated_as_a_typing_error():
    assert found("P4510") == ["P4510"]
    assert search(NAMES, "P4510").sentence == ""


def test_the_sentence_names_each_corrected_word():
    assert search(NAMES, "o4610").sentence == "No name contains o4610, so it was read as p4610."


def test_the_sentence_names_only_words_that_a_matching_drive_has():
    names = Names(("intelpx10", "micronpy10"), ("px10", "py10"))
    assert search(names, "pz10").alternatives == (("px10", "py10"),)
    assert search(names, "pz10").sentence == "No name contains pz10, so it was read as px10 or py10."
    assert search(names, "pz10 intel").sentence == "No name contains pz10, so it was read as px10."
    assert search(names, "pz10 sandisk").sentence == ""


@pytest.mark.parametrize("number", ["4611", "46100", "7400"])
def test_a_number_without_a_letter_is_never_replaced(number):
    assert (found(number), search(NAMES, number).alternatives) == ([], ((number,),))


def test_a_brand_finds_its_models():
    names = names_text(("Intel", "SSD DC P4800X", "", "375 GB"))
    assert search(Names((names,), ()), "optane").matches(names)
    assert not search(Names((names,), ()), "optane").matches(names_text(("Intel", "P4610", "", "")))


def test_two_typing_errors_are_not_accepted():
    assert found("p4622") == []


@pytest.mark.parametrize(
    ("word", "other", "is_so"),
    [
        ("abcd", "abcd", False), ("abcd", "abce", True), ("abcd", "abc", True), ("abcd", "xabcd", True),
        ("abcd", "badc", False), ("abcd", "bacd", True), ("abcd", "abdc", True), ("abcd", "acbd", True),
        ("abcd", "ab", False), ("abcd", "aecdf", False), ("a", "", True),
    ],
)  # fmt: skip
def test_a_typing_error_is_an_added_removed_replaced_or_swapped_letter(word, other, is_so):
    assert one_error_away(word, [other]) == ((other,) if is_so else ())
    assert one_error_away(other, [word]) == ((word,) if is_so else ())


def random_words(count, seed):
    chance = random.Random(seed)  # noqa: S311 - words that are the same in every run
    return ["".join(chance.choices(LETTERS, k=chance.randint(1, 7))) for _ in range(count)]


def edited(word):
    """Return all words of LETTERS with one letter added, removed or replaced, or two neighbours swapped."""
    cuts = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    found = {start + end[1:] for start, end in cuts} | {start + end[1::-1] + end[2:] for start, end in cuts}
    found |= {start + letter + end for start, end in cuts for letter in LETTERS}
    return (found | {start + letter + end[1:] for start, end in cuts if end for letter in LETTERS}) - {word}


def test_a_fuzzy_match_finds_exactly_the_words_that_one_edit_makes():
    known = sorted(set(random_words(400, 1)))
    for word in random_words(400, 2):
        assert one_error_away(word, known) == tuple(each for each in known if each in edited(word)), word


def test_a_word_longer_than_all_others_matches_none():
    assert one_error_away("x" * 10_000, ["abc"]) == ()
    assert one_error_away("abc", []) == ()


MANY = tuple(f"maker{number % 7} model{number} {'x' * (number % 5)}9{number}" for number in range(3000))


@pytest.mark.parametrize(
    "typed", ["maker3", "model299 maker", "model7", "92999", "x9", "maker3 model10", "nothing", ""]
)
def test_a_search_of_all_texts_together_finds_the_texts_that_match(typed):
    names = Names(MANY, ())
    query = NameQuery(tuple(typed.split()), tuple((word,) for word in typed.split()))
    expected = {text for text in MANY if all(word in text for word in typed.split())}
    assert names.matching(query) == expected
    assert list(names.having(query)) == [text in expected for text in MANY]


def test_a_search_compares_only_the_texts_with_its_first_word(monkeypatch):
    compared, matches = [], NameQuery.matches
    monkeypatch.setattr(NameQuery, "matches", lambda query, text: compared.append(text) or matches(query, text))
    query = NameQuery(("model2999", "maker"), (("model2999",), ("maker",)))
    assert len(Names(MANY, ()).matching(query)) == len(compared) == 1
