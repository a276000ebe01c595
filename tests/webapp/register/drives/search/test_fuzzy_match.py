"""Words one error away are found without a look at every word: the same ones as by looking at every word."""

import random

from webapp.register.drives.search import fuzzy_match
from webapp.register.drives.search.fuzzy_match import NearWords, is_one_error_away

LETTERS = "ab1"


def words(count, seed):
    chance = random.Random(seed)  # noqa: S311 - words that are the same in every run
    return ["".join(chance.choices(LETTERS, k=chance.randint(1, 7))) for _ in range(count)]


def test_what_is_found_is_what_a_look_at_every_word_finds():
    known = sorted(set(words(400, 1)))
    near = NearWords(known)
    for word in words(400, 2):
        assert near.near(word) == tuple(each for each in known if is_one_error_away(word, each)), word


def test_few_of_very_many_words_are_looked_at(monkeypatch):
    near, looked_at = NearWords(f"p{number:05d}" for number in range(20_000)), []
    original = fuzzy_match.is_one_error_away
    monkeypatch.setattr(fuzzy_match, "is_one_error_away", lambda *pair: looked_at.append(pair) or original(*pair))
    assert "p00421" in near.near("p0042l")
    assert len(looked_at) < 200


def test_a_word_longer_than_all_is_near_to_none():
    assert NearWords(["abc"]).near("x" * 10_000) == ()
    assert NearWords([]).near("abc") == ()
