"""Neighbours of a drive that the register does not have."""

import pytest

from webapp.register.products.similar_names import KnownDrive, neighbours_of

KNOWN = [
    KnownDrive(f"{vendor} {model}", vendor, model)
    for vendor, model in [
        ("Samsung", "PM983"), ("Samsung", "SM1715"), ("Micron", "9300 Max"), ("Micron", "9400 Max"), ("Intel", "P5510"),
        ("Western Digital", "Ultrastar DC SN840"), ("SK hynix", "PE8010"), ("AWS", "i3.metal"), ("\u0416", "X9"),
    ]
]  # fmt: skip


def near(*words):
    found = neighbours_of([(word,) for word in words], KNOWN)
    return found.maker, [drive.key for drive in found.drives]


def test_neighbours_are_all_drives_of_the_named_maker():
    assert near("samsung", "990", "pro") == ("Samsung", ["Samsung PM983", "Samsung SM1715"])


def test_the_most_similar_model_of_the_maker_comes_first():
    assert near("micron", "9400", "pro")[1][0] == "Micron 9400 Max"
    assert near("9300", "x", "micron")[1][0] == "Micron 9300 Max"


@pytest.mark.parametrize(
    ("words", "maker"),
    [
        (("wd", "black"), "Western Digital"),
        (("western", "digital", "black"), "Western Digital"),
        (("western", "black"), ""),
        (("hynix", "p41"), "SK hynix"),
        (("amazon", "m7gd"), "AWS"),
        (("digital",), ""),
    ],
)
def test_a_maker_is_named_in_full_or_by_another_name(words, maker):
    assert near(*words)[0] == maker


def test_a_maker_is_found_in_a_corrected_word():
    assert neighbours_of([("samsung", "samsun"), ("990",)], KNOWN).maker == "Samsung"


def test_without_a_maker_only_similar_models_are_neighbours():
    assert near("solidigm", "p5520") == ("", ["Intel P5510"])
    assert near("toaster", "9000") == ("", [])
    assert near("zzzzz") == ("", [])


def test_nothing_is_near_to_a_search_without_words_or_in_an_empty_register():
    assert near() == ("", [])
    assert neighbours_of([("samsung",)], []).drives == ()
