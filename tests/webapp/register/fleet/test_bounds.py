"""Limits on the work of a fleet check: little for each drive, for any number of drives and models."""

import pytest

from results.models import Product
from webapp.register.fleet import matching
from webapp.register.fleet.answers import answers
from webapp.register.fleet.drives import DRIVES_AT_MOST
from webapp.register.fleet.listed_drive import ListedDrive
from webapp.register.fleet.matching import COMPARED_AT_MOST, NOT_COMPARED
from webapp.register.products.model_index import WORDS_AT_MOST, Listed, RegisterIndex, name_words


def register(count=2_000):
    """A register of so many models, which nothing stores."""
    products = (
        Product(pk=number, category="nvme-flash", vendor="Exemplar", model=f"EX{number:05d}", capacity_gb=960)
        for number in range(count)
    )
    return RegisterIndex([Listed(product) for product in products])


def misspelt(count):
    """A list of so many drives of different models, each one letter off a model of the register."""
    return [ListedDrive(f"nvme{number}", f"EX{number:05d}x") for number in range(count)]


@pytest.fixture
def comparisons(monkeypatch):
    """Record every word that is compared with the words of all models."""
    found, original = [], matching.one_error_away
    monkeypatch.setattr(matching, "one_error_away", lambda word, known: found.append(word) or original(word, known))
    return found


def test_only_a_few_of_the_misspelt_models_are_compared(comparisons):
    found = answers(misspelt(DRIVES_AT_MOST), register())
    assert len(comparisons) == COMPARED_AT_MOST
    assert {each.state for each in found} == {"unknown"}


def test_models_beyond_the_limit_are_reported_as_not_compared():
    found = answers(misspelt(COMPARED_AT_MOST + 2), register(COMPARED_AT_MOST + 2))
    assert [NOT_COMPARED in each.sentence for each in found] == [False] * COMPARED_AT_MOST + [True] * 2
    assert "Nearest in the register: Exemplar EX00000" in found[0].sentence
    assert "Nearest" not in found[-1].sentence


def test_a_model_of_many_drives_is_compared_once(comparisons):
    index = register()
    answers(misspelt(1), index)
    once = len(comparisons)
    answers([*misspelt(1)] * 100, index)
    assert len(comparisons) == 2 * once


def test_only_the_first_words_of_a_very_long_name_are_compared():
    assert len(name_words("x " * 10_000)) == WORDS_AT_MOST
    assert name_words("Exemplar_EX-1") == ("exemplar", "ex", "1")
